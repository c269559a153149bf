import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { floor, OURS, peer } from "./subjects.ts";

const TURNS = 20;

/** The TCP connections of one session. */
export async function connections(
  { peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const targets = [{ against: "floor", atMost: 1 }];
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["floor, shared connections", floor("--share-connections")],
      ["langgraph", peer(peers, "langgraph.mjs")],
    ]),
    rounds: 1,
    quantities: {
      "for the streams of 20 turns": { unit: "connections", targets },
      "for 20 turns": { unit: "connections", targets },
    },
    sample: async (command) => {
      await using service = await LoadService.start();
      await using agent = await AgentProcess.start(command, { service });
      const session = await agent.newSession();
      for (let turn = 0; turn < TURNS; turn++) {
        await agent.prompt(session, { events: 1 });
      }
      const { connections, streams } = await service.counts();
      return {
        "for the streams of 20 turns": streams,
        "for 20 turns": connections,
      };
    },
  });
}
