import { AgentProcess } from "../agent_process.ts";
import { DelayProxy } from "../delay_proxy.ts";
import { floor } from "../peers.ts";
import type { Command } from "../programs.ts";
import {
  countBytes,
  countEvents,
  type Endpoint,
  progressEvent,
  type Protocol,
  type Shape,
  startService,
} from "../service.ts";
import type { Row, Table } from "../table.ts";

/** One step and the reply, at once. */
const ANSWER = { events: 1 };

/** How a service is reached, and how often a turn is measured. */
interface Link {
  readonly name: string;
  readonly protocol: Protocol;
  /** The round-trip time, in milliseconds. */
  readonly roundTrip: number;
  readonly turns: number;
  readonly rounds: number;
}

// A turn on a long link is several round trips long; little else varies.
const LINKS: readonly Link[] = [
  { name: "plain", protocol: "http", roundTrip: 0, turns: 200, rounds: 5 },
  ...overTls(0, { turns: 200, rounds: 3 }),
  ...overTls(50, { turns: 6, rounds: 2 }),
  ...overTls(200, { turns: 3, rounds: 1 }),
];

function overTls(
  roundTrip: number,
  { turns, rounds }: Pick<Link, "turns" | "rounds">,
): Link[] {
  const link = { roundTrip, turns, rounds };
  const suffix = roundTrip === 0 ? "" : `, ${roundTrip} ms of round trip`;
  return [
    { ...link, name: `TLS${suffix}`, protocol: "https" },
    { ...link, name: `TLS, HTTP/2${suffix}`, protocol: "h2" },
  ];
}

/** From `session/prompt` to its answer, on a service that answers at once. */
export const turn: Table = {
  title: "A turn, from the prompt to its answer",
  subjects: ["ours", "floor", "langgraph"],
  rows: LINKS.map(({ name }) => ({ name, unit: "ms" })),
  async measure({ programs, peer, quick }, samples) {
    for (const { name, protocol, roundTrip, turns, rounds } of LINKS) {
      await using service = await startService(protocol);
      await using link = new DelayProxy(service, {
        roundTrip: quick ? roundTrip / 10 : roundTrip,
      });
      const endpoint = roundTrip === 0 ? service : link;
      await samples.take({
        subjects: {
          ours: programs.bundle.client("--bridge"),
          floor: floor(),
          langgraph: peer("node_bridge.mjs", "langgraph"),
        },
        rounds,
        sample: async (command) => ({
          [name]: await timeTurns(command, endpoint, quick ? 2 : turns),
        }),
      });
    }
  },
};

/**
 * The mean of a number of turns in one session, one after the other. (Not the
 * median: over HTTP/2 some turns wait 40 ms longer, and it may be half of them.)
 */
async function timeTurns(
  command: Command,
  service: Endpoint,
  count: number,
): Promise<number> {
  await using agent = await AgentProcess.start(command, { service });
  const session = await agent.newSession();
  const warmUps = Math.ceil(count / 4);
  let started = 0;
  for (let turn = -warmUps; turn < count; turn++) {
    if (turn === 0) started = performance.now();
    await agent.prompt(session, ANSWER);
  }
  return (performance.now() - started) / count;
}

const MB = 1_000_000;

interface Stream extends Row {
  readonly unit: "events/s" | "MB/s";
  readonly shape: Shape;
}

const STREAMS: readonly Stream[] = [
  { name: "small events", unit: "events/s", shape: { events: 200_000 } },
  {
    name: "events of 1 KiB",
    unit: "events/s",
    shape: { events: 20_000, eventBytes: 1024 },
  },
  {
    name: "events of 10 MB",
    unit: "MB/s",
    shape: { events: 4, eventBytes: 10 * MB },
  },
  {
    name: "small events, one a chunk",
    unit: "events/s",
    shape: { events: 50_000, chunkBytes: progressEvent({}).length },
  },
];

/** The throughput from the service's socket to the lines on a pipe. */
export const streams: Table = {
  title: "Streams",
  subjects: ["ours", "floor", "langgraph", "eventsource-parser"],
  rows: STREAMS,
  async measure({ programs, peer, quick }, samples) {
    await using service = await startService();
    for (const { name, unit, shape } of STREAMS) {
      const { events } = shape;
      const sized = {
        ...shape,
        events: quick ? Math.ceil(events / 100) : events,
      };
      const amount = unit === "MB/s"
        ? countBytes(sized) / MB
        : countEvents(sized);
      await service.prepare(sized);
      await samples.take({
        subjects: {
          ours: programs.bundle.client("--bridge"),
          floor: floor(),
          langgraph: peer("node_bridge.mjs", "langgraph"),
          "eventsource-parser": peer("node_bridge.mjs", "eventsource_parser"),
        },
        rounds: 4,
        sample: async (command) => ({
          [name]: amount / await timeStream(command, service, sized),
        }),
      });
    }
  },
};

/** The seconds of a stream, from the prompt to its answer. */
async function timeStream(
  command: Command,
  service: Endpoint,
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
  return milliseconds / 1000;
}
