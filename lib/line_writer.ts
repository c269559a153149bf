/**
 * Lines to bytes: whole, in order, and no more in memory than needed.
 *
 * @module
 */

import type { ByteSink } from "./standard_streams.ts";

/** How many characters may wait before those who can wait have to. */
const ROOM = 256 * 1024;

/** How many characters are worth a write. */
const ENOUGH = 16 * 1024;

/** What is encoded and written at once. */
const PIECE_BYTES = 256 * 1024;

/** Queues lines and writes what has gathered. Many tasks can write at once. */
export class LineWriter {
  readonly #sink: ByteSink;
  readonly #encoder = new TextEncoder();
  readonly #failed = Promise.withResolvers<never>();
  #piece: Uint8Array<ArrayBuffer> | undefined;
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
   * Queues lines, each as soon as there is room for it, until the signal is
   * aborted.
   *
   * While few are being written it waits for that, too: what follows the lines
   * gathers meanwhile, and comes in one piece with the next call.
   *
   * @param lines Asked for one at a time.
   */
  async writeInTurn(
    lines: Iterable<string>,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#queued > 0 && this.#queued < ENOUGH) await this.#progress.promise;
    for (const line of lines) {
      // Not by room(), which would let all who wait pass before the first writes.
      while (this.#queued >= ROOM) await this.#progress.promise;
      if (signal.aborted) return;
      this.write(line);
    }
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
        const lines = this.#lines;
        const length = this.#queued;
        this.#lines = [];
        await this.#writeLines(lines);
        this.#queued -= length;
        this.#advance();
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

  /** Writes lines in pieces: their text as a whole would take memory and time. */
  async #writeLines(lines: readonly string[]): Promise<void> {
    const piece = this.#piece ??= new Uint8Array(PIECE_BYTES);
    let filled = 0;
    for (const line of lines) {
      for (let start = 0; start < line.length;) {
        const { read, written } = this.#encoder.encodeInto(
          line.slice(start),
          piece.subarray(filled),
        );
        start += read;
        filled += written;
        if (start < line.length) {
          await this.#sink.write(piece.subarray(0, filled));
          filled = 0;
        }
      }
    }
    await this.#sink.write(piece.subarray(0, filled));
  }

  #advance(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }
}
