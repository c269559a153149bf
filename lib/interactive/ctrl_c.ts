/** After a drop or a reply, Ctrl-C at an empty prompt does nothing for so long, in milliseconds. */
const QUIET = 1_000;

/** Two Ctrl-C at an empty prompt leave within this time, in milliseconds. */
const PATIENCE = 2_000;

/**
 * Decides what Ctrl-C does at an empty prompt: two in a row leave. One that comes
 * just after a run or a reply was meant for that, and does nothing.
 */
export class CtrlC {
  readonly #now: () => number;
  #settledAt = -Infinity;
  #announcedAt = -Infinity;

  /** @param now A clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that something was dropped, or that a reply was written. */
  settle(): void {
    this.#settledAt = this.#now();
    this.#announcedAt = -Infinity;
  }

  /** Records a Ctrl-C that cleared a text: it is not the first of two. */
  clear(): void {
    this.#announcedAt = -Infinity;
  }

  /** Returns what a Ctrl-C at an empty prompt does. */
  press(): "nothing" | "announce" | "leave" {
    const now = this.#now();
    if (now - this.#settledAt < QUIET) return "nothing";
    if (now - this.#announcedAt < PATIENCE) return "leave";
    this.#announcedAt = now;
    return "announce";
  }
}
