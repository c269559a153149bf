import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
  type Quantity,
  type Result,
  type Target,
} from "./benchmark.ts";
import { makeCertificate } from "./certificate.ts";
import { delay } from "./latency.ts";
import { type Certificate, LoadService } from "./load_service.ts";
import { processUsage } from "./process_usage.ts";
import { countEvents } from "./shape.ts";
import { median, quantile } from "./statistics.ts";
import {
  type Command,
  floor,
  OURS,
  peer,
  type Subjects,
  Unavailable,
} from "./subjects.ts";

/** A number of sessions, each with a run at the same time. */
interface Load {
  readonly sessions: number;
  /** The events of each session in a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
  /** Whether it is measured over TLS as well. */
  readonly tls?: boolean;
  readonly p99Targets?: readonly Target[];
  readonly memoryTargets?: readonly Target[];
}

/** What is measured of a load. */
interface Sample {
  /** The time on a processor for each event, in microseconds. */
  readonly cpu: number;
  /** The latency that 99% of the events do not exceed, in milliseconds. */
  readonly p99: number;
  /** What a session adds to the memory of an idle program at its peak, in KiB. */
  readonly memory: number;
  readonly lost: number;
}

const CPU = "CPU per event";
const LATENCY = "p99 latency";
const MEMORY = "memory per session";
const LOST = "lost";

const LIKE_FLOOR = [{ against: "floor", atMost: 1 }];

/**
 * From 10 sessions on, all of them together get 5,000 events in a second, so that
 * their number is all that differs. The service and this process need a third of
 * a core for that: with many more, they would be what is measured, as they share
 * a core. One session alone gets 1,000, because more would not come one by one.
 */
const LOADS: readonly Load[] = [
  { sessions: 1, rate: 1000, seconds: 4, rounds: 3 },
  { sessions: 10, rate: 500, seconds: 4, rounds: 3, tls: true },
  { sessions: 100, rate: 50, seconds: 4, rounds: 3 },
  {
    ...{ sessions: 1000, rate: 5, seconds: 4, rounds: 3, tls: true },
    p99Targets: [{ atMost: 50 }],
    memoryTargets: LIKE_FLOOR,
  },
  {
    // One round: so many runs take longer to begin and to end than to measure.
    ...{ sessions: 5000, rate: 1, seconds: 6, rounds: 1, tls: true },
    memoryTargets: LIKE_FLOOR,
  },
];

const QUICK: readonly Load[] = [
  { sessions: 10, rate: 500, seconds: 0.5, rounds: 1, tls: true },
  { sessions: 100, rate: 50, seconds: 0.5, rounds: 1, tls: true },
];

/** The largest load is compared with the one of this many sessions. */
const FEW = 10;

/** Memory is measured from here on: with fewer sessions, the program's own varies more. */
const MANY = 100;

/** How many sessions are opened at the same time. */
const AT_ONCE = 50;

/** The files that a program has open in addition to its connections, at most. */
const OTHER_FILES = 100;

/** Measured are the events between these shares of all. Runs begin before and end after. */
const BEGIN = 0.2;
const END = 0.95;

const KIB = 1024;
const MICROSECONDS = 1_000_000;

/**
 * The cost and the latency of an event in one process with many sessions. Takes
 * about six minutes.
 */
export async function scale(
  { quick, peers, folder }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const loads = quick ? QUICK : LOADS;
  const plain = new Map([
    ["ours", OURS],
    ["floor", floor()],
    ["floor, shared connections", floor("--share-connections")],
    ["langgraph", peer(peers, "langgraph.mjs")],
  ]);
  const secure = new Map([["ours", OURS], ["floor", floor()]]);
  const certificate = await makeCertificate(folder);
  return [
    ...await measureLoads(loads, { subjects: plain }),
    ...await measureLoads(
      loads.filter(({ tls }) => tls),
      { subjects: secure, certificate },
    ),
  ];
}

