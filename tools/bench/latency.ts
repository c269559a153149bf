import { AgentProcess } from "./agent_process.ts";
import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import { LoadService } from "./load_service.ts";
import { clock } from "./shape.ts";
import { quantile } from "./statistics.ts";
import { floor, OURS, peer } from "./subjects.ts";

const STATUS = '"status":"';
const decoder = new TextDecoder();

/** From an event's last byte leaving the service to its line being read. */
export async function latency(
  { quick, peers }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  await using service = await LoadService.start();
  const shape = { events: quick ? 100 : 5000, rate: 1000 };
  return await measure({
    subjects: new Map([
      ["ours", OURS],
      ["floor", floor()],
      ["langgraph", peer(peers, "langgraph.mjs")],
      ["eventsource-parser", peer(peers, "eventsource_parser.mjs")],
    ]),
    rounds: quick ? 1 : 3,
    quantities: {
      p50: { unit: "ms" },
      p99: { unit: "ms", targets: [{ against: "floor", atMost: 2 }] },
    },
    sample: async (command) => {
      const delays: number[] = [];
      await using agent = await AgentProcess.start(command, {
        service,
        onEvent: (line) => delays.push(...delay(line)),
      });
      const session = await agent.newSession();
      await agent.prompt(session, { ...shape, events: shape.events / 10 });
      delays.length = 0;
      await agent.prompt(session, shape);
      const lost = shape.events - delays.length;
      if (lost !== 0) throw new Error(`${lost} events were lost`);
      return { p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) };
    },
  });
}

/** The age of the event in a line, in milliseconds; empty for other lines. */
export function delay(line: Uint8Array): readonly number[] {
  const text = decoder.decode(line);
  const at = text.indexOf(STATUS);
  if (at < 0) return [];
  return [clock() - Number.parseFloat(text.slice(at + STATUS.length))];
}
