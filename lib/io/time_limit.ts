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
  readonly #deadline: Deadline | undefined;
  /** Resolves when 5 s for writing have passed after the time limit. */
  readonly #writingIsOver = Promise.withResolvers<false>();
  #stopWriting = () => {};

  /** @param milliseconds The time for the operation; none is no limit. */
  constructor(milliseconds: number | undefined) {
    if (milliseconds === undefined) return;
    this.#deadline = new Deadline(milliseconds);
    this.#deadline.signal.addEventListener("abort", () => {
      const giveUp = () => this.#writingIsOver.resolve(false);
      this.#stopWriting = startTimeout(WRITE_LIMIT, giveUp);
    });
  }

  /** Aborted with a `TimeIsOver` when the time is over; none if there is no limit. */
  get signal(): AbortSignal | undefined {
    return this.#deadline?.signal;
  }

  /**
   * Waits for a task that ends by itself at the time limit but for what it writes.
   * Returns whether it ended before the time for writing was over: if not, nobody reads.
   *
   * @throws What the task rejects with.
   */
  async endsInTime(task: Promise<unknown>): Promise<boolean> {
    const ended = task.then(() => true);
    return await Promise.race([ended, this.#writingIsOver.promise]);
  }

  [Symbol.dispose](): void {
    this.#deadline?.[Symbol.dispose]();
    this.#stopWriting();
  }
}
