import { ByteBuffer } from "./byte_buffer.ts";

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** How much is kept of a line that is too long, in bytes. */
const HEAD_BYTES = 1024;

/** A line that is too long, or not UTF-8. */
interface UnreadableLine {
  readonly fault: "too long" | "not UTF-8";
  /**
   * What can be read of it, with U+FFFD for bad bytes: of a line that is not UTF-8
   * everything, of one that is too long its first KiB.
   */
  readonly text: string;
}

/** A line, without its newline. */
export type Line = string | UnreadableLine;

/** One or more lines, each with its newline, or a line that cannot be read. */
type WholeText = string | UnreadableLine;

export interface ReadLinesOptions {
  /** The most bytes that a line may have. */
  readonly maxBytes: number;
  /**
   * Whether a line that is not UTF-8 is a fault. By default its bad bytes become U+FFFD.
   */
  readonly isStrict?: boolean;
}

/**
 * Reads UTF-8 line by line, without newlines (`\n` or `\r\n`). A leading byte order mark
 * is dropped. In place of a line that is too long, or cannot be decoded, comes an
 * {@linkcode UnreadableLine}; the lines after it are not affected.
 *
 * @param source The bytes, cut into chunks anywhere. Each chunk need be valid
 * only until the next one is requested.
 */
export async function* readEachLine(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions,
): AsyncGenerator<Line> {
  const whole = new WholeLines(options);
  for await (const chunk of source) {
    for (const lines of whole.endingIn(chunk)) yield* split(lines);
  }
  const last = whole.atEnd();
  if (last !== undefined) yield* split(last);
}

function split(lines: WholeText): readonly Line[] {
  if (typeof lines !== "string") return [lines];
  const all = lines.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
}

/**
 * Reads UTF-8 by whole lines, as {@linkcode readEachLine} does, chunk by chunk. An
 * unfinished line is kept as bytes, as long as it is within the limit: a decoder and a
 * splitter that get pieces of it may look at all of it again for each piece, which is
 * quadratic.
 */
export class WholeLines {
  readonly #maxBytes: number;
  readonly #isStrict: boolean;
  readonly #unfinished: ByteBuffer;
  /** Whether the unfinished line is too long, and its rest is skipped. */
  #isTooLong = false;
  /** Whether this is the first line, where a byte order mark is dropped. */
  #isFirst = true;

  constructor({ maxBytes, isStrict = false }: ReadLinesOptions) {
    this.#maxBytes = maxBytes;
    this.#isStrict = isStrict;
    this.#unfinished = new ByteBuffer({ maxBytes: maxBytes + 1 }); // and a newline
  }

  /**
   * The lines that end in a chunk: texts of one or more lines, each with its newline,
   * and lines that cannot be read; possibly none.
   */
  endingIn(chunk: Uint8Array): WholeText[] {
    const length = this.#unfinished.length + chunk.length;
    if (this.#isTooLong || length > this.#maxBytes) {
      return cutAfterNewlines(chunk).flatMap((bytes) => this.#add(bytes));
    }
    // Only its own end is joined to the unfinished line: the rest would be copied.
    const isBegun = this.#unfinished.length > 0;
    const first = isBegun ? chunk.indexOf(NEWLINE) + 1 : 0;
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const lines: WholeText[] = [];
    if (first > 0) lines.push(...this.#finish(chunk.subarray(0, first)));
    if (end > first) lines.push(...this.#finish(chunk.subarray(first, end)));
    if (end < chunk.length) this.#unfinished.add(chunk.subarray(end));
    return lines;
  }

  /** The last line, if it has no newline. */
  atEnd(): Line | undefined {
    if (this.#isTooLong || this.#unfinished.length === 0) return undefined;
    return this.#finish(new Uint8Array())[0];
  }

  /** Takes whole lines, or a part of one. */
  #add(bytes: Uint8Array): readonly WholeText[] {
    const isWhole = bytes.at(-1) === NEWLINE;
    const text = isWhole ? bytes.subarray(0, -1) : bytes;
    const isFull = this.#unfinished.length + text.length > this.#maxBytes;
    if (this.#isTooLong || isFull) return this.#skip(text, isWhole);
    if (isWhole) return this.#finish(bytes);
    this.#unfinished.add(bytes);
    return [];
  }

  /** Skips a line that is too long, or a part of one. */
  #skip(text: Uint8Array, isWhole: boolean): readonly WholeText[] {
    const isNew = !this.#isTooLong;
    this.#isTooLong = !isWhole;
    if (!isNew) return [];
    this.#isFirst = false;
    const begin = this.#unfinished.bytes.slice(0, HEAD_BYTES);
    this.#unfinished.clear();
    const head = [...begin, ...text.subarray(0, HEAD_BYTES - begin.length)];
    const start = LENIENT.decode(Uint8Array.from(head));
    return [{ fault: "too long", text: start }];
  }

  /** Decodes the unfinished line with these bytes, which end it; more may follow it. */
  #finish(bytes: Uint8Array): readonly WholeText[] {
    if (this.#unfinished.length === 0) return this.#decode(bytes);
    this.#unfinished.add(bytes);
    const lines = this.#decode(this.#unfinished.bytes);
    this.#unfinished.clear();
    return lines;
  }

  #decode(bytes: Uint8Array): readonly WholeText[] {
    const hasMark = this.#isFirst &&
      BYTE_ORDER_MARK.every((b, i) => bytes[i] === b);
    this.#isFirst = false;
    const text = hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
    return decodeLines(text, this.#isStrict);
  }
}

function cutAfterNewlines(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    parts.push(bytes.subarray(start, end));
    start = end;
  }
  return parts;
}

// By default, a decoder drops a byte order mark at the start of each line.
const STRICT = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes whole lines: one by one if some are not UTF-8, else all together. */
function decodeLines(
  bytes: Uint8Array,
  isStrict: boolean,
): readonly WholeText[] {
  if (!isStrict) return [LENIENT.decode(bytes)];
  try {
    return [STRICT.decode(bytes)];
  } catch {
    const lines = cutAfterNewlines(bytes);
    if (lines.length > 1) {
      return lines.flatMap((line) => decodeLines(line, true));
    }
    const text = LENIENT.decode(bytes).replace(/\r?\n$/, "");
    return [{ fault: "not UTF-8", text }];
  }
}
