import {
  type BenchmarkContext,
  measure,
  type Measurement,
} from "./benchmark.ts";
import {
  CHUNK_BYTES,
  chunksOf,
  COMPLETE,
  countEvents,
  type Shape,
} from "./shape.ts";
import { median } from "./statistics.ts";
import { rates, streams, toRates } from "./stream.ts";
import { type Command, parser, peer } from "./subjects.ts";

interface Pass {
  readonly events: number;
  readonly milliseconds: number;
}

/** The streams of `stream`, read from memory by `lib/gateway/run_events.ts` alone. */
export async function parsing(
  { quick, peers, folder }: BenchmarkContext,
): Promise<readonly Measurement[]> {
  const measurements = [];
  for (const { name, shape } of streams(quick)) {
    const { chunkBytes = CHUNK_BYTES } = shape;
    const file = `${folder}/stream.txt`;
    await Deno.writeFile(file, ReadableStream.from(wholeStream(shape)));
    const args = [file, `${chunkBytes}`, quick ? "2" : "5"];
    measurements.push(
      ...await measure({
        subjects: new Map([
          ["ours", parser("ours", args)],
          ["floor", parser("floor", args)],
          ["langgraph", peer(peers, "parse.mjs", "langgraph", ...args)],
          [
            "eventsource-parser",
            peer(peers, "parse.mjs", "eventsource-parser", ...args),
          ],
        ]),
        rounds: quick ? 1 : 3,
        quantities: rates(name),
        sample: async (command) =>
          toRates(name, shape, await timeParser(command, shape)),
      }),
    );
  }
  return measurements;
}

function* wholeStream(shape: Shape): Generator<Uint8Array, void> {
  yield* chunksOf(shape);
  yield COMPLETE;
}

async function timeParser(command: Command, shape: Shape): Promise<number> {
  const { success, stdout } = await new Deno.Command(command.program, {
    args: [...command.args],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("The parser failed");
  const passes: readonly Pass[] = JSON.parse(new TextDecoder().decode(stdout));
  for (const { events } of passes) {
    const lost = countEvents(shape) - events;
    if (lost !== 0) throw new Error(`${lost} events were lost`);
  }
  // The first pass warmed the code up.
  return median(passes.slice(1).map(({ milliseconds }) => milliseconds));
}
