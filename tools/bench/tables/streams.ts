import { AgentProcess } from "../agent_process.ts";
import { delayService } from "../delay_proxy.ts";
import {
  type Protocol,
  type Shape,
  SMALLEST_EVENT,
  startService,
} from "../service.ts";
import type { Row, Table } from "../table.ts";

/** How a service is reached, and how often a turn is measured. */
interface Link {
  readonly protocol: Protocol;
  /** The round-trip time, in milliseconds. */
  readonly roundTrip: number;
  readonly turns: number;
  readonly rounds: number;
}

// A turn on a long link is several round trips long; little else varies.
const LINKS: readonly Link[] = [
  { protocol: "http", roundTrip: 0, turns: 200, rounds: 5 },
  { protocol: "https", roundTrip: 0, turns: 200, rounds: 3 },
  { protocol: "h2", roundTrip: 0, turns: 200, rounds: 3 },
  { protocol: "https", roundTrip: 50, turns: 6, rounds: 2 },
  { protocol: "h2", roundTrip: 50, turns: 6, rounds: 2 },
  { protocol: "https", roundTrip: 200, turns: 3, rounds: 1 },
  { protocol: "h2", roundTrip: 200, turns: 3, rounds: 1 },
];

function nameOf({ protocol, roundTrip }: Link): string {
  const name = { http: "plain", https: "TLS", h2: "TLS, HTTP/2" }[protocol];
  return roundTrip === 0 ? name : `${name}, ${roundTrip} ms of round trip`;
}

/** From `session/prompt` to its answer, on a service that answers at once. */
export const turn: Table = {
  title: "A turn, from the prompt to its answer",
  subjects: ["ours", "floor", "langgraph"],
  rows: LINKS.map((link) => ({ name: nameOf(link), unit: "ms" })),
  async measure({ quick, take }) {
    for (const link of LINKS) {
      const turns = quick ? 2 : link.turns;
      const roundTrip = quick ? link.roundTrip / 10 : link.roundTrip;
      await using near = await startService(link.protocol);
      using far = delayService(near, roundTrip);
      const service = roundTrip === 0 ? near : far;
      await take({
        rounds: link.rounds,
        async sample(command) {
          await using agent = await AgentProcess.start(command, { service });
          const session = await agent.newSession();
          let started = 0;
          for (let turn = -Math.ceil(turns / 4); turn < turns; turn++) {
            if (turn === 0) started = performance.now();
            await agent.prompt(session, { events: 1 });
          }
          // The mean, not the median: over HTTP/2 some turns wait 40 ms longer,
          // and it may be half of them.
          return { [nameOf(link)]: (performance.now() - started) / turns };
        },
      });
    }
  },
};

const MB = 1_000_000;

interface Stream extends Row {
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
    shape: { events: 50_000, chunkBytes: SMALLEST_EVENT },
  },
];

/** The throughput from the service's socket to the lines on a pipe. */
export const streams: Table = {
  title: "Streams",
  subjects: ["ours", "floor", "langgraph", "eventsource-parser"],
  rows: STREAMS,
  async measure({ quick, take }) {
    await using service = await startService();
    for (const { name, unit, shape } of STREAMS) {
      const amount = unit === "MB/s" ? (shape.eventBytes ?? 0) / MB : 1;
      const events = Math.ceil(shape.events / (quick ? 100 : 1));
      await take({
        rounds: 4,
        async sample(command) {
          await using agent = await AgentProcess.start(command, { service });
          const session = await agent.newSession();
          await agent.prompt(session, { events: 1 });
          const started = performance.now();
          await agent.prompt(session, { ...shape, events });
          const seconds = (performance.now() - started) / 1000;
          return { [name]: events * amount / seconds };
        },
      });
    }
  },
};
