import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { delay } from "./latency.ts";
import { LoadService } from "./load_service.ts";
import { processUsage } from "./process_usage.ts";
import { countEvents } from "./shape.ts";
import { quantile } from "./statistics.ts";
import { floor, OURS, peer } from "./subjects.ts";

/** How many sessions are opened at the same time. */
const AT_ONCE = 50;
const SECONDS = 10;
const RATE = 10;
const KIB = 1024;

/** Many sessions in one process, each with a running prompt. */
export async function sessions(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const count = quick ? 20 : 1000;
  const shape = {
    events: quick ? RATE / 2 : RATE * SECONDS,
    rate: RATE,
    together: count,
  };
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["langgraph", peer(peers, "langgraph.mjs")],
    ]),
    rounds: quick ? 1 : 3,
    quantities: {
      "lost": { unit: "events", targets: [{ atMost: 0 }] },
      "p50": { unit: "ms" },
      "p99": { unit: "ms", targets: [{ atMost: 50 }] },
      "processor": { unit: "% of a core" },
      "memory per session": { unit: "KiB", targets: [{ atMost: 100 }] },
    },
    sample: async (command) => {
      const delays: number[] = [];
      await using agent = await AgentProcess.start(command, {
        service,
        onEvent: (line) => delays.push(...delay(line)),
      });
      const idle = await processUsage(agent.pid);
      const ids: string[] = [];
      while (ids.length < count) {
        const some = Array.from(
          { length: Math.min(AT_ONCE, count - ids.length) },
          () => agent.newSession(),
        );
        ids.push(...await Promise.all(some));
      }
      const opened = await processUsage(agent.pid);
      await Promise.all(ids.map((id) => agent.prompt(id, shape)));
      const used = await processUsage(agent.pid);
      const seconds = shape.events / RATE;
      return {
        "lost": countEvents(shape) * count - agent.events,
        "p50": quantile(delays, 0.5),
        "p99": quantile(delays, 0.99),
        "processor": (used.cpu - opened.cpu) / seconds * 100,
        "memory per session": (used.peak - idle.resident) / count / KIB,
      };
    },
  });
}
