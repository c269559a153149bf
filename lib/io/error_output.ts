import { type Shown, withoutCommands } from "../text.ts";
import { LineWriter } from "./line_writer.ts";
import type { ByteSink } from "./standard_streams.ts";
import { within } from "./timeout.ts";

/** How long a write to standard output waits for standard error, in milliseconds. */
const ORDER_LIMIT = 1000;

/** The output to a terminal, which may be slow, or take nothing any more. */
export interface TerminalOutput {
  write(text: string): void;
  /** Whether the terminal has taken everything. */
  readonly isWritten: boolean;
  /**
   * Waits until the terminal has taken everything, or nothing for a number of
   * milliseconds. Returns whether it has taken everything.
   */
  settle(limit: number): Promise<boolean>;
}

/**
 * Standard error, written in order and in the background: a reader that stops reading
 * delays neither signals nor the end of the program.
 */
export class ErrorOutput implements TerminalOutput {
  readonly #output: LineWriter;
  readonly #hasRunner: boolean;
  /** The write of a reply to the same terminal that is under way. */
  #reply: Promise<void> | undefined;
  /** Whether the terminal took nothing for too long: it is not waited for again. */
  #isStuck = false;

  /**
   * @param sink The destination. If it fails, all further text is dropped.
   * @param hasRunner Whether a runner of CI reads it, and obeys some lines.
   */
  constructor(sink: ByteSink, hasRunner = false) {
    this.#hasRunner = hasRunner;
    const write = async (bytes: Uint8Array) => {
      await this.#reply;
      await sink.write(bytes);
    };
    this.#output = new LineWriter({ write });
  }

  /** Queues text. Progress is dropped while more than 1 MiB waits. */
  write(text: Shown, kind?: "progress"): void {
    if (text === "" || kind && this.#output.hasBacklog) return;
    this.#output.write(this.#hasRunner ? withoutCommands(text) : text);
  }

  get isWritten(): boolean {
    return this.#output.isIdle && this.#reply === undefined;
  }

  async settle(limit: number): Promise<boolean> {
    while (!this.isWritten && !this.#isStuck) {
      // What is queued is written after the reply.
      const taken = this.#reply ?? this.#output.progress;
      this.#isStuck = await within(
        limit,
        taken.then(() => false),
        () => true,
      );
    }
    return !this.#isStuck;
  }

  /** Waits until everything is written or cannot be, at most `limit` milliseconds. */
  async flush(limit: number): Promise<void> {
    if (!this.#isStuck) await this.#output.flushWithin(limit);
  }

  /**
   * A sink that writes to `sink` after the text that was queued here: both may be the
   * same pipe or file. If standard error takes longer than a second, it is not waited
   * for until it has caught up. On one terminal, neither ever overtakes the other.
   */
  inOrder(sink: ByteSink, isOneTerminal: boolean): ByteSink {
    let isLate = false;
    const limit = isOneTerminal ? Infinity : ORDER_LIMIT;
    return {
      write: async (bytes) => {
        isLate &&= !this.#output.isIdle;
        if (!isLate) isLate = !await this.#output.flushWithin(limit);
        const reply = sink.write(bytes);
        if (isOneTerminal) this.#reply = reply.catch(() => {});
        try {
          await reply;
        } finally {
          this.#reply = undefined;
        }
      },
    };
  }
}
