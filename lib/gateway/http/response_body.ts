/**
 * Reads an HTTP answer's body: its bytes as they arrive, or a limited text.
 *
 * @module
 */

import { ByteBuffer, shareEventLoop, startTimer, Timeout } from "../../io.ts";

/** The size of the read buffer, and the read-ahead limit, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** No byte came while the reader was waiting for one. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";
}

export interface ReadBodyOptions {
  /** Aborting it ends the body. */
  readonly signal: AbortSignal;
  /** The limit on silence, in milliseconds, counted while a chunk is awaited. By default none. */
  readonly idle?: number;
}

/**
 * The bytes of an answer's body as they arrive. Each chunk is valid until the
 * next one is requested. While a chunk is in use, at most 64 KiB are read ahead;
 * they become one chunk, because each chunk has a cost. Leaving the generator
 * drops the rest.
 *
 * An abort ends the body here, and not only through `fetch`: the link from the
 * signal of a `fetch` to its body can be garbage-collected.
 *
 * @throws {SilenceError} If nothing arrives for too long.
 * @throws The signal's reason, if it is aborted.
 */
export function readBody(
  response: Response,
  options: ReadBodyOptions,
): AsyncGenerator<Uint8Array> {
  const { signal, idle = Infinity } = options;
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
    /** Drops what has not been read. */
    readonly drop: () => void;
  },
  limit: number,
): Promise<void> {
  const stop = startTimer(limit, drop);
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The reply has been received: errors after it do not matter.
  }
  stop();
  drop();
}

/** The text of an answer, and whether it was cut. */
export interface LimitedText {
  readonly text: string;
  readonly cut: boolean;
}

export interface ReadAnswerTextOptions {
  /** The most bytes that are read; the rest is dropped. */
  readonly maxBytes: number;
  /** Whether a body that breaks or is aborted yields the text that came before. */
  readonly mayBreak?: boolean;
}

/** Reads the body of an answer as UTF-8. */
export async function readAnswerText(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, mayBreak = false }: ReadAnswerTextOptions,
): Promise<LimitedText> {
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  try {
    for await (const chunk of chunks) {
      text += decoder.decode(chunk.subarray(0, left), { stream: true });
      if (chunk.length > left) return { text, cut: true };
      left -= chunk.length;
    }
  } catch (error) {
    if (!mayBreak) throw error;
    return { text, cut: true };
  }
  return { text: text + decoder.decode(), cut: false };
}

/** The bytes of a body that have been read and not yet taken. */
class ReadAhead {
  readonly #idle: number;
  readonly #reading: Promise<void>;
  #filling = new ByteBuffer(1024);
  #taken = new ByteBuffer(1024);
  #hasEnded = false;
  #arrival: PromiseWithResolvers<void> | undefined; // set while take() waits for bytes
  #room: PromiseWithResolvers<void> | undefined; // set while reading waits for room

  constructor(reader: ReadableStreamBYOBReader, idle: number) {
    this.#idle = idle;
    this.#reading = this.#read(reader).finally(() => {
      this.#hasEnded = true;
      this.#arrival?.resolve();
    });
    this.#reading.catch(() => {}); // take() reports the error
  }

  /**
   * All bytes that have arrived, or the next ones to arrive; `undefined` at the
   * end. Valid until the next call. Rejects if the body failed or fell silent.
   */
  async take(): Promise<Uint8Array | undefined> {
    if (this.#filling.length === 0 && !this.#hasEnded) {
      const arrival = this.#arrival = Promise.withResolvers<void>();
      const silence = new Timeout(this.#idle, () => {
        arrival.reject(new SilenceError());
      });
      try {
        await arrival.promise;
      } finally {
        silence.clear();
        this.#arrival = undefined;
      }
    }
    if (this.#filling.length === 0) {
      await this.#reading;
      return undefined;
    }
    [this.#filling, this.#taken] = [this.#taken, this.#filling];
    this.#room?.resolve();
    return this.#taken.take();
  }

  /** Reads the body to its end, whenever there is room. */
  async #read(reader: ReadableStreamBYOBReader): Promise<void> {
    // Without a buffer, fetch allocates 64 KiB for each chunk, however small.
    let buffer = new Uint8Array(BUFFER_BYTES);
    for (;;) {
      const { done, value } = await reader.read(buffer);
      if (done) return;
      if (this.#filling.length + value.length > BUFFER_BYTES) {
        this.#room = Promise.withResolvers();
        await this.#room.promise;
        this.#room = undefined;
      }
      this.#filling.add(value);
      this.#arrival?.resolve();
      buffer = new Uint8Array(value.buffer);
    }
  }
}
