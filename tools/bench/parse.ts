/**
 * Reads a stream's bytes from memory: milliseconds of each pass, as JSON.
 *
 *     deno run tools/bench/parse.ts (ours | floor) FILE CHUNK_BYTES PASSES
 *
 * The floor decodes, splits and parses, without limits and without a cursor.
 *
 * @module
 */
import { readRunEvents } from "../../lib/gateway/run_events.ts";

const [parser, file = "", chunkBytes, passes] = Deno.args;
const bytes = Deno.readFileSync(file);
const parse = parser === "ours" ? parseAsWeDo : parseSimply;

const results = [];
for (let pass = 0; pass < Number(passes); pass++) {
  const started = performance.now();
  const events = await parse();
  results.push({ events, milliseconds: performance.now() - started });
}
console.log(JSON.stringify(results));

async function* chunks(): AsyncGenerator<Uint8Array> {
  const size = Number(chunkBytes);
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}

async function parseAsWeDo(): Promise<number> {
  let count = 0;
  for await (const events of readRunEvents(chunks())) count += events.length;
  return count;
}

async function parseSimply(): Promise<number> {
  let count = 0;
  let rest: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of chunks()) {
    const text = decoder.decode(chunk, { stream: true });
    const [first = "", ...lines] = text.split("\n");
    rest.push(first);
    if (lines.length === 0) continue;
    for (const line of [rest.join(""), ...lines.slice(0, -1)]) {
      if (line !== "" && JSON.parse(line.slice("data: ".length)).event) count++;
    }
    rest = [lines.at(-1) ?? ""];
  }
  return count;
}
