import { AgentProcess } from "../agent_process.ts";
import { processUsage } from "../processes.ts";
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
 * All of them together get 5,000 events in a second, so that their number is all that
 * differs. With many more events, the service and this process would need most of a
 * machine with two cores.
 */
const LOADS: readonly Load[] = [
  { sessions: 100, rate: 50, seconds: 2 },
  { sessions: 1000, rate: 5, seconds: 3 },
];

/** How many sessions are opened at the same time. */
const AT_ONCE = 50;

/** Only the events between these shares are measured, while no run begins or ends. */
const BEGIN = 0.2;
const END = 0.95;

const CPU = "CPU per event";
const LATENCY = "99th percentile of latency";
/** What a session adds to the memory of an idle program at its peak. */
const MEMORY = "memory per session";
const UNITS = { [CPU]: "us", [LATENCY]: "ms", [MEMORY]: "KiB" };

/** The cost and the latency of an event in one process with many sessions. */
export const sessions: Table = {
  title: "Many sessions with a run each, at the same time",
  subjects: ["ours", "floor"],
  rows: LOADS.flatMap((load) =>
    Object.entries(UNITS)
      .map(([name, unit]) => ({ name: titleOf(load) + name, unit }))
  ),
  async measure({ quick, take }) {
    await using service = await startService();
    for (const load of LOADS) {
      const few = Math.ceil(load.sessions / 50);
      const sized = quick ? { sessions: few, rate: 100, seconds: 0.5 } : load;
      await take({
        rounds: 2,
        async sample(command) {
          const figures = Object.entries(await run(command, service, sized));
          return Object.fromEntries(
            figures.map(([name, figure]) => [titleOf(load) + name, figure]),
          );
        },
      });
    }
  },
};

function titleOf({ sessions }: Load): string {
  const number = sessions.toLocaleString("en");
  return `${number} sessions, `;
}

/** Runs a prompt in each of many sessions of a new process. */
async function run(
  command: Command,
  service: Endpoint,
  { sessions, rate, seconds }: Load,
): Promise<Readonly<Record<keyof typeof UNITS, number>>> {
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
    [CPU]: (after.cpu - before.cpu) / (last - first) * 1000,
    [LATENCY]: quantile(delays.slice(first, last), 0.99),
    [MEMORY]: (peak - idle.resident) / sessions / 1024,
  };
}

const decoder = new TextDecoder();
