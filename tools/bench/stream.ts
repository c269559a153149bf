import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
  type Quantity,
  type Target,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { countBytes, countEvents, type Shape } from "./shape.ts";
import {
  type Command,
  floor,
  OURS,
  peer,
  withNewerStreams,
} from "./subjects.ts";

/** A stream that is measured. */
export interface Stream {
  readonly name: string;
  readonly shape: Shape;
  readonly targets: readonly Target[];
}

const MB = 1_000_000;

const STREAMS: readonly Stream[] = [
  {
    name: "small events",
    shape: { events: 200_000 },
    targets: leastRatios(8, 3),
  },
  {
    name: "events of 1 KiB",
    shape: { events: 20_000, eventBytes: 1024 },
    targets: leastRatios(5.5, 1.8),
  },
  {
    name: "events of 20 MB",
    shape: { events: 2, eventBytes: 20 * MB },
    targets: leastRatios(3.5, 2),
  },
  {
    name: "chunks of 100 bytes",
    shape: { events: 50_000, chunkBytes: 100 },
    targets: leastRatios(2, 1),
  },
];

const QUICK_STREAMS: readonly Stream[] = [
  {
    name: "chunks of 100 bytes",
    shape: { events: 500, chunkBytes: 100 },
    targets: [],
  },
];

/** The streams that are measured. */
export function streams(quick: boolean): readonly Stream[] {
  return quick ? QUICK_STREAMS : STREAMS;
}

function leastRatios(
  langgraph: number,
  eventsourceParser: number,
): readonly Target[] {
  return [
    { against: "langgraph", atLeast: langgraph },
    { against: "eventsource-parser", atLeast: eventsourceParser },
    { against: "eventsource-parser 3.1.1", atLeast: eventsourceParser },
  ];
}

/** The throughput from the service's socket to the lines on a pipe. */
export async function stream(
  { quick, peers, folder }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const newerStreams = await withNewerStreams(folder);
  const measurements = [];
  for (const { name, shape, targets } of streams(quick)) {
    await service.prepare(shape);
    measurements.push(
      ...await measure({
        subjects: new Map([
          ["ours", OURS],
          ["ours, @std/streams 1.1.2", newerStreams],
          ["floor", floor()],
          ["langgraph", peer(peers, "langgraph.mjs")],
          ["eventsource-parser", peer(peers, "eventsource_parser.mjs")],
          [
            "eventsource-parser 3.1.1",
            peer(peers, "eventsource_parser.mjs", "--3"),
          ],
          [
            "eventsource-parser, tuned",
            peer(peers, "eventsource_parser.mjs", "--tuned"),
          ],
        ]),
        rounds: quick ? 1 : 5,
        quantities: rates(name, targets),
        sample: async (command) =>
          toRates(name, shape, await timeStream(command, service, shape)),
      }),
    );
  }
  return measurements;
}

/** The quantities of a stream: events and megabytes per second. */
export function rates(
  name: string,
  targets: readonly Target[] = [],
): Record<string, Quantity> {
  return {
    [name]: { unit: "events/s", targets },
    [`${name}, bytes`]: { unit: "MB/s" },
  };
}

/** The quantities of {@linkcode rates} for a stream that took `milliseconds`. */
export function toRates(
  name: string,
  shape: Shape,
  milliseconds: number,
): Record<string, number> {
  return {
    [name]: countEvents(shape) / milliseconds * 1000,
    [`${name}, bytes`]: countBytes(shape) / milliseconds * 1000 / MB,
  };
}

async function timeStream(
  command: Command,
  service: LoadService,
  shape: Shape,
): Promise<number> {
  await using agent = await AgentProcess.start(command, { service });
  const session = await agent.newSession();
  await agent.prompt(session, { events: 1 });
  const before = agent.events;
  const started = performance.now();
  await agent.prompt(session, shape);
  const milliseconds = performance.now() - started;
  const lost = countEvents(shape) - (agent.events - before);
  if (lost !== 0) throw new Error(`${lost} events were lost`);
  return milliseconds;
}
