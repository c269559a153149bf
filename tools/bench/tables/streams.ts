import { runCommand } from "../../run_command.ts";
import { AgentProcess } from "../agent_process.ts";
import {
  type Protocol,
  settings,
  type Shape,
  SMALLEST_EVENT,
  startService,
} from "../service.ts";
import type { Row, Table } from "../table.ts";

interface Link {
  readonly protocol: Protocol;
  readonly name: string;
  readonly rounds: number;
}

const LINKS: readonly Link[] = [
  { protocol: "https", name: "TLS", rounds: 3 },
  { protocol: "h2", name: "TLS, HTTP/2", rounds: 3 },
];

const TURNS = 200;

/** From `session/prompt` to the reply, on a service of this machine. */
export const turn: Table = {
  title: "A turn on one machine, from the prompt to its reply",
  subjects: ["ours", "floor", "langgraph"],
  rows: LINKS.map(({ name }) => ({ name, unit: "ms" })),
  async measure({ quick, take }) {
    for (const link of LINKS) {
      const turns = quick ? 2 : TURNS;
      await using service = await startService(link.protocol);
      await take({
        rounds: link.rounds,
        async sample(command) {
          let eventAt = NaN;
          const onEvent = () => eventAt = performance.now(); // The last is the reply.
          await using agent = await AgentProcess.start(command, {
            service,
            onEvent,
          });
          const session = await agent.newSession();
          let total = 0;
          for (let turn = -Math.ceil(turns / 4); turn < turns; turn++) {
            const started = performance.now();
            await agent.prompt(session, { events: 1 });
            if (turn >= 0) total += eventAt - started;
          }
          // The mean, not the median: over HTTP/2 some turns wait 40 ms longer,
          // and it may be half of them.
          return { [link.name]: total / turns };
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

/** A prompt whose events are printed, from the start of a program to its end. */
const PRINTED = {
  row: { name: "small events, `--json`", unit: "events/s" },
  events: 300_000,
};

/** The throughput from the service's socket to the lines on a pipe. */
export const streams: Table = {
  title: "Streams",
  subjects: ["ours", "floor", "langgraph", "eventsource-parser"],
  rows: [...STREAMS, PRINTED.row],
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
    const events = PRINTED.events / (quick ? 100 : 1);
    await take({
      rounds: 4,
      prompt: JSON.stringify({ events }),
      printsEvents: true,
      async sample(command) {
        const started = performance.now();
        const text = await runCommand(command, { env: settings(service) });
        const seconds = (performance.now() - started) / 1000;
        const printed = text.split('progress"').length - 1;
        if (printed !== events) throw new Error(`It printed ${printed} events`);
        return { [PRINTED.row.name]: events / seconds };
      },
    });
  },
};
