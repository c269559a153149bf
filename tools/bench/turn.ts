import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
  type Target,
} from "./benchmark.ts";
import { makeCertificate } from "./certificate.ts";
import { DelayProxy } from "./delay_proxy.ts";
import { type Endpoint, LoadService } from "./load_service.ts";
import { median } from "./statistics.ts";
import {
  type Command,
  floor,
  OURS,
  peer,
  type Subjects,
  Unavailable,
} from "./subjects.ts";

/** One step and the reply, at once. */
const ANSWER = { events: 1 };

/** A turn that is measured. */
interface Turn {
  readonly name: string;
  readonly turns: number;
  readonly rounds: number;
  readonly targets: readonly Target[];
}

const PLAIN: Turn = {
  name: "turn",
  turns: 200,
  rounds: 5,
  targets: [{ against: "floor", atMost: 1.3 }],
};

/** Over TLS, on links with these round-trip times in milliseconds. */
const LINKS: readonly (readonly [number, Turn])[] = [
  [0, { ...PLAIN, name: "turn over TLS", rounds: 3 }],
  [50, onLink(50, 12)],
  [200, onLink(200, 6)],
];

function onLink(roundTrip: number, turns: number): Turn {
  return {
    name: `turn over TLS, ${roundTrip} ms of round trip`,
    turns,
    rounds: 1, // A turn is several round trips long; nothing else varies.
    targets: [{ against: "floor", atMost: 1.05 }],
  };
}

/**
 * From `session/prompt` to its answer, on a service that answers at once: on
 * loopback, and over TLS on loopback and on longer links.
 */
export async function turn(
  { quick, peers, folder }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const subjects = new Map([
    ["ours", OURS],
    ["floor", floor()],
    ["floor, shared connections", floor("--share-connections")],
    ["langgraph", peer(peers, "langgraph.mjs")],
  ]);
  await using plain = await LoadService.start();
  const measurements = [
    ...await measureTurn(PLAIN, { subjects, service: plain, quick }),
  ];
  const certificate = await makeCertificate(folder);
  const isSecure = !(certificate instanceof Unavailable);
  await using secure = await LoadService.start(
    isSecure ? certificate : undefined,
  );
  for (const [roundTrip, turn] of LINKS) {
    await using link = new DelayProxy(secure, {
      roundTrip: quick ? roundTrip / 10 : roundTrip,
    });
    measurements.push(
      ...await measureTurn(turn, {
        subjects: isSecure ? subjects : new Map([["ours", certificate]]),
        service: roundTrip === 0 ? secure : link,
        quick,
      }),
    );
  }
  return measurements;
}

function measureTurn(
  { name, turns, rounds, targets }: Turn,
  { subjects, service, quick }: {
    readonly subjects: Subjects;
    readonly service: Endpoint;
    readonly quick: boolean;
  },
): Promise<readonly Measurement[]> {
  return measure({
    subjects,
    rounds: quick ? 1 : rounds,
    quantities: { [name]: { unit: "ms", targets } },
    sample: async (command) => ({
      [name]: await timeTurns(command, service, quick ? 2 : turns),
    }),
  });
}

/** The median of a number of turns in one session, one after the other. */
async function timeTurns(
  command: Command,
  service: Endpoint,
  count: number,
): Promise<number> {
  await using agent = await AgentProcess.start(command, { service });
  const session = await agent.newSession();
  const times = [];
  for (let turn = 0; turn < count * 1.25; turn++) {
    const started = performance.now();
    await agent.prompt(session, ANSWER);
    times.push(performance.now() - started);
  }
  return median(times.slice(-count)); // Before, code was still warming up.
}
