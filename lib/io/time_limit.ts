import { Deadline } from "./deadline.ts";
import { startTimeout } from "./timeout.ts";

/** How long writing may take after the time was over, in milliseconds. */
const WRITE_LIMIT = 5_000;

/**
 * A time limit for an operation, and for the writing of what it shows. When the time is
 * over, its {@linkcode signal} ends the operation; from then on, 5 s are left for
 * writing.
 */
export class TimeLimit implements Disposable {
  readonly #deadline: Deadline;
  #stopWriting = () => {};

  /** @param milliseconds The time for the operation. By default there is no limit. */
  constructor(milliseconds = Infinity) {
    this.#deadline = new Deadline(milliseconds);
  }

  /** Aborted with a `TimeIsOver` when the time is over. */
  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  /**
   * Waits for a task that ends by itself at the time limit but for what it writes.
   * Returns whether it has ended: if not, nobody reads what it writes.
   *
   * @throws What the task rejects with.
   */
  async endsInTime(task: Promise<unknown>): Promise<boolean> {
    const unread = Promise.withResolvers<false>();
    this.signal.addEventListener("abort", () => {
      this.#stopWriting = startTimeout(
        WRITE_LIMIT,
        () => unread.resolve(false),
      );
    });
    return await Promise.race([task.then(() => true), unread.promise]);
  }

  [Symbol.dispose](): void {
    this.#deadline[Symbol.dispose]();
    this.#stopWriting();
  }
}
