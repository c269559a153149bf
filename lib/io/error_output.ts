import { withoutCommands } from "../text.ts";
import { LineWriter } from "./line_writer.ts";
import type { ByteSink } from "./standard_streams.ts";

/** How long a write to standard output waits for standard error, in milliseconds. */
const ORDER_LIMIT = 1000;

/**
 * Standard error, written in order and in the background: a reader that stops reading
 * delays neither signals nor the end of the program.
 */
export class ErrorOutput {
  readonly #output: LineWriter;
  readonly #hasRunner: boolean;
  /** The last write to standard output on the same terminal. */
  #reply: Promise<void> | undefined;

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
  write(text: string, kind?: "progress"): void {
    if (text === "" || kind && this.#output.hasBacklog) return;
    this.#output.write(this.#hasRunner ? withoutCommands(text) : text);
  }

  /** Waits until everything is written or cannot be, at most `limit` milliseconds. */
  async flush(limit: number): Promise<void> {
    await this.#output.flushWithin(limit);
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
        await reply;
      },
    };
  }
}
