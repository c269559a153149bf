import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { processUsage, threadActivity } from "./process_usage.ts";
import { floor, OURS, peer } from "./subjects.ts";

const MIB = 1024 * 1024;

/**
 * How long a program settles, in milliseconds. Idle threads of Deno end after 10 s,
 * and V8 returns memory 30 s after the last activity.
 */
const SETTLING = 40_000;

/** A process with 100 open sessions, over 60 s in which nobody asks anything. */
export async function idle(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const seconds = quick ? 1 : 60;
  const count = quick ? 5 : 100;
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["langgraph", peer(peers, "langgraph.mjs")],
    ]),
    rounds: 1,
    together: true,
    quantities: {
      "wake-ups": { unit: "per second", targets: [{ atMost: 1 }] },
      "processor over 60 s": { unit: "ms", targets: [{ atMost: 10 }] },
      "memory of 100 sessions": { unit: "MiB" },
    },
    sample: async (command) => {
      await using agent = await AgentProcess.start(command, { service });
      for (let opened = 0; opened < count; opened++) await agent.newSession();
      await pause(quick ? 0 : SETTLING);
      const before = await threadActivity(agent.pid);
      await pause(seconds * 1000);
      const after = await threadActivity(agent.pid);
      const { resident } = await processUsage(agent.pid);
      return {
        "wake-ups": (after.wakeUps - before.wakeUps) / seconds,
        "processor over 60 s": after.cpu - before.cpu,
        "memory of 100 sessions": resident / MIB,
      };
    },
  });
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
