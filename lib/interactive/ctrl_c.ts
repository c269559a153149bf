/**
 * How long after a drop or a reply Ctrl-C at an empty prompt does nothing, in
 * milliseconds.
 */
const QUIET = 1_000;

/** The longest time between two Ctrl-C at an empty prompt that leave, in milliseconds. */
const LEAVE_WITHIN = 2_000;

/**
 * Decides what Ctrl-C does: it drops the operation that is going on, or clears the
 * text at the prompt. At an empty prompt, two in a row leave. One that comes just
 * after a run or a reply was meant for that, and does nothing.
 */
export class CtrlC {
  #settledAt = -Infinity;
  #announcedAt = -Infinity;

  /** Records that something was dropped, or that a reply was written. */
  settle(): void {
    this.#settledAt = performance.now();
    this.#announcedAt = -Infinity;
  }

  /** Returns what a Ctrl-C does. One that clears a text is not the first of two. */
  press(
    isRunning: boolean,
    clear: () => boolean,
  ): "drop" | "clear" | "nothing" | "announce" | "leave" {
    if (isRunning) {
      this.settle();
      return "drop";
    }
    const now = performance.now();
    if (clear()) {
      this.#announcedAt = -Infinity;
      return "clear";
    }
    if (now - this.#settledAt < QUIET) return "nothing";
    if (now - this.#announcedAt < LEAVE_WITHIN) return "leave";
    this.#announcedAt = now;
    return "announce";
  }
}
