import { AgentProcess } from "../agent_process.ts";
import type { Command } from "../programs.ts";
import { type Endpoint, startService } from "../service.ts";
import { quantile, type Table } from "../table.ts";

/** A number of sessions, each with a run at the same time. */
interface Load {
  readonly sessions: number;
  /** The events of each session in a second. */
  readonly rate: number;
  readonly seconds: number;
}

/**
 * 5,000 events in a second. With many more, the service and this process would need most
 * of a machine with two cores.
 */
const LOAD: Load = { sessions: 1000, rate: 5, seconds: 3 };

/** How many sessions are opened at the same time. */
const AT_ONCE = 50;

/** Only the events between these shares are measured, while no run begins or ends. */
const BEGIN = 0.2;
const END = 0.95;

const LATENCY = "an event, 99th percentile";

/** The cost and the latency of an event in one process with many sessions. */
export const sessions: Table = {
  title: "1,000 runs at the same time",
  subjects: ["ours", "floor"],
  rows: [{ name: LATENCY, unit: "ms" }],
  async measure({ quick, take }) {
    await using service = await startService();
    const few = { sessions: 20, rate: 100, seconds: 0.5 };
    await take({
      rounds: 2,
      sample: (command) => run(command, service, quick ? few : LOAD),
    });
  },
};

/** Runs a prompt in each of many sessions of a new process. */
async function run(
  command: Command,
  service: Endpoint,
  { sessions, rate, seconds }: Load,
): Promise<Readonly<Record<string, number>>> {
  const shape = { events: rate * seconds, rate, together: sessions };
  const total = shape.events * sessions;
  const delays: number[] = [];
  const begin = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const onEvent = (line: Uint8Array) => {
    const [, sent] = /"status":"([\d.]+)/.exec(decoder.decode(line)) ?? [];
    if (sent === undefined) return; // the last event of a stream
    delays.push(performance.timeOrigin + performance.now() - Number(sent));
    if (delays.length === Math.floor(total * BEGIN)) begin.resolve();
    if (delays.length === Math.floor(total * END)) end.resolve();
  };
  await using agent = await AgentProcess.start(command, { service, onEvent });
  const ids: string[] = [];
  while (ids.length < sessions) {
    const length = Math.min(AT_ONCE, sessions - ids.length);
    const opened = Array.from({ length }, () => agent.newSession());
    ids.push(...await Promise.all(opened));
  }
  const runs = Promise.all(ids.map((id) => agent.prompt(id, shape)));
  await Promise.race([begin.promise, runs]);
  const first = delays.length;
  await Promise.race([end.promise, runs]);
  const last = delays.length;
  await runs;
  return { [LATENCY]: quantile(delays.slice(first, last), 0.99) };
}

const decoder = new TextDecoder();
