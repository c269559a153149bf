/**
 * Splits bytes into lines, with a limit on the length of one line.
 *
 * @module
 */

import type { TextLineStream } from "@std/streams/text-line-stream";
import { ByteBuffer } from "./byte_buffer.ts";

/** The most UTF-8 bytes that one line of a stream or of input may hold: 16 MiB. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** The initial buffer for the bytes of an unfinished line. */
const CAPACITY = 1024;

/** The most bytes of an unfinished line that wait to be decoded. */
const PIECE_BYTES = 64 * 1024;

// These stand for lines that cannot be read. No decoder yields a lone surrogate, so
// no line that was read ends with one of them.
const TOO_LONG = "\ud800";
const NOT_UTF8 = "\ud801";

/** Why a line could not be read. */
export type LineFault = "too long" | "not UTF-8";

export interface ReadLinesOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxBytes?: number;
  /**
   * Whether a line that is not UTF-8 is a fault. By default its invalid bytes
   * become U+FFFD.
   */
  readonly isStrict?: boolean;
}

/**
 * Splits UTF-8 into lines at `\n` and `\r\n`. A leading byte order mark is
 * dropped. Of several blank lines in a row at most a few are yielded, so that a
 * flood of them costs next to nothing.
 *
 * At most `maxBytes` of a line are held in memory. A line that is longer, or that
 * cannot be decoded, is replaced by a text for which {@linkcode lineFault} tells
 * why; the lines after it are not affected.
 *
 * @param source The bytes, cut into chunks anywhere. Each chunk need be valid
 * only until the next one is requested.
 * @yields For each chunk, the lines that end in it, without line ends; possibly none.
 * @returns The last line, if the source does not end with a line end.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): AsyncGenerator<readonly string[], string | undefined> {
  const whole = new WholeLines(options);
  const splitter = new Splitter();
  for await (const chunk of source) {
    const text = whole.decode(chunk);
    yield text === "" ? [] : await splitter.split(withoutFloods(text));
  }
  return whole.end();
}

/** Like {@linkcode readLines}, but yields one line at a time, the last one too. */
export async function* readEachLine(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): AsyncGenerator<string> {
  const last = yield* flat(readLines(source, options));
  if (last !== undefined) yield withoutReturn(last);
}

/** Why a line from {@linkcode readLines} could not be read; `undefined` if it could. */
export function lineFault(line: string): LineFault | undefined {
  if (line.endsWith(TOO_LONG)) return "too long";
  return line.endsWith(NOT_UTF8) ? "not UTF-8" : undefined;
}

async function* flat<T, R>(
  batches: AsyncGenerator<readonly T[], R>,
): AsyncGenerator<T, R> {
  try {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return value;
      yield* value;
    }
  } finally {
    await batches.return(undefined as R);
  }
}

/** A text whose runs of three or more blank lines are shortened to one. */
function withoutFloods(text: string): string {
  return text.includes("\n\n\n\n") || text.includes("\n\r\n\r\n\r\n")
    ? text.replace(/(?:\r?\n){4,}/g, "\n\n")
    : text;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    count++;
  }
  return count;
}

/** The most lines of a text that is split without a `TextLineStream`. */
const FEW_LINES = 8;

/**
 * Splits whole lines by a `TextLineStream`. It is loaded with the first text of
 * many lines: loading web streams takes 2 to 7 ms, while a user waits for the first
 * answer, and awaiting each line of a chunk of one event costs more than the rest.
 */
class Splitter {
  #input: WritableStreamDefaultWriter<string> | undefined;
  #output: ReadableStreamDefaultReader<string> | undefined;

  /** Splits a text that ends with a line end. */
  async split(text: string): Promise<readonly string[]> {
    let left = countNewlines(text);
    if (left <= FEW_LINES) {
      return text.slice(0, -1).split("\n").map(withoutReturn);
    }
    if (this.#input === undefined || this.#output === undefined) {
      const { writable, readable } = await newTextLineStream();
      this.#input = writable.getWriter();
      this.#output = readable.getReader();
    }
    // If this fails, the read below fails.
    this.#input.write(text).catch(() => {});
    const lines: string[] = [];
    // Counted, because reading one line too many would wait for the next chunk.
    for (; left > 0; left--) {
      const { value = "" } = await this.#output.read();
      lines.push(value);
    }
    return lines;
  }
}

