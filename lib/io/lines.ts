/**
 * Splits bytes into lines, with a limit on the length of one line.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { MAX_LINE_BYTES } from "../input_lines.ts";

const NEWLINE = 0x0a;

/** The initial buffer for the bytes of an unfinished line. */
const CAPACITY = 1024;

/** The most bytes of an unfinished line that wait to be decoded. */
const PIECE_BYTES = 64 * 1024;

// No decoder yields a lone surrogate, so no decoded line ends with this text.
const CUT = "\ud800";

/** Options of {@linkcode readLines}. */
export interface ReadLinesOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxBytes?: number;
}

/**
 * Splits UTF-8 into lines at `\n` and `\r\n`. A leading byte order mark is
 * dropped, and invalid bytes become U+FFFD.
 *
 * At most `maxBytes` of a line are held in memory. A longer line is replaced by a
 * text for which {@linkcode isTooLong} is true; the lines after it are not
 * affected.
 *
 * @param source The bytes, cut into chunks anywhere. Each chunk need be valid
 * only until the next one is requested.
 * @param options The line limit.
 * @yields For each chunk, the lines that end in it, without line ends; possibly none.
 * @returns The last line, if the source does not end with a line end.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): AsyncGenerator<readonly string[], string | undefined> {
  const { maxBytes = MAX_LINE_BYTES } = options;
  const whole = new WholeLines(maxBytes);
  const splitter = new TextLineStream();
  const input = splitter.writable.getWriter();
  const output = splitter.readable.getReader();
  for await (const chunk of source) {
    const text = whole.decode(chunk);
    const lines: string[] = [];
    if (text !== "") {
      // If this fails, the read below fails.
      input.write(text).catch(() => {});
      // Counted, because reading one line too many would wait for the next chunk.
      for (let left = countNewlines(text); left > 0; left--) {
        const { value = "" } = await output.read();
        lines.push(value);
      }
    }
    yield lines;
  }
  return whole.end();
}

/** Whether a line from {@linkcode readLines} replaces one that was over the limit. */
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

/**
 * Decodes UTF-8 by whole lines, and replaces a line over the limit by
 * {@linkcode CUT}.
 *
 * An unfinished line is held here, so that the splitter sees each character once:
 * TextLineStream 1.1.1 and older scan the whole unfinished line again for each
 * chunk, which is quadratic. It is decoded in pieces, because one large buffer
 * takes longer to grow and to decode.
 */
class WholeLines {
  readonly #maxBytes: number;
  // A decoder that drops byte order marks would drop one at the start of each line.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #undecoded = new Bytes();
  // Of the unfinished line:
  #pieces: string[] = [];
  #length = 0; // in bytes
  #atStart = true; // at the start of the stream, where a byte order mark is dropped
  #skipping = false; // whether the unfinished line is over the limit

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, with their line ends. */
  decode(chunk: Uint8Array): string {
    if (this.#skipping || this.#length + chunk.length > this.#maxBytes) {
      return this.#decodeOneByOne(chunk);
    }
    const end = chunk.indexOf(NEWLINE) < 0
      ? 0 // found sooner than by lastIndexOf()
      : chunk.lastIndexOf(NEWLINE) + 1;
    const text = end === 0 ? "" : this.#finish(chunk.subarray(0, end));
    this.#hold(chunk.subarray(end));
    return text;
  }

  /** The last line, if it has no line end. */
  end(): string | undefined {
    if (this.#length === 0) return undefined;
    return this.#finish(new Uint8Array());
  }

  /** Like {@linkcode decode}, but checks the length of each line. */
  #decodeOneByOne(chunk: Uint8Array): string {
    let text = "";
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (!this.#skipping) {
        if (this.#length + end - start > this.#maxBytes) {
          this.#skipping = true;
          this.#drop();
          text += `${CUT}\n`;
        } else if (newline >= 0) {
          text += this.#finish(chunk.subarray(start, end + 1));
        } else {
          this.#hold(chunk.subarray(start));
        }
      }
      if (newline >= 0) this.#skipping = false;
      start = end + 1;
    }
    return text;
  }

  /** Adds bytes to the unfinished line. */
  #hold(bytes: Uint8Array): void {
    this.#length += bytes.length;
    this.#undecoded.add(bytes);
    if (this.#undecoded.length < PIECE_BYTES) return;
    this.#pieces.push(this.#decode(this.#undecoded.take(), { stream: true }));
  }

  /** The unfinished line, continued by these bytes. */
  #finish(bytes: Uint8Array): string {
    if (this.#length === 0) return this.#decode(bytes);
    this.#undecoded.add(bytes);
    this.#pieces.push(this.#decode(this.#undecoded.take()));
    const text = this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return text;
  }

  /** Forgets the unfinished line. */
  #drop(): void {
    this.#undecoded.take();
    this.#decoder.decode(); // forgets a character that is cut
    this.#pieces = [];
    this.#length = 0;
    this.#atStart = false;
  }

  #decode(bytes: Uint8Array, options?: TextDecodeOptions): string {
    const text = this.#decoder.decode(bytes, options);
    if (!this.#atStart || text === "") return text;
    this.#atStart = false;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

/** A growing byte buffer. */
class Bytes {
  #bytes = new Uint8Array(CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      longer.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = longer;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** Returns all bytes, valid until the next {@linkcode add}, and empties the buffer. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}
