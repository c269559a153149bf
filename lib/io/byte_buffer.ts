/** The size of the first block, in bytes. */
const FIRST_BYTES = 1024;

/** The size up to which each block is as large as all before it, in bytes. */
const BLOCK_BYTES = 64 * 1024;

/** Gathers bytes in blocks: nothing is copied again while more come. */
export class ByteBuffer {
  readonly #full: Uint8Array<ArrayBuffer>[] = [];
  #block = new Uint8Array(FIRST_BYTES);
  /** How much of the last block is filled. */
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > this.#block.length) {
      this.#full.push(this.#filledPart);
      const size = Math.min(this.#length, BLOCK_BYTES);
      this.#block = new Uint8Array(Math.max(size, bytes.length));
      this.#filled = 0;
    }
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.#length += bytes.length;
  }

  /**
   * Returns all bytes, block by block, and empties the buffer. They are valid until the
   * next {@linkcode add}.
   */
  takeBlocks(): readonly Uint8Array<ArrayBuffer>[] {
    const blocks = [...this.#full.splice(0), this.#filledPart];
    this.#filled = 0;
    this.#length = 0;
    return blocks;
  }

  /** The same, joined. */
  takeAll(): Uint8Array<ArrayBuffer> {
    const { length } = this;
    const blocks = this.takeBlocks();
    const [first] = blocks;
    if (blocks.length === 1 && first !== undefined) return first;

    const all = new Uint8Array(length);
    let at = 0;
    for (const block of blocks) {
      all.set(block, at);
      at += block.length;
    }
    return all;
  }

  get #filledPart(): Uint8Array<ArrayBuffer> {
    return this.#block.subarray(0, this.#filled);
  }
}
