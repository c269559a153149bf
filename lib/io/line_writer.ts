import type { LineInParts } from "../text.ts";
import { shareEventLoop } from "./event_loop.ts";
import { Notifier } from "./notifier.ts";
import type { ByteSink } from "./standard_streams.ts";
import { startTimeout, within } from "./timeout.ts";

/** As long as this much text is queued, producers wait, in UTF-16 code units. */
const FULL = 256 * 1024;

/** More queued text than this is a backlog, in UTF-16 code units. */
const BACKLOG = 1024 * 1024;

const PIECE_BYTES = 128 * 1024;

/**
 * Short lines are joined to texts of at most this length, in UTF-16 code units, because
 * encoding each line separately takes longer.
 */
const JOINED = 16 * 1024;

/**
 * How long lines are gathered after a write, in milliseconds. A write wakes a thread of
 * Deno, which takes as long as everything else that is done for an event.
 */
const PAUSE = 1;

/** This much queued text is written without a pause, in UTF-16 code units. */
const ENOUGH = 64 * 1024;

/** Queues lines and writes them in batches. Many tasks can write at once. */
export class LineWriter {
  readonly #sink: ByteSink;
  readonly #encoder = new TextEncoder();
  readonly #failed = Promise.withResolvers<never>();
  #piece: Uint8Array<ArrayBuffer> | undefined;
  readonly #progress = new Notifier();
  #writing: Promise<void> | undefined;
  /** The queued lines; `undefined` after a failed write. */
  #lines: (string | LineInParts)[] | undefined = [];
  /** The text that was ever queued, and the part of it that is written. */
  #accepted = 0;
  #written = 0;
  /** Whether somebody waits for what is queued: then it is written without a pause. */
  #isAwaited = false;
  #pauseEnd = -Infinity;
  #endPause = () => {};

  constructor(sink: ByteSink) {
    this.#sink = sink;
    this.#failed.promise.catch(() => {}); // Callers that need the reason await `failed`.
  }

  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  get isIdle(): boolean {
    return this.#queued === 0;
  }

  get #queued(): number {
    return this.#accepted - this.#written;
  }

  /** Whether more than 1 MiB (of UTF-16 code units) waits to be written. */
  get hasBacklog(): boolean {
    return this.#queued > BACKLOG;
  }

  /**
   * Whether 256 KiB (of UTF-16 code units) or more waits to be written. A producer that
   * can wait writes after `while (writer.isFull) await writer.progress`: each one looks
   * again, so that not all of them write at once.
   */
  get isFull(): boolean {
    return this.#queued >= FULL;
  }

  /** Resolves when more of what is queued is written, or a write has failed. */
  get progress(): Promise<void> {
    return this.#progress.next;
  }

  /** Queues one or more lines at once, each with its `\n` at the end. */
  write(line: string | LineInParts): void {
    this.gather(line);
    this.#hurry();
  }

  /**
   * Queues a line that nobody waits for. If such lines were written less than a
   * millisecond ago, it is written with those that come until that millisecond is over.
   */
  gather(line: string | LineInParts): void {
    if (this.#lines === undefined) return;
    const last = this.#lines.at(-1);
    const isJoined = typeof last === "string" && typeof line === "string" &&
      last.length + line.length <= JOINED;
    if (isJoined) this.#lines[this.#lines.length - 1] = last + line;
    else this.#lines.push(line);
    this.#accepted += line.length;
    if (this.#queued >= ENOUGH) this.#endPause();
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when the lines that are queued now are written, or a write has failed. */
  async written(): Promise<void> {
    const end = this.#accepted;
    this.#hurry();
    while (this.#written < end) await this.#progress.next;
  }

  /** Resolves when everything that was queued is written; rejects if it cannot be. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) {
      this.#hurry();
      await this.#writing;
    }
    if (this.#lines === undefined) await this.failed;
  }

  /**
   * Waits at most `limit` milliseconds until everything that was queued is written, or
   * a write has failed. Returns whether that was so.
   */
  async flushWithin(limit: number): Promise<boolean> {
    const flushed = this.flush().then(() => true, () => true);
    return this.isIdle || await within(limit, flushed, () => false);
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#lines !== undefined && this.#lines.length > 0) {
        await undefined; // Lines that are queued in the same task are one write.
        const left = this.#pauseEnd - performance.now();
        const mayWait = !this.#isAwaited && this.#queued < ENOUGH;
        if (mayWait && left > 0) await this.#pause(left);
        const isAwaited = this.#isAwaited;
        this.#isAwaited = false;
        const lines = this.#lines;
        this.#lines = [];
        await this.#writeLines(lines);
        if (!isAwaited) this.#pauseEnd = performance.now() + PAUSE;
      }
    } catch (error) {
      this.#lines = undefined;
      this.#failed.reject(error);
      this.#written = this.#accepted;
      this.#progress.notify();
    }
    this.#writing = undefined;
  }

  /** Lets everything that is queued now be written without a pause. */
  #hurry(): void {
    this.#isAwaited = true;
    this.#endPause();
  }

  /** Waits so many milliseconds, or until somebody waits for what is queued. */
  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = startTimeout(milliseconds, resolve);
    this.#endPause = resolve;
    await promise;
    stop();
  }

  /** Encodes and writes lines in pieces: joining them would cost memory and time. */
  async #writeLines(lines: readonly (string | LineInParts)[]): Promise<void> {
    const piece = this.#piece ??= new Uint8Array(PIECE_BYTES);
    let filled = 0;
    let end = this.#written;
    const write = async () => {
      await this.#sink.write(piece.subarray(0, filled));
      filled = 0;
      this.#written = end;
      this.#progress.notify();
    };
    for (const line of lines) {
      const isWhole = typeof line === "string";
      for (const part of isWhole ? [line] : line) {
        for (let start = 0; start < part.length;) {
          const { read, written } = this.#encoder.encodeInto(
            part.slice(start),
            piece.subarray(filled),
          );
          start += read;
          filled += written;
          if (isWhole) end += read;
          if (start === part.length) continue;
          await write();
          // A pipe may take all of a long line without a turn of the event loop.
          await shareEventLoop();
        }
      }
      if (!isWhole) end += line.length;
    }
    await write();
  }
}
