import { Deadline } from "./deadline.ts";
import { startTimeout } from "./timeout.ts";

/** How long writing may take after the time was over, in milliseconds. */
const WRITE_LIMIT = 5_000;

/** A write that takes longer than this has no reader then, in milliseconds. */
const UNREAD = 1_000;

/**
 * A time limit for an operation, and for the writing of what it shows. When the time is
 * over, its {@linkcode signal} ends the operation; from then on, 5 s are left for
 * writing.
 */
export class TimeLimit implements Disposable {
  readonly #deadline: Deadline;
  #stopCheck = () => {};

  /** @param milliseconds The time for the operation. By default there is no limit. */
  constructor(milliseconds = Infinity) {
    this.#deadline = new Deadline(milliseconds);
  }

  /** Aborted with a `TimeIsOver` when the time is over. */
  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  /**
   * Waits for a task that ends at the time limit, except for what it still writes.
   * Returns whether it has ended: if not, its output is read too slowly or not at all.
   *
   * @param written What is being written; `undefined` if nothing is. By default, that is
   * the task.
   * @throws What the task rejects with.
   */
  async endsInTime(
    task: Promise<unknown>,
    written: () => unknown = () => task,
  ): Promise<boolean> {
    const unread = Promise.withResolvers<false>();
    const check = (pause: number, before?: unknown) => {
      this.#stopCheck = startTimeout(pause, () => {
        const current = written();
        if (current !== undefined && current === before) unread.resolve(false);
        else check(UNREAD, current);
      });
    };
    this.signal.addEventListener("abort", () => check(WRITE_LIMIT - UNREAD));
    return await Promise.race([task.then(() => true), unread.promise]);
  }

  [Symbol.dispose](): void {
    this.#deadline[Symbol.dispose]();
    this.#stopCheck();
  }
}
