const NEWLINE = 0x0a;

/** The part of a line that is kept, in bytes. */
const HEAD_BYTES = 4096;

/** Finds lines in bytes, at next to no cost however long they are. */
export class LineScanner {
  readonly #onLine: (head: Uint8Array) => void;
  readonly #head = new Uint8Array(HEAD_BYTES);
  #length = 0;

  /** @param onLine Called with the first 4 KiB of each line that is not blank. */
  constructor(onLine: (head: Uint8Array) => void) {
    this.#onLine = onLine;
  }

  /** Scans the next bytes. The argument of {@linkcode onLine} is valid until it returns. */
  scan(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (newline < 0 || this.#length > 0) {
        const part = chunk.subarray(start, end)
          .subarray(0, HEAD_BYTES - this.#length);
        this.#head.set(part, this.#length);
        this.#length += part.length;
        if (newline >= 0) this.#onLine(this.#head.subarray(0, this.#length));
      } else if (end > start) {
        this.#onLine(chunk.subarray(start, Math.min(end, start + HEAD_BYTES)));
      }
      if (newline >= 0) this.#length = 0;
      start = end + 1;
    }
  }
}
