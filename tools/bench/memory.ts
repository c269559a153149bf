import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { processUsage } from "./process_usage.ts";
import { countEvents } from "./shape.ts";
import { floor, OURS, peer } from "./subjects.ts";

const MIB = 1024 * 1024;

/** 1 MiB, to be repeated. */
const BLOCK = { events: 1024, eventBytes: 1024 };

/** The most that is resident over a stream of 1 GiB, after one of 64 MiB. */
export async function memory(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const first = { ...BLOCK, repeat: quick ? 1 : 64 };
  const long = { ...BLOCK, repeat: quick ? 2 : 1024 };
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["langgraph", peer(peers, "langgraph.mjs")],
    ]),
    rounds: quick ? 1 : 3,
    quantities: {
      "at rest": { unit: "MiB" },
      "peak over 64 MiB": { unit: "MiB" },
      "growth over 1 GiB": { unit: "MiB", targets: [{ atMost: 16 }] },
    },
    sample: async (command) => {
      await using agent = await AgentProcess.start(command, { service });
      const session = await agent.newSession();
      const rest = await processUsage(agent.pid);
      await agent.prompt(session, first);
      const warm = await processUsage(agent.pid);
      await agent.prompt(session, long);
      const end = await processUsage(agent.pid);
      const lost = countEvents(first) + countEvents(long) - agent.events;
      if (lost !== 0) throw new Error(`${lost} events were lost`);
      return {
        "at rest": rest.resident / MIB,
        "peak over 64 MiB": warm.peak / MIB,
        "growth over 1 GiB": (end.peak - warm.peak) / MIB,
      };
    },
  });
}
