import { setTimeout as sleep } from "node:timers/promises";
import { AgentProcess } from "../agent_process.ts";
import { processUsage } from "../processes.ts";
import { startService } from "../service.ts";
import type { Table } from "../table.ts";

const MIB = 1024 * 1024;

const IDLE = "100 open sessions and no run";
const PEAK = "peak over a stream of 1 GiB";

/** The resident memory of a process. */
export const memory: Table = {
  title: "Memory",
  subjects: ["ours", "floor", "langgraph"],
  rows: [IDLE, PEAK].map((name) => ({ name, unit: "MiB" })),
  async measure({ quick, take }) {
    await using service = await startService();
    await take({
      rounds: 1,
      together: true,
      async sample(command) {
        await using agent = await AgentProcess.start(command, { service });
        for (let left = quick ? 5 : 100; left > 0; left--) {
          await agent.newSession();
        }
        // V8 returns memory 30 s after the last activity.
        await sleep(quick ? 0 : 40_000);
        const { resident } = await processUsage(agent.pid);
        return { [IDLE]: resident / MIB };
      },
    });
    await take({
      rounds: 2,
      async sample(command) {
        await using agent = await AgentProcess.start(command, { service });
        const session = await agent.newSession();
        const shape = { events: 1024, eventBytes: 1024 };
        await agent.prompt(session, { ...shape, repeat: quick ? 1 : 1024 });
        const { peak } = await processUsage(agent.pid);
        return { [PEAK]: peak / MIB };
      },
    });
  },
};
