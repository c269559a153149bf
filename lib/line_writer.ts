/**
 * Lines to bytes: whole, in order, and no more in memory than needed.
 *
 * @module
 */

import type { ByteSink } from "./standard_streams.ts";

/** How many characters may wait before those who can wait have to. */
const ROOM = 64 * 1024;

/**
 * Queues lines and writes what has gathered in one piece. Many
 * tasks can write at once.
 */
export class LineWriter {
  readonly #sink: ByteSink;
  readonly #encoder = new TextEncoder();
  readonly #failed = Promise.withResolvers<never>();
  #progress = Promise.withResolvers<void>();
  #writing: Promise<void> | undefined;
  #lines: string[] = [];
  #queued = 0;
  #broken = false;

  /** @param sink Where the lines go. */
  constructor(sink: ByteSink) {
    this.#sink = sink;
    this.#failed.promise.catch(() => {}); // who wants to know asks for it
  }

  /** Rejects with the reason when nothing can be written any more. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** The characters that wait to be written. */
  get queued(): number {
    return this.#queued;
  }

  /** Queues a line at once. It ends with its own `\n`. */
  write(line: string): void {
    if (this.#broken) return;
    this.#lines.push(line);
    this.#queued += line.length;
    this.#writing ??= this.#writeAll();
  }

  /**
   * Queues a line as soon as there is room for it, unless the signal is aborted
   * by then.
   */
  async writeInTurn(line: string, signal: AbortSignal): Promise<void> {
    // Not by room(), which would let all who wait pass before the first writes.
    while (this.#queued >= ROOM) await this.#progress.promise;
    if (!signal.aborted) this.write(line);
  }

  /** Resolves when fewer than `limit` characters wait to be written. */
  async room(limit: number): Promise<void> {
    while (this.#queued >= limit) await this.#progress.promise;
  }

  /**
   * Resolves when everything that was queued is written.
   *
   * @throws If it cannot be written.
   */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#broken) await this.failed;
  }

  async #writeAll(): Promise<void> {
    await undefined; // what is queued in the same moment goes along
    try {
      while (this.#lines.length > 0) {
        const text = this.#lines.join("");
        this.#lines = [];
        await this.#sink.write(this.#encoder.encode(text));
        this.#queued -= text.length;
        this.#advance();
        // More is on its way: what can be queued without waiting goes along.
        if (this.#lines.length > 0) {
          await new Promise<void>((resolve) => setImmediate(resolve));
        }
      }
    } catch (error) {
      this.#broken = true;
      this.#lines = [];
      this.#failed.reject(error);
      this.#queued = 0;
      this.#advance();
    }
    this.#writing = undefined;
  }

  #advance(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }
}