async function newTextLineStream(): Promise<TextLineStream> {
  const { TextLineStream } = await import("@std/streams/text-line-stream");
  return new TextLineStream();
}

/**
 * Decodes UTF-8 by whole lines, and puts a mark in place of each line that cannot
 * be read.
 *
 * An unfinished line is held here, so that the splitter sees each character once:
 * TextLineStream 1.1.1 and older scan the whole unfinished line again for each
 * chunk, which is quadratic. It is decoded in pieces, because one large buffer
 * takes longer to grow and to decode.
 */
class WholeLines {
  readonly #maxBytes: number;
  readonly #isStrict: boolean;
  readonly #undecoded = new ByteBuffer(CAPACITY);
  #decoder: TextDecoder;
  #atStart = true; // at the start of the stream, where a byte order mark is dropped
  // Of the unfinished line:
  #pieces: string[] = [];
  #length = 0; // in bytes
  #isTooLong = false; // then its mark was yielded, and the rest is skipped
  #isInvalid = false; // not UTF-8

  constructor(
    { maxBytes = MAX_LINE_BYTES, isStrict = false }: ReadLinesOptions,
  ) {
    this.#maxBytes = maxBytes;
    this.#isStrict = isStrict;
    this.#decoder = this.#newDecoder();
  }

  /** The lines that end in this chunk, with their line ends. */
  decode(chunk: Uint8Array): string {
    const needsCheck = this.#isStrict || this.#isTooLong ||
      this.#length + chunk.length > this.#maxBytes;
    if (needsCheck) return this.#decodeOneByOne(chunk);
    const end = chunk.indexOf(NEWLINE) < 0
      ? 0 // found sooner than by lastIndexOf()
      : chunk.lastIndexOf(NEWLINE) + 1;
    const text = end === 0 ? "" : this.#finish(chunk.subarray(0, end));
    this.#hold(chunk.subarray(end));
    return text;
  }

  /** The last line, if it has no line end. */
  end(): string | undefined {
    if (this.#length === 0 || this.#isTooLong) return undefined;
    return this.#finish(new Uint8Array());
  }

  /** Like {@linkcode decode}, but checks each line. */
  #decodeOneByOne(chunk: Uint8Array): string {
    let text = "";
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      const bytes = chunk.subarray(start, end);
      if (!this.#isTooLong) {
        if (this.#length + bytes.length > this.#maxBytes) {
          this.#drop();
          this.#isTooLong = true;
          text += `${TOO_LONG}\n`;
        } else {
          this.#hold(bytes);
          if (newline >= 0) text += `${this.#finish(new Uint8Array())}\n`;
        }
      }
      if (newline >= 0) this.#isTooLong = false;
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

  /** The unfinished line, continued by these bytes, or its mark. */
  #finish(bytes: Uint8Array): string {
    let text;
    if (this.#length === 0) {
      text = this.#decode(bytes);
    } else {
      this.#undecoded.add(bytes);
      this.#pieces.push(this.#decode(this.#undecoded.take()));
      text = this.#pieces.join("");
    }
    if (this.#isInvalid) text = NOT_UTF8;
    this.#isInvalid = false;
    this.#pieces = [];
    this.#length = 0;
    this.#atStart = false;
    return text;
  }

  /** Forgets the unfinished line. */
  #drop(): void {
    this.#undecoded.take();
    this.#decoder = this.#newDecoder(); // forgets a character that is cut
    this.#pieces = [];
    this.#length = 0;
    this.#isInvalid = false;
    this.#atStart = false;
  }

  #decode(bytes: Uint8Array, options?: TextDecodeOptions): string {
    let text;
    try {
      text = this.#decoder.decode(bytes, options);
    } catch {
      this.#decoder = this.#newDecoder();
      this.#isInvalid = true;
      return "";
    }
    if (!this.#atStart || text === "") return text;
    this.#atStart = false;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  #newDecoder(): TextDecoder {
    // One that drops byte order marks would drop one at the start of each line.
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: this.#isStrict });
  }
}
