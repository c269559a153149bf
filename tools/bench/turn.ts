import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { median } from "./statistics.ts";
import { type Command, floor, OURS, peer } from "./subjects.ts";

/** One step and the reply, at once. */
const ANSWER = { events: 1 };

/** From `session/prompt` to its answer, on a service that answers at once. */
export async function turn(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["floor, own connections", floor("--own-connections")],
      ["langgraph", peer(peers, "langgraph.mjs")],
    ]),
    rounds: quick ? 1 : 7,
    quantities: {
      turn: { unit: "ms", targets: [{ against: "floor", atMost: 1.3 }] },
    },
    sample: async (command) => ({
      turn: await timeTurns(command, service, quick ? 2 : 200),
    }),
  });
}

/** The median of a number of turns in one session, one after the other. */
export async function timeTurns(
  command: Command,
  service: LoadService,
  count: number,
): Promise<number> {
  await using agent = await AgentProcess.start(command, { service });
  const session = await agent.newSession();
  const times = [];
  for (let turn = 0; turn < count * 1.25; turn++) {
    const started = performance.now();
    await agent.prompt(session, ANSWER);
    times.push(performance.now() - started);
  }
  return median(times.slice(-count)); // Before, code was still warming up.
}
