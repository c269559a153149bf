/** The size of the first block, in bytes. */
const FIRST_BYTES = 1024;

/** The size up to which each block is as large as all before it, in bytes. */
const BLOCK_BYTES = 64 * 1024;

/** Gathers bytes in blocks: nothing is copied again while more come. */
export class ByteBuffer {
  readonly #full: Uint8Array<ArrayBuffer>[] = [];
  #block = new Uint8Array(FIRST_BYTES);
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > this.#block.length) {
      this.#full.push(this.#block.subarray(0, this.#filled));
      const size = Math.min(this.#length, BLOCK_BYTES);
      this.#block = new Uint8Array(Math.max(size, bytes.length));
      this.#filled = 0;
    }
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.#length += bytes.length;
  }

  /** Hands all bytes on, block by block, and empties the buffer. */
  drain(take: (bytes: Uint8Array) => void): void {
    for (const block of this.#full.splice(0)) take(block);
    take(this.#block.subarray(0, this.#filled));
    this.#filled = this.#length = 0;
  }

  /** Returns all bytes, valid until the next {@linkcode add}, and empties the buffer. */
  take(): Uint8Array<ArrayBuffer> {
    let taken = this.#block.subarray(0, this.#filled);
    if (this.#full.length > 0) {
      const last = taken;
      taken = new Uint8Array(this.#length);
      let at = 0;
      for (const block of [...this.#full.splice(0), last]) {
        taken.set(block, at);
        at += block.length;
      }
    }
    this.#filled = this.#length = 0;
    return taken;
  }
}
