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

/** The peak of resident memory during a stream of 1 GiB, and during a second one. */
export async function memory(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const shape = { ...BLOCK, repeat: quick ? 1 : 1024 };
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["eventsource-parser", peer(peers, "eventsource_parser.mjs")],
    ]),
    rounds: quick ? 1 : 2,
    quantities: {
      "at rest": { unit: "MiB" },
      "peak over 1 GiB": { unit: "MiB" },
      // By then, V8's heap has reached its final size.
      "growth over a second GiB": { unit: "MiB", targets: [{ atMost: 16 }] },
    },
    sample: async (command) => {
      await using agent = await AgentProcess.start(command, { service });
      const session = await agent.newSession();
      const rest = await processUsage(agent.pid);
      await agent.prompt(session, shape);
      const first = await processUsage(agent.pid);
      await agent.prompt(session, shape);
      const second = await processUsage(agent.pid);
      const lost = 2 * countEvents(shape) - agent.events;
      if (lost !== 0) throw new Error(`${lost} events were lost`);
      return {
        "at rest": rest.resident / MIB,
        "peak over 1 GiB": first.peak / MIB,
        "growth over a second GiB": (second.peak - first.peak) / MIB,
      };
    },
  });
}
