import { AgentProcess } from "../agent_process.ts";
import { floor } from "../peers.ts";
import { processUsage, threadActivity } from "../processes.ts";
import type { Command } from "../programs.ts";
import { countEvents, type Endpoint, startService } from "../service.ts";
import type { Table } from "../table.ts";

const MIB = 1024 * 1024;

/**
 * How long a program settles, in seconds. Idle threads of Deno end after 10 s, and
 * V8 returns memory 30 s after the last activity.
 */
const SETTLING = 40;

/** How long the process is measured after that, in seconds. */
const MEASURED = 60;

/** A process with 100 open sessions, while nobody asks anything. */
export const idle: Table = {
  title: "With 100 open sessions and no run",
  subjects: ["ours", "floor", "langgraph"],
  rows: [
    { name: "wake-ups", unit: "per second", withoutRatios: true },
    { name: "CPU in a minute", unit: "ms", withoutRatios: true },
    { name: "memory", unit: "MiB" },
  ],
  async measure({ programs, peer, quick }, samples) {
    await using service = await startService();
    const [count, settling, seconds] = quick
      ? [5, 0, 1]
      : [100, SETTLING, MEASURED];
    await samples.take({
      subjects: {
        ours: programs.bundle.client("--bridge"),
        floor: floor(),
        langgraph: peer("node_bridge.mjs", "langgraph"),
      },
      rounds: 1,
      together: true,
      sample: async (command) => {
        await using agent = await AgentProcess.start(command, { service });
        for (let opened = 0; opened < count; opened++) await agent.newSession();
        await pause(settling);
        const before = await threadActivity(agent.pid);
        await pause(seconds);
        const after = await threadActivity(agent.pid);
        const { resident } = await processUsage(agent.pid);
        return {
          "wake-ups": (after.wakeUps - before.wakeUps) / seconds,
          "CPU in a minute": (after.cpu - before.cpu) / seconds * 60,
          "memory": resident / MIB,
        };
      },
    });
  },
};

async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** 1 MiB, to be repeated. */
const BLOCK = { events: 1024, eventBytes: 1024 };

/** The rows of streams that nobody reads, and how their services are spoken to. */
const STALLED = [
  ["of a stalled stream, HTTP/1.1", "https"],
  ["of a stalled stream, HTTP/2", "h2"],
] as const;

/** The stalled streams when memory is first measured, and in the end. */
const FEW = 10;
const MANY = 50;

/** How long streams get to fill all buffers on their way, in milliseconds. */
const FILLING = 2000;

/** Resident memory during long streams, and of streams that nobody reads. */
export const memory: Table = {
  title: "Memory during streams",
  subjects: ["ours", "floor"],
  rows: [
    { name: "peak over 1 GiB", unit: "MiB" },
    // By then, V8's heap has reached its final size.
    { name: "growth over a second GiB", unit: "MiB", withoutRatios: true },
    ...STALLED.map(([name]) => ({ name, unit: "KiB" })),
  ],
  async measure({ programs, quick }, samples) {
    const subjects = {
      ours: programs.bundle.client("--bridge"),
      floor: floor(),
    };
    const rounds = 2;
    await using plain = await startService();
    await samples.take({
      subjects,
      rounds,
      sample: (command) => runTwice(command, plain, quick ? 1 : 1024),
    });
    for (const [row, protocol] of STALLED) {
      await using service = await startService(protocol);
      const sample = async (command: Command) => ({
        [row]: await stall(command, service, quick),
      });
      await samples.take({ subjects, rounds, sample });
    }
  },
};

async function runTwice(
  command: Command,
  service: Endpoint,
  repeat: number,
): Promise<Record<string, number>> {
  const shape = { ...BLOCK, repeat };
  await using agent = await AgentProcess.start(command, { service });
  const session = await agent.newSession();
  await agent.prompt(session, shape);
  const first = await processUsage(agent.pid);
  await agent.prompt(session, shape);
  const second = await processUsage(agent.pid);
  const lost = 2 * countEvents(shape) - agent.events;
  if (lost !== 0) throw new Error(`${lost} events were lost`);
  return {
    "peak over 1 GiB": first.peak / MIB,
    "growth over a second GiB": (second.peak - first.peak) / MIB,
  };
}

/** What one more stream adds to resident memory while nobody reads, in KiB. */
async function stall(
  command: Command,
  service: Endpoint,
  quick: boolean,
): Promise<number> {
  await using agent = await AgentProcess.start(command, { service });
  const sessions: string[] = [];
  while (sessions.length < MANY) sessions.push(await agent.newSession());
  agent.stopReading();
  const begin = async (some: readonly string[]) => {
    for (const session of some) {
      agent.prompt(session, { ...BLOCK, repeat: 1024 })
        .catch(() => {}); // It never ends.
    }
    await new Promise((resolve) => setTimeout(resolve, quick ? 200 : FILLING));
    return (await processUsage(agent.pid)).resident;
  };
  const few = await begin(sessions.slice(0, FEW));
  const all = await begin(sessions.slice(FEW));
  return (all - few) / (MANY - FEW) / 1024;
}
