/**
 * Reads the bytes of an HTTP answer's body.
 *
 * @module
 */

/**
 * The size of the read buffer in bytes: it starts small, and grows while the body
 * fills it. The largest size is also the read-ahead limit.
 */
const FEWEST_BYTES = 1024;
const MOST_BYTES = 64 * 1024;

/**
 * The bytes of an answer's body as they arrive. Each chunk is valid until the
 * next one is requested. While a chunk is in use, at most 64 KiB are read ahead;
 * they become one chunk, because each chunk has a cost. Leaving the generator
 * drops the rest.
 *
 * An abort ends the body here, and not only through `fetch`: the link from the
 * signal of a `fetch` to its body can be garbage-collected.
 *
 * @throws The signal's reason, if it is aborted.
 */
export function readBody(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = (response.body ?? new Blob().stream())
    .getReader({ mode: "byob" });
  const cancel = () => void reader.cancel().catch(() => {}); // It failed before.
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  return (async function* () {
    try {
      const ahead = new ReadAhead(reader);
      for (;;) {
        const chunk = await ahead.take();
        signal.throwIfAborted();
        if (chunk === undefined) return;
        yield chunk;
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  })();
}

/** The bytes of a body that have been read and not yet taken. */
class ReadAhead {
  #bytes = new Uint8Array(FEWEST_BYTES);
  #length = 0;
  #spare = new Uint8Array(FEWEST_BYTES);
  readonly #reading: Promise<void>;
  #hasEnded = false;
  #arrival: PromiseWithResolvers<void> | undefined; // set while take() waits for bytes
  #room: PromiseWithResolvers<void> | undefined; // set while reading waits for room

  constructor(reader: ReadableStreamBYOBReader) {
    this.#reading = this.#read(reader).finally(() => {
      this.#hasEnded = true;
      this.#arrival?.resolve();
    });
    this.#reading.catch(() => {}); // take() reports the error
  }

  /**
   * All bytes that have arrived, or the next ones to arrive; `undefined` at the
   * end. Valid until the next call. Rejects if the body failed.
   */
  async take(): Promise<Uint8Array | undefined> {
    if (this.#length === 0 && !this.#hasEnded) {
      this.#arrival = Promise.withResolvers();
      await this.#arrival.promise;
      this.#arrival = undefined;
    }
    if (this.#length === 0) {
      await this.#reading;
      return undefined;
    }
    const chunk = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#length = 0;
    this.#room?.resolve();
    return chunk;
  }

  /** Reads the body to its end, whenever there is room. */
  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    // Without a buffer, fetch allocates 64 KiB for each chunk, however small.
    let buffer = new Uint8Array(FEWEST_BYTES);
    for (;;) {
      const { done, value } = await reader.read(buffer);
      if (done) return;
      if (this.#length + value.length > MOST_BYTES) {
        this.#room = Promise.withResolvers();
        await this.#room.promise;
        this.#room = undefined;
      }
      this.#add(value);
      this.#arrival?.resolve();
      const isFull = value.length === value.buffer.byteLength;
      buffer = isFull && value.length < MOST_BYTES
        ? new Uint8Array(2 * value.length)
        : new Uint8Array(value.buffer);
    }
  }

  #add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      longer.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = longer;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }
}