async function measureLoads(
  loads: readonly Load[],
  { subjects, certificate }: {
    readonly subjects: Subjects;
    /** With it, over TLS. */
    readonly certificate?: Certificate | Unavailable;
  },
): Promise<readonly Measurement[]> {
  const noTls = certificate instanceof Unavailable ? certificate : undefined;
  const suffix = certificate === undefined ? "" : ", TLS";
  await using service = await LoadService.start(
    certificate instanceof Unavailable ? undefined : certificate,
  );
  const measurements: Measurement[] = [];
  for (const load of loads) {
    const sessions = describe(load.sessions) + suffix;
    console.error(`Measuring ${sessions}`);
    const reason = noTls ?? await tooFewFiles(load);
    measurements.push(
      ...await measure({
        subjects: reason === undefined
          ? subjects
          : new Map([...subjects.keys()].map((name) => [name, reason])),
        rounds: load.rounds,
        quantities: quantities(load, sessions),
        sample: async (command) => {
          const { cpu, p99, memory, lost } = await run(command, service, load);
          return {
            [`${CPU}, ${sessions}`]: cpu,
            [`${LATENCY}, ${sessions}`]: p99,
            [`${MEMORY}, ${sessions}`]: memory,
            [`${LOST}, ${sessions}`]: lost,
          };
        },
      }),
    );
  }
  const losses = measurements.filter(({ name }) => name.startsWith(LOST));
  const few = `${CPU}, ${describe(FEW)}${suffix}`;
  const cpus = measurements.filter(({ name }) => name.startsWith(CPU));
  const most = loads.at(-1)?.sessions ?? FEW;
  return [
    ...measurements.filter((measurement) => !losses.includes(measurement)),
    combine([cpus.at(-1), cpus.find(({ name }) => name === few)], {
      name: `${CPU}, ${describe(most)} to ${FEW}${suffix}`,
      unit: "ratio",
      targets: [{ atMost: 1.5 }],
      value: ([most = [], few = []]) => median(most) / median(few),
    }),
    combine(losses, {
      name: `${LOST}${suffix}`,
      unit: "events",
      targets: [{ atMost: 0 }],
      value: (samples) => samples.flat().reduce((sum, lost) => sum + lost, 0),
    }),
  ];
}

function describe(sessions: number): string {
  return `${sessions.toLocaleString("en")} session${sessions === 1 ? "" : "s"}`;
}

function quantities(load: Load, sessions: string): Record<string, Quantity> {
  const { p99Targets = [], memoryTargets = [] } = load;
  const memory = { unit: "KiB", targets: memoryTargets };
  return {
    [`${CPU}, ${sessions}`]: { unit: "us" },
    [`${LATENCY}, ${sessions}`]: { unit: "ms", targets: p99Targets },
    ...load.sessions < MANY ? {} : { [`${MEMORY}, ${sessions}`]: memory },
    [`${LOST}, ${sessions}`]: { unit: "events" },
  };
}

/** One value for each subject, computed from its samples in several measurements. */
function combine(
  measurements: readonly (Measurement | undefined)[],
  { name, unit, targets, value }:
    & Pick<Measurement, "name" | "unit" | "targets">
    & {
      readonly value: (samples: readonly (readonly number[])[]) => number;
    },
): Measurement {
  const parts = measurements.filter((part) => part !== undefined);
  const subjects = parts[0]?.results.map(({ subject }) => subject) ?? [];
  const results = subjects.map((subject): Result => {
    const found = parts.flatMap(({ results }) =>
      results.filter((result) => result.subject === subject)
    );
    return found.find(({ unmeasured }) => unmeasured !== undefined) ??
      { subject, samples: [value(found.map(({ samples }) => samples))] };
  });
  return { name, unit, targets, results };
}

/** Deno and Node.js use as many files as the hard limit allows. */
async function tooFewFiles(
  { sessions }: Load,
): Promise<Unavailable | undefined> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", "ulimit -Hn"],
  })
    .output();
  const limit = Number(new TextDecoder().decode(stdout)); // or "unlimited"
  if (!(sessions + OTHER_FILES > limit)) return undefined;
  return new Unavailable(
    `${describe(sessions)} need more open files than ${limit} (ulimit -Hn)`,
  );
}

/** Runs a prompt in each of many sessions of a new process. */
async function run(
  command: Command,
  service: LoadService,
  { sessions, rate, seconds }: Load,
): Promise<Sample> {
  const shape = { events: rate * seconds, rate, together: sessions };
  const total = shape.events * sessions;
  const delays: number[] = [];
  const begin = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  await using agent = await AgentProcess.start(command, {
    service,
    onEvent: (line) => {
      delays.push(...delay(line));
      if (delays.length === Math.floor(total * BEGIN)) begin.resolve();
      if (delays.length === Math.floor(total * END)) end.resolve();
    },
  });
  const idle = await processUsage(agent.pid);
  const ids: string[] = [];
  while (ids.length < sessions) {
    const length = Math.min(AT_ONCE, sessions - ids.length);
    const opened = Array.from({ length }, () => agent.newSession());
    ids.push(...await Promise.all(opened));
  }
  const runs = Promise.all(ids.map((id) => agent.prompt(id, shape)));
  await Promise.race([begin.promise, runs]);
  const before = await processUsage(agent.pid);
  const first = delays.length;
  await Promise.race([end.promise, runs]);
  const last = delays.length;
  const after = await processUsage(agent.pid);
  await runs;
  const { peak } = await processUsage(agent.pid);
  return {
    cpu: (after.cpu - before.cpu) / (last - first) * MICROSECONDS,
    p99: quantile(delays.slice(first, last), 0.99),
    memory: (peak - idle.resident) / sessions / KIB,
    lost: countEvents(shape) * sessions - agent.events,
  };
}
