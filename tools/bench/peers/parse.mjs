/**
 * Reads a stream's bytes from memory: milliseconds of each pass, as JSON.
 *
 *     node parse.mjs (langgraph | eventsource-parser) FILE CHUNK_BYTES PASSES
 */
import { readFileSync } from "node:fs";
import process from "node:process";

const [parser, file, chunkBytes, passes] = process.argv.slice(2);
const bytes = readFileSync(file);

async function* chunks() {
  const size = Number(chunkBytes);
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}

const parsers = {
  async "langgraph"() {
    // Not exported: what its client pipes the body of a stream through.
    const { BytesLineDecoder, SSEDecoder } = await import(
      `${import.meta.dirname}/node_modules/@langchain/langgraph-sdk/dist/utils/sse.js`
    );
    return async () => {
      const events = ReadableStream.from(chunks())
        .pipeThrough(BytesLineDecoder())
        .pipeThrough(SSEDecoder());
      let count = 0;
      for await (const { data } of events) if (data.event) count++;
      return count;
    };
  },
  async "eventsource-parser"() {
    const { createParser } = await import("eventsource-parser");
    return async () => {
      let count = 0;
      const parser = createParser({
        onEvent({ data }) {
          if (JSON.parse(data).event) count++;
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of chunks()) {
        parser.feed(decoder.decode(chunk, { stream: true }));
      }
      return count;
    };
  },
};

const parse = await parsers[parser]();
const results = [];
for (let pass = 0; pass < Number(passes); pass++) {
  const started = performance.now();
  const events = await parse();
  results.push({ events, milliseconds: performance.now() - started });
}
console.log(JSON.stringify(results));
