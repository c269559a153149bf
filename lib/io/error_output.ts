/**
 * Standard error, written in the background: a reader that stops reading delays
 * neither signals nor the end of the program.
 *
 * @module
 */

import { LineWriter } from "./line_writer.ts";
import type { ByteSink } from "./standard_streams.ts";

/** How long a write to standard output waits for standard error, in milliseconds. */
const ORDER_LIMIT = 1000;

/** Writes text to standard error, in order, without making callers wait. */
export class ErrorOutput {
  readonly #output: LineWriter;

  /** @param sink The destination. If it fails, all further text is dropped. */
  constructor(sink: ByteSink) {
    this.#output = new LineWriter(sink);
  }

  /**
   * Queues text.
   *
   * @param text The text, line ends and escape codes included.
   * @param kind `"progress"` for text that is dropped while more than 1 MiB
   * waits. All other text is kept.
   */
  write(text: string, kind?: "progress"): void {
    if (kind === "progress" && this.#output.hasBacklog) return;
    this.#output.write(text);
  }

  /**
   * Waits until everything is written or cannot be written any more.
   *
   * @param limit The longest wait, in milliseconds.
   */
  async flush(limit: number): Promise<void> {
    await this.#output.flushWithin(limit);
  }

  /**
   * Keeps the order between standard error and another stream: both may be the
   * same terminal, pipe or file.
   *
   * @returns A sink that writes to `sink` after the text that was queued here. If
   * standard error takes longer than a second, it is not waited for until it has
   * caught up.
   */
  inOrder(sink: ByteSink): ByteSink {
    let isLate = false;
    return {
      write: async (bytes) => {
        isLate &&= !this.#output.isIdle;
        if (!isLate) isLate = !await this.#output.flushWithin(ORDER_LIMIT);
        await sink.write(bytes);
      },
    };
  }
}
