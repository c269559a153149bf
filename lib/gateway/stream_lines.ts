/**
 * Bytes to lines, with a limit on the length of one line.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { MAX_LINE_BYTES } from "../input_lines.ts";

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
 * @returns The lines, without their ends: for each chunk those that end in it,
 * even if there are none, and what is left when the source ends.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): AsyncGenerator<readonly string[]> {
  const { maxBytes = MAX_LINE_BYTES } = options;
  const decoder = new LimitedDecoder(maxBytes);
  const splitter = new TextLineStream();
  const input = splitter.writable.getWriter();
  const output = splitter.readable.getReader();
  for await (const chunk of source) {
    const text = decoder.decode(chunk);
    // What cannot be written cannot be read either, which tells it below.
    input.write(text).catch(() => {});
    const lines = [];
    // One by one, for who waits for more than there is waits for the next chunk.
    for (let left = countNewlines(text); left > 0; left--) {
      const { value = "" } = await output.read();
      lines.push(value);
    }
    yield lines;
  }
  input.write(decoder.end()).catch(() => {});
  input.close().catch(() => {});
  const { done, value } = await output.read();
  if (!done) yield [value];
}

/** Whether a line from {@linkcode readLines} stands for one that was over the limit. */
export function isTooLong(line: string): boolean {
  return line.endsWith(CUT);
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}

/** Decodes UTF-8 and replaces what is over the limit in a line by {@linkcode CUT}. */
class LimitedDecoder {
  readonly #maxBytes: number;
  // Deno's decoder would drop a mark at the start of each chunk.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #begun = false; // a mark would no longer be a leading one
  #held = 0; // bytes of the line that has not ended yet
  #skipping = false; // that line is over the limit, its rest is dropped

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  decode(chunk: Uint8Array): string {
    if (this.#skipping || this.#held + chunk.length > this.#maxBytes) {
      return this.#decodeLines(chunk);
    }
    const newline = chunk.lastIndexOf(NEWLINE);
    this.#held = newline < 0
      ? this.#held + chunk.length
      : chunk.length - newline - 1;
    return this.#decode(chunk);
  }

  /** The end of the text, if it was cut within a character. */
  end(): string {
    return this.#decoder.decode();
  }

  #decodeLines(chunk: Uint8Array): string {
    let text = "";
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (!this.#skipping) {
        this.#held += end - start;
        this.#skipping = this.#held > this.#maxBytes;
        text += this.#skipping
          ? this.#decoder.decode() + CUT + "\n"
          : this.#decode(chunk.subarray(start, end + 1));
        this.#begun ||= this.#skipping;
      }
      if (newline >= 0) {
        this.#held = 0;
        this.#skipping = false;
      }
      start = end + 1;
    }
    return text;
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (this.#begun || text === "") return text;
    this.#begun = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}
