import { Deadline } from "./deadline.ts";
import { startTimeout } from "./timeout.ts";

/** How long writing may take after the time was over, in milliseconds. */
const WRITE_LIMIT = 5_000;

/**
 * A time limit for an operation, and for the writing of what it shows. When the time is
 * over, its {@linkcode signal} ends the operation; from then on, 5 s are left for
 * writing.
 */
export class TimeLimit extends Deadline {
  #stopWriting = () => {};

  /** @param milliseconds The time for the operation. By default there is no limit. */
  constructor(milliseconds = Infinity) {
    super(milliseconds);
  }

  /**
   * Waits for a task that ends at the time limit, except for what it still writes.
   * Returns whether it has ended: if not, its output is read too slowly or not at all.
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

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#stopWriting();
  }
}
