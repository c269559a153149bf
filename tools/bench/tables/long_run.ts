import { setTimeout as sleep } from "node:timers/promises";
import { AgentProcess } from "../agent_process.ts";
import { processUsage } from "../processes.ts";
import { startService } from "../service.ts";
import type { Table } from "../table.ts";

/** Events per second, as many as a busy agent sends. */
const RATE = 10;

/** How long each measurement takes, in seconds. */
const MEASURED = 10;

const EARLY = "CPU in a second, after 5 s";
const LATE = "CPU in a second, after a minute";

/** Whether a run costs as much after a minute as it does after its start. */
export const longRun: Table = {
  title: "A run of ten events a second",
  subjects: ["ours", "floor", "langgraph"],
  rows: [EARLY, LATE].map((name) => ({ name, unit: "ms per second" })),
  async measure({ quick, take }) {
    const [early, late, measured] = quick ? [0.2, 0.8, 0.4] : [5, 60, MEASURED];
    await using service = await startService();
    await take({
      rounds: 1,
      together: true,
      async sample(command) {
        await using agent = await AgentProcess.start(command, { service });
        const session = await agent.newSession();
        const events = (late + 2 * measured) * RATE;
        const run = agent.prompt(session, { events, rate: RATE });
        const usedAfter = async (seconds: number) => {
          await sleep(seconds * 1000);
          return (await processUsage(agent.pid)).cpu;
        };
        const first = await usedAfter(early);
        const second = await usedAfter(measured);
        const third = await usedAfter(late - early - measured);
        const fourth = await usedAfter(measured);
        await run;
        return {
          [EARLY]: (second - first) / measured,
          [LATE]: (fourth - third) / measured,
        };
      },
    });
  },
};
