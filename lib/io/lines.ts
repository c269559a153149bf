import { ByteBuffer } from "./byte_buffer.ts";

/** The most UTF-8 bytes that one line of a stream or of input may hold: 16 MiB. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The error for a prompt that is longer, whatever it came from. */
export const PROMPT_TOO_LONG = "The prompt is larger than 16 MiB";

const NEWLINE = 0x0a;

// Each mark replaces a line that cannot be read. The marks are lone surrogates: decoded
// text never holds one, so a mark cannot be mistaken for a line of the source.
const TOO_LONG = "\ud800";
const NOT_UTF8 = "\ud801";

export interface ReadLinesOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxBytes?: number;
  /** Whether a line that is not UTF-8 is a fault. By default its bad bytes become U+FFFD. */
  readonly isStrict?: boolean;
  /**
   * Gets the bytes of each line that cannot be read. What it keeps of them comes before
   * the mark, when the line has ended. By default the mark of a line that is too long
   * comes at once, and alone.
   */
  readonly refused?: RefusedLine | undefined;
}

/** What is kept of a line that cannot be read, without line ends. */
export interface RefusedLine {
  add(bytes: Uint8Array): void;
  /** Returns it, and begins the next line. */
  take(): string;
}

/**
 * Splits UTF-8 into lines at `\n` and `\r\n`. A leading byte order mark is dropped. A
 * line that is too long, or cannot be decoded, is replaced by a text for which
 * {@linkcode lineFault} tells why; the lines after it are not affected.
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
    yield await splitter.split(whole.decode(chunk));
  }
  return whole.end();
}

/** Like {@linkcode readLines}, but yields one line at a time, the last one too. */
export async function* readEachLine(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions = {},
): AsyncGenerator<string> {
  const whole = new WholeLines(options);
  const splitter = new Splitter();
  for await (const chunk of source) {
    yield* await splitter.split(whole.decode(chunk));
  }
  const last = whole.end();
  if (last !== undefined) yield withoutReturn(last);
}

/** Why a line from {@linkcode readLines} could not be read; `undefined` if it could. */
export function lineFault(line: string): "too long" | "not UTF-8" | undefined {
  if (line.endsWith(TOO_LONG)) return "too long";
  return line.endsWith(NOT_UTF8) ? "not UTF-8" : undefined;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** The most lines of a text that is split without a `TextLineStream`. */
const FEW_LINES = 150;

/**
 * Splits whole lines: many by a `TextLineStream`, and few without one. Loading it takes
 * 2 to 7 ms, which a user would wait for at the first answer; and if a chunk holds one
 * event, awaiting each of its lines would cost more than everything else.
 */
class Splitter {
  #stream: ReturnType<typeof openLineStream> | undefined;

  /** Splits a text that is empty or ends with a line end. */
  async split(text: string): Promise<readonly string[]> {
    let at = 0;
    for (let few = 0; few < FEW_LINES && at < text.length; few++) {
      at = text.indexOf("\n", at) + 1;
    }
    const all = () => text.split("\n").slice(0, -1).map(withoutReturn);
    if (at === text.length) return all();
    const stream = await (this.#stream ??= openLineStream());
    if (stream === undefined) return all();
    // If this fails, the read below fails.
    stream.input.write(text).catch(() => {});
    const lines: string[] = [];
    // Counted, because reading one line too many would wait for the next chunk.
    for (at = 0; (at = text.indexOf("\n", at) + 1) > 0;) {
      const { value = "" } = await stream.output.read();
      lines.push(value);
    }
    return lines;
  }
}

/** Opens a `TextLineStream`, unless an update has replaced the file since the start. */
function openLineStream() {
  return import("@std/streams/text-line-stream").then(({ TextLineStream }) => {
    const { writable, readable } = new TextLineStream();
    return { input: writable.getWriter(), output: readable.getReader() };
  }, () => undefined);
}

/**
 * Decodes UTF-8 by whole lines, and puts a mark in place of each line that cannot be
 * read. An unfinished line is held here: TextLineStream 1.1.1 and older scan all of it
 * again for each chunk, which is quadratic.
 */
class WholeLines {
  readonly #maxBytes: number;
  readonly #isStrict: boolean;
  readonly #refused: RefusedLine | undefined;
  readonly #decoder: TextDecoder;
  readonly #unfinished = new ByteBuffer();
  /** Whether the unfinished line is too long, and its rest is skipped. */
  #isTooLong = false;
  /** Whether this is the first line, where a byte order mark is dropped. */
  #isFirst = true;

  constructor(
    { maxBytes = MAX_LINE_BYTES, isStrict = false, refused }: ReadLinesOptions,
  ) {
    this.#refused = refused;
    this.#maxBytes = maxBytes;
    this.#isStrict = isStrict;
    // By default, a decoder drops a byte order mark at the start of each line.
    this.#decoder = new TextDecoder("utf-8", {
      ignoreBOM: true,
      fatal: isStrict,
    });
  }

  /** The lines that end in this chunk, with their line ends. */
  decode(chunk: Uint8Array): string {
    const needsCheck = this.#isStrict || this.#isTooLong ||
      this.#unfinished.length + chunk.length > this.#maxBytes;
    if (needsCheck) return this.#decodeOneByOne(chunk);
    const end = chunk.indexOf(NEWLINE) < 0
      ? 0 // found sooner than by lastIndexOf()
      : chunk.lastIndexOf(NEWLINE) + 1;
    const text = end === 0 ? "" : this.#finish(chunk.subarray(0, end));
    this.#unfinished.add(chunk.subarray(end));
    return text;
  }

  end(): string | undefined {
    if (this.#isTooLong) {
      return this.#refused && this.#refused.take() + TOO_LONG;
    }
    if (this.#unfinished.length === 0) return undefined;
    return this.#finish(new Uint8Array());
  }

  #decodeOneByOne(chunk: Uint8Array): string {
    let text = "";
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      const bytes = chunk.subarray(start, end);
      const length = this.#unfinished.length + bytes.length;
      if (!this.#isTooLong && length > this.#maxBytes) {
        this.#unfinished.drain((begun) => this.#refused?.add(begun));
        this.#isFirst = false;
        this.#isTooLong = true;
        if (this.#refused === undefined) text += `${TOO_LONG}\n`;
      }
      if (this.#isTooLong) {
        this.#refused?.add(bytes);
        this.#isTooLong = newline < 0;
        if (!this.#isTooLong && this.#refused !== undefined) {
          text += `${this.#refused.take()}${TOO_LONG}\n`;
        }
      } else if (newline < 0) {
        this.#unfinished.add(bytes);
      } else {
        text += `${this.#finish(bytes)}\n`;
      }
      start = end + 1;
    }
    return text;
  }

  /** Decodes the unfinished line, which ends with these bytes, or returns its mark. */
  #finish(bytes: Uint8Array): string {
    let all = bytes;
    if (this.#unfinished.length > 0) {
      this.#unfinished.add(bytes);
      all = this.#unfinished.take();
    }
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    try {
      const text = this.#decoder.decode(all);
      return isFirst && text.startsWith("\ufeff") ? text.slice(1) : text;
    } catch {
      this.#refused?.add(all);
      return (this.#refused?.take() ?? "") + NOT_UTF8;
    }
  }
}
