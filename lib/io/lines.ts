import { ByteBuffer } from "./byte_buffer.ts";
import type { Turnstile } from "./turnstile.ts";

/** A longer line is decoded in its turn. */
const LARGE_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A line that is too long, or not UTF-8. */
export class UnreadableLine {
  readonly fault: "too long" | "not UTF-8";
  /**
   * What can be read of it: of a line that is not UTF-8 everything, with U+FFFD for the
   * bad bytes, of one that is too long what a {@linkcode RefusedLine} kept.
   */
  readonly text: string;

  constructor(fault: "too long" | "not UTF-8", text = "") {
    this.fault = fault;
    this.text = text;
  }
}

/** The text of one or more lines, or a line that cannot be read. */
export type Line = string | UnreadableLine;

export interface ReadLinesOptions {
  /** The most bytes that a line may hold. */
  readonly maxBytes: number;
  /**
   * Whether a line that is not UTF-8 is a fault. By default its bad bytes become U+FFFD.
   */
  readonly isStrict?: boolean;
  /**
   * Gets the bytes of each line that is too long. Such a line is then yielded when it
   * has ended, with what is kept of it; by default at once.
   */
  readonly refused?: RefusedLine | undefined;
  /**
   * Lines of more than 1 MiB are decoded one at a time, because text takes more memory
   * than bytes. The turn ends when the next lines are requested.
   */
  readonly turnstile?: Turnstile | undefined;
}

/** What is kept of a line that is too long, without line ends. */
export interface RefusedLine {
  add(bytes: Uint8Array): void;
  /** Returns it, and begins the next line. */
  take(): string;
}

/**
 * Reads UTF-8 by whole lines. A leading byte order mark is dropped. In place of a line
 * that is too long, or cannot be decoded, comes an {@linkcode UnreadableLine}; the lines
 * after it are not affected.
 *
 * @param source The bytes, cut into chunks anywhere. Each chunk need be valid
 * only until the next one is requested.
 * @yields For each chunk, the lines that end in it: texts of one or more lines, each
 * with its line end, and lines that cannot be read; possibly none.
 * @returns The last line, if the source does not end with a line end.
 */
export async function* readWholeLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions,
): AsyncGenerator<readonly Line[], Line | undefined> {
  const { isStrict = false, turnstile } = options;
  const whole = new WholeLines(options);
  // A function of its own: a suspended generator would keep the bytes of the last line.
  const linesIn = (chunk: Uint8Array) => {
    const lines: Line[] = [];
    for (const part of whole.endingIn(chunk)) {
      lines.push(...decodeLines(part, isStrict));
    }
    return lines;
  };

  for await (const chunk of source) {
    const isLarge = whole.length + chunk.length > LARGE_BYTES;
    using _turn = isLarge ? await turnstile?.enter() : undefined;
    yield linesIn(chunk);
  }
  const last = whole.atEnd();
  return last && decodeLines(last, isStrict)[0];
}

/**
 * Like {@linkcode readWholeLines}, but yields one line at a time, without its line end
 * (`\n` or `\r\n`), the last one too.
 */
export async function* readEachLine(
  source: AsyncIterable<Uint8Array>,
  options: ReadLinesOptions,
): AsyncGenerator<Line> {
  const batches = readWholeLines(source, options);
  try {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) {
        if (value !== undefined) yield* split(value);
        return;
      }
      for (const lines of value) yield* split(lines);
    }
  } finally {
    await batches.return(undefined);
  }
}

function split(lines: Line): readonly Line[] {
  if (lines instanceof UnreadableLine) return [lines];
  const all = lines.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
}

/**
 * Finds the lines that end in each chunk. An unfinished line is held here, as long as it
 * is within the limit: TextLineStream 1.1.1 and older scan all of it again for each
 * chunk, which is quadratic.
 */
