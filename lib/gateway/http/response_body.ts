import {
  ByteBuffer,
  Notifier,
  shareEventLoop,
  startTimeout,
} from "../../io.ts";

/** The size of the read buffer, and the read-ahead limit, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** No byte came while the reader was waiting for one. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super();
    this.milliseconds = milliseconds;
  }
}

export interface ReadBodyOptions {
  readonly signal: AbortSignal;
  /** The limit on silence, in milliseconds, counted while a chunk is awaited. By default none. */
  readonly idle?: () => number;
}

/**
 * The bytes of an answer's body as they arrive. Each chunk is valid until the next one
 * is requested. While a chunk is in use, at most 64 KiB are read ahead; they become one
 * chunk, because each chunk has a cost. Leaving the generator drops the rest. An abort
 * ends the body here, and not only through `fetch`: the link from the signal of a
 * `fetch` to its body can be garbage-collected.
 *
 * @throws {SilenceError} If nothing arrives for too long.
 * @throws The signal's reason, if it is aborted.
 */
export function readBody(
  response: Pick<Response, "body">,
  options: ReadBodyOptions,
): AsyncGenerator<Uint8Array> {
  const { signal, idle = () => Infinity } = options;
  const reader = (response.body ?? new Blob().stream())
    .getReader({ mode: "byob" });
  // It rejects if the body has failed, which the reader below reports.
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  return (async function* () {
    const ahead = new ReadAhead(reader, idle);
    try {
      for (;;) {
        const chunk = await ahead.take();
        signal.throwIfAborted();
        if (chunk === undefined) return;
        await shareEventLoop();
        yield chunk;
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  })();
}

/**
 * Reads a body on for at most `limit` milliseconds, and drops the rest, so that a
 * service that is about to end its stream does not see a broken connection.
 */
export async function drainBody(
  { chunks, drop }: {
    readonly chunks: AsyncGenerator<Uint8Array>;
    readonly drop: () => void;
  },
  limit: number,
): Promise<void> {
  const timer = setTimeout(drop, limit);
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The reply has been received: errors after it do not matter.
  }
  clearTimeout(timer);
  drop();
}

class ReadAhead {
  readonly #idle: () => number;
  readonly #reading: Promise<void>;
  #filling = new ByteBuffer();
  #taken = new ByteBuffer();
  #hasEnded = false;
  readonly #arrival = new Notifier();
  readonly #room = new Notifier();

  constructor(reader: ReadableStreamBYOBReader, idle: () => number) {
    this.#idle = idle;
    this.#reading = this.#read(reader).finally(() => {
      this.#hasEnded = true;
      this.#arrival.notify();
    });
    this.#reading.catch(() => {}); // take() reports the error
  }

  /**
   * All bytes that have arrived, or the next ones to arrive; `undefined` at the
   * end. Valid until the next call. Rejects if the body failed or fell silent.
   */
  async take(): Promise<Uint8Array | undefined> {
    if (this.#filling.length === 0 && !this.#hasEnded) {
      const limit = this.#idle();
      let isSilent = false;
      const stop = startTimeout(limit, () => {
        isSilent = true;
        this.#arrival.notify();
      });
      await this.#arrival.next;
      stop();
      if (isSilent) throw new SilenceError(limit);
    }
    if (this.#filling.length === 0) {
      await this.#reading;
      return undefined;
    }
    [this.#filling, this.#taken] = [this.#taken, this.#filling];
    this.#room.notify();
    return this.#taken.take();
  }

  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    // Without a buffer, fetch allocates 64 KiB for each chunk, however small.
    let buffer = new Uint8Array(BUFFER_BYTES);
    for (;;) {
      const { done, value } = await reader.read(buffer);
      if (done) return;
      if (this.#filling.length + value.length > BUFFER_BYTES) {
        await this.#room.next;
      }
      this.#filling.add(value);
      this.#arrival.notify();
      buffer = new Uint8Array(value.buffer);
    }
  }
}
