import { AgentProcess } from "../agent_process.ts";
import { floor } from "../peers.ts";
import { processUsage } from "../processes.ts";
import type { Command } from "../programs.ts";
import { clock, countEvents, type Endpoint, startService } from "../service.ts";
import { quantile, type Row, type Table } from "../table.ts";

/** A number of sessions, each with a run at the same time. */
interface Load {
  readonly sessions: number;
  /** The events of each session in a second. */
  readonly rate: number;
  readonly seconds: number;
}

/**
 * From 10 sessions on, all of them together get 5,000 events in a second, so that
 * their number is all that differs. With many more events, the service and this
 * process would need most of a machine with two cores. One session alone gets
 * 1,000, because more would not come one by one.
 */
const LOADS: readonly Load[] = [
  { sessions: 1, rate: 1000, seconds: 2 },
  { sessions: 10, rate: 500, seconds: 2 },
  { sessions: 100, rate: 50, seconds: 2 },
  { sessions: 1000, rate: 5, seconds: 3 },
  { sessions: 5000, rate: 1, seconds: 5 },
];

/** With fewer sessions, the memory of a program itself varies more than theirs. */
const MANY = 100;

/** How many sessions are opened at the same time. */
const AT_ONCE = 50;

/** Only the events between these shares are measured, while no run begins or ends. */
const BEGIN = 0.2;
const END = 0.95;

const CPU = "CPU per event";
const LATENCY = "99th percentile of latency";
const MEMORY = "memory per session";

/** The cost and the latency of an event in one process with many sessions. */
export const sessions: Table = {
  title: "Many sessions with a run each, at the same time",
  subjects: ["ours", "floor"],
  rows: LOADS.flatMap(rowsOf),
  async measure({ programs, quick }, samples) {
    await using service = await startService();
    for (const load of LOADS) {
      const title = titleOf(load);
      const few = Math.ceil(load.sessions / 50);
      const sized = quick ? { sessions: few, rate: 100, seconds: 0.5 } : load;
      await samples.take({
        subjects: { ours: programs.bundle.client("--bridge"), floor: floor() },
        rounds: 2,
        sample: async (command) => {
          const usage = await run(command, service, sized);
          return {
            [`${title}, ${CPU}`]: usage.cpu,
            [`${title}, ${LATENCY}`]: usage.latency,
            ...load.sessions >= MANY &&
              { [`${title}, ${MEMORY}`]: usage.memory },
          };
        },
      });
    }
  },
};

function rowsOf(load: Load): readonly Row[] {
  const title = titleOf(load);
  return [
    { name: `${title}, ${CPU}`, unit: "us" },
    { name: `${title}, ${LATENCY}`, unit: "ms" },
    ...load.sessions >= MANY
      ? [{ name: `${title}, ${MEMORY}`, unit: "KiB" }]
      : [],
  ];
}

function titleOf({ sessions }: Load): string {
  return `${sessions.toLocaleString("en")} session${sessions === 1 ? "" : "s"}`;
}

/** What a load costs. */
interface Usage {
  /** The time on a processor for each event, in microseconds. */
  readonly cpu: number;
  /** The latency that 99% of the events do not exceed, in milliseconds. */
  readonly latency: number;
  /** What a session adds to the memory of an idle program at its peak, in KiB. */
  readonly memory: number;
}

/** Runs a prompt in each of many sessions of a new process. */
async function run(
  command: Command,
  service: Endpoint,
  { sessions, rate, seconds }: Load,
): Promise<Usage> {
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
  const lost = countEvents(shape) * sessions - agent.events;
  if (lost !== 0) throw new Error(`${lost} events were lost`);
  const { peak } = await processUsage(agent.pid);
  return {
    cpu: (after.cpu - before.cpu) / (last - first) * 1e6,
    latency: quantile(delays.slice(first, last), 0.99),
    memory: (peak - idle.resident) / sessions / 1024,
  };
}

const STATUS = '"status":"';
const decoder = new TextDecoder();

/** How many milliseconds ago the event in a line was sent; empty if it holds no event. */
function delay(line: Uint8Array): readonly number[] {
  const text = decoder.decode(line);
  const at = text.indexOf(STATUS);
  if (at < 0) return [];
  return [clock() - Number.parseFloat(text.slice(at + STATUS.length))];
}
