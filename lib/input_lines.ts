/**
 * Splits standard input into lines, with a limit on the length of one line.
 *
 * It does not use web streams: loading them would take most of the time in which
 * an editor gets its first answer.
 *
 * @module
 */

/** The most UTF-8 bytes that one line of a stream or of input may hold. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** The initial buffer for a line, in bytes. */
const CAPACITY = 64 * 1024;

/** Options of {@linkcode readInputLines}. */
export interface ReadInputLinesOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxBytes?: number;
}

/**
 * Splits UTF-8 into lines at `\n` and `\r\n`. A byte order mark at the start of a
 * line is dropped, invalid bytes become U+FFFD, and text after the last line end
 * is a line of its own.
 *
 * At most `maxBytes` of a line are held in memory.
 *
 * @param source The bytes, cut into chunks anywhere.
 * @param options The limit.
 * @returns The lines, without their ends; `undefined` in place of one that is
 * over the limit.
 */
export async function* readInputLines(
  source: AsyncIterable<Uint8Array>,
  options: ReadInputLinesOptions = {},
): AsyncGenerator<string | undefined> {
  const { maxBytes = MAX_LINE_BYTES } = options;
  const line = new PartialLine(maxBytes);
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      line.add(chunk.subarray(start, end));
      if (newline >= 0) yield line.take();
      start = end + 1;
    }
  }
  if (!line.isEmpty) yield line.take();
}

/** The bytes of an unfinished line. */
class PartialLine {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  #held = new Uint8Array(CAPACITY);
  #length = 0; // of the line; a line over the limit is not stored

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(bytes: Uint8Array): void {
    const start = this.#length;
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) return this.#shrink();
    if (this.#length > this.#held.length) {
      const longer = new Uint8Array(Math.max(this.#length, 2 * start));
      longer.set(this.#held.subarray(0, start));
      this.#held = longer;
    }
    this.#held.set(bytes, start);
  }

  take(): string | undefined {
    const length = this.#length;
    this.#length = 0;
    if (length > this.#maxBytes) return undefined;
    const text = this.#decoder.decode(this.#held.subarray(0, length));
    this.#shrink();
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }

  #shrink(): void {
    if (this.#held.length > CAPACITY) this.#held = new Uint8Array(CAPACITY);
  }
}