class WholeLines {
  readonly #maxBytes: number;
  readonly #refused: RefusedLine | undefined;
  readonly #unfinished: ByteBuffer;
  /** Whether the unfinished line is too long, and its rest is skipped. */
  #isTooLong = false;
  /** Whether this is the first line, where a byte order mark is dropped. */
  #isFirst = true;

  constructor({ maxBytes, refused }: ReadLinesOptions) {
    this.#maxBytes = maxBytes;
    this.#refused = refused;
    this.#unfinished = new ByteBuffer({ maxBytes: maxBytes + 1 }); // and a newline
  }

  /** The bytes of the line that has not ended yet. */
  get length(): number {
    return this.#unfinished.length;
  }

  /** Yields one or more whole lines at once, valid until the next step. */
  *endingIn(chunk: Uint8Array): Generator<Uint8Array | UnreadableLine> {
    const length = this.#unfinished.length + chunk.length;
    if (this.#isTooLong || length > this.#maxBytes) {
      for (const bytes of cutAfterNewlines(chunk)) yield* this.#add(bytes);
      return;
    }

    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) yield this.#finish(chunk.subarray(0, end));
    this.#unfinished.add(chunk.subarray(end));
  }

  /** The last line, if it has no line end. */
  atEnd(): Uint8Array | UnreadableLine | undefined {
    if (this.#isTooLong) return this.#refused && this.#refuse(this.#refused);
    if (this.#unfinished.length === 0) return undefined;
    return this.#finish(new Uint8Array());
  }

  /** Takes a line, or a part of one. */
  *#add(bytes: Uint8Array): Generator<Uint8Array | UnreadableLine> {
    const isWhole = bytes.at(-1) === NEWLINE;
    const text = isWhole ? bytes.subarray(0, -1) : bytes;

    const length = this.#unfinished.length + text.length;
    if (!this.#isTooLong && length > this.#maxBytes) {
      this.#isTooLong = true;
      this.#isFirst = false;
      const begun = this.#unfinished.takeAll();
      this.#refused?.add(begun);
      if (this.#refused === undefined) yield new UnreadableLine("too long");
    }

    if (this.#isTooLong) {
      this.#refused?.add(text);
      this.#isTooLong = !isWhole;
      if (isWhole && this.#refused) yield this.#refuse(this.#refused);
    } else if (isWhole) {
      yield this.#finish(bytes);
    } else {
      this.#unfinished.add(bytes);
    }
  }

  #refuse(refused: RefusedLine): UnreadableLine {
    return new UnreadableLine("too long", refused.take());
  }

  /** The unfinished line with these bytes, which end it. */
  #finish(bytes: Uint8Array): Uint8Array {
    let all = bytes;
    if (this.#unfinished.length > 0) {
      this.#unfinished.add(bytes);
      all = this.#unfinished.takeAll();
    }

    const hasMark = this.#isFirst &&
      BYTE_ORDER_MARK.every((b, i) => all[i] === b);
    this.#isFirst = false;
    return hasMark ? all.subarray(BYTE_ORDER_MARK.length) : all;
  }
}

function* cutAfterNewlines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    yield bytes.subarray(start, end);
    start = end;
  }
}

// By default, a decoder drops a byte order mark at the start of each line.
const STRICT = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes whole lines: one by one if some are not UTF-8, else all together. */
function decodeLines(
  bytes: Uint8Array | UnreadableLine,
  isStrict: boolean,
): readonly Line[] {
  if (bytes instanceof UnreadableLine) return [bytes];
  if (!isStrict) return [LENIENT.decode(bytes)];
  try {
    return [STRICT.decode(bytes)];
  } catch {
    const lines = [...cutAfterNewlines(bytes)];
    if (lines.length > 1) {
      return lines.flatMap((line) => decodeLines(line, true));
    }
    const text = LENIENT.decode(bytes).replace(/\r?\n$/, "");
    return [new UnreadableLine("not UTF-8", text)];
  }
}
