/**
 * Bytes to lines, with a limit on the length of one line.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { MAX_LINE_BYTES } from "./byte_lines.ts";

const NEWLINE = 0x0a;

// No decoder yields a lone surrogate, so no line from outside ends like this.
const CUT = "\ud800";

/** Options of {@linkcode readLines}. */
export interface ReadLinesOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxBytes?: number;
}

/**
 * Splits UTF-8 into lines at `\n` and `\r\n`. A leading byte order mark is
 * dropped, invalid bytes become U+FFFD, and text behind the last line end is a
 * line of its own.
 *
 * At most `maxBytes` of a line are held in memory. What comes out in place of a
 * longer one satisfies {@linkcode isTooLong}; the lines after it are not
 * affected.
 *
 * @param source The bytes, cut into chunks anywhere.
 * @param options The limit.
 * @returns The lines, without their ends.
 */
export function readLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): ReadableStream<string> {
  const { maxBytes = MAX_LINE_BYTES } = options;
  return ReadableStream.from(decodeLimited(source, maxBytes))
    .pipeThrough(new TextLineStream());
}

/** Whether a line from {@linkcode readLines} stands for one that was over the limit. */
export function isTooLong(line: string): boolean {
  return line.endsWith(CUT);
}

async function* decodeLimited(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  // Deno's decoder would drop a mark at the start of each chunk.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let begun = false; // a mark would no longer be a leading one
  const decode = (bytes: Uint8Array) => {
    const text = decoder.decode(bytes, { stream: true });
    if (begun || text === "") return text;
    begun = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  };
  let held = 0; // bytes of the line that has not ended yet
  let skipping = false; // that line is over the limit, its rest is dropped
  for await (const chunk of source) {
    if (!skipping && held + chunk.length <= maxBytes) {
      const newline = chunk.lastIndexOf(NEWLINE);
      held = newline < 0 ? held + chunk.length : chunk.length - newline - 1;
      yield decode(chunk);
      continue;
    }
    let text = "";
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (!skipping) {
        held += end - start;
        skipping = held > maxBytes;
        text += skipping
          ? decoder.decode() + CUT + "\n"
          : decode(chunk.subarray(start, end + 1));
        begun ||= skipping;
      }
      if (newline >= 0) {
        held = 0;
        skipping = false;
      }
      start = end + 1;
    }
    yield text;
  }
  yield decoder.decode();
}
