import { setTimeout as sleep } from "node:timers/promises";
import { AgentProcess } from "../agent_process.ts";
import { processUsage } from "../processes.ts";
import { startService } from "../service.ts";
import type { Table } from "../table.ts";

const MIB = 1024 * 1024;

/** A process with 100 open sessions, while nobody asks anything. */
export const idle: Table = {
  title: "With 100 open sessions and no run",
  subjects: ["ours", "floor", "langgraph"],
  rows: [
    { name: "wake-ups", unit: "per second", withoutRatios: true },
    { name: "CPU in a minute", unit: "ms", withoutRatios: true },
    { name: "memory", unit: "MiB" },
  ],
  async measure({ quick, take }) {
    // Idle threads of Deno end after 10 s, and V8 returns memory 30 s after the
    // last activity.
    const [settling, measured] = quick ? [0, 1] : [40, 60];
    await using service = await startService();
    await take({
      rounds: 1,
      together: true,
      async sample(command) {
        await using agent = await AgentProcess.start(command, { service });
        for (let left = quick ? 5 : 100; left > 0; left--) {
          await agent.newSession();
        }
        await sleep(settling * 1000);
        const before = await processUsage(agent.pid);
        await sleep(measured * 1000);
        const after = await processUsage(agent.pid);
        return {
          "wake-ups": (after.wakeUps - before.wakeUps) / measured,
          "CPU in a minute": (after.cpu - before.cpu) / measured * 60,
          memory: after.resident / MIB,
        };
      },
    });
  },
};

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
  async measure({ quick, take }) {
    const shape = { ...BLOCK, repeat: quick ? 1 : 1024 };
    await using service = await startService();
    await take({
      rounds: 2,
      async sample(command) {
        await using agent = await AgentProcess.start(command, { service });
        const session = await agent.newSession();
        await agent.prompt(session, shape);
        const first = await processUsage(agent.pid);
        await agent.prompt(session, shape);
        const second = await processUsage(agent.pid);
        return {
          "peak over 1 GiB": first.peak / MIB,
          "growth over a second GiB": (second.peak - first.peak) / MIB,
        };
      },
    });
    for (const [row, protocol] of STALLED) {
      await using service = await startService(protocol);
      await take({
        rounds: 2,
        async sample(command) {
          await using agent = await AgentProcess.start(command, { service });
          const sessions: string[] = [];
          while (sessions.length < MANY) {
            sessions.push(await agent.newSession());
          }
          agent.stopReading();
          const stall = async (some: readonly string[]) => {
            for (const session of some) {
              agent.prompt(session, { ...BLOCK, repeat: 1024 })
                .catch(() => {}); // It never ends.
            }
            await sleep(quick ? 200 : 2_000); // All buffers on the way fill up.
            return (await processUsage(agent.pid)).resident;
          };
          const few = await stall(sessions.slice(0, FEW));
          const all = await stall(sessions.slice(FEW));
          return { [row]: (all - few) / (MANY - FEW) / 1024 };
        },
      });
    }
  },
};
