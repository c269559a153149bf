/** By how much the memory grows, and what is kept of it, in bytes. */
const STEP_BYTES = 64 * 1024;

/**
 * Gathers bytes up to a limit, in memory that grows in its place and can be given back at
 * once: ten lines of 15 MB in blocks, joined when they are read, left 150 MiB of memory
 * that was free and never returned to the system.
 */
export class ByteBuffer {
  readonly #maxBytes: number;
  /** All of the memory, also when it has grown; none before the first bytes. */
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes, valid until the next {@linkcode add} or {@linkcode clear}. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** @throws {RangeError} If there are more bytes than the limit. */
  add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (this.#bytes.length === 0) {
      const memory = new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
      this.#bytes = new Uint8Array(memory);
    }
    if (length > this.#bytes.length) {
      const size = Math.ceil(length / STEP_BYTES) * STEP_BYTES;
      this.#bytes.buffer.resize(Math.min(size, this.#maxBytes));
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** Empties the buffer, and frees most of its memory. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > STEP_BYTES) this.#bytes.buffer.resize(STEP_BYTES);
  }
}
