/** The size of the first buffer, in bytes. */
const FIRST_BYTES = 1024;

/** Up to this size, a buffer that is full is replaced by one of twice its size. */
const SMALL_BYTES = 64 * 1024;

/** By how much a larger one grows, in bytes. */
const STEP_BYTES = 1024 * 1024;

/**
 * Gathers bytes up to a limit. More than 64 KiB are kept in memory that grows in its
 * place and can be given back at once: ten lines of 15 MB in blocks, joined when they are
 * read, left 150 MiB of memory that was free and never returned to the system.
 */
export class ByteBuffer {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(FIRST_BYTES);
  /** The memory of more than 64 KiB. */
  #large: ArrayBuffer | undefined;
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
    if (length > this.#bytes.length) this.#growTo(length);
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** Empties the buffer, and frees its memory if that is large. */
  clear(): void {
    this.#length = 0;
    if (this.#large === undefined) return;
    this.#large.resize(0);
    this.#large = undefined;
    this.#bytes = new Uint8Array(FIRST_BYTES);
  }

  #growTo(length: number): void {
    if (length <= SMALL_BYTES) {
      const size = Math.min(2 * this.#bytes.length, SMALL_BYTES);
      this.#moveTo(new Uint8Array(Math.max(size, length)));
      return;
    }
    const steps = Math.ceil(length / STEP_BYTES);
    const size = Math.min(steps * STEP_BYTES, Math.max(this.#maxBytes, length));
    if (this.#large === undefined) {
      this.#large = new ArrayBuffer(size, { maxByteLength: this.#maxBytes });
      this.#moveTo(new Uint8Array(this.#large)); // It grows with its memory.
    } else {
      this.#large.resize(size);
    }
  }

  #moveTo(bytes: Uint8Array<ArrayBuffer>): void {
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
