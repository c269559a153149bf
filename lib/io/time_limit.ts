import { Deadline } from "./deadline.ts";
import { startTimeout } from "./timeout.ts";

/** How long one write may take after the time was over, in milliseconds. */
const WRITE_LIMIT = 5_000;

/** How often that is looked at, in milliseconds. */
const CHECK_PAUSE = 1_000;

/**
 * A time limit for an operation, and for the writing of what it shows. When the time is
 * over, its {@linkcode signal} ends the operation; from then on, 5 s are left for
 * writing.
 */
export class TimeLimit implements Disposable {
  readonly #deadline: Deadline | undefined;
  #stopCheck = () => {};

  /** @param milliseconds The time for the operation; none is no limit. */
  constructor(milliseconds: number | undefined) {
    if (milliseconds === undefined) return;
    this.#deadline = new Deadline(milliseconds);
  }

  /** Aborted with a `TimeIsOver` when the time is over; none if there is no limit. */
  get signal(): AbortSignal | undefined {
    return this.#deadline?.signal;
  }

  /**
   * Waits for a task that ends by itself at the time limit but for what it writes.
   * Returns whether it has ended: if not, nobody has read for 5 s.
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
    const check = (before: unknown, since: number) => {
      this.#stopCheck = startTimeout(CHECK_PAUSE, () => {
        const [now, current] = [performance.now(), written()];
        const isSame = current !== undefined && current === before;
        if (isSame && now - since >= WRITE_LIMIT) unread.resolve(false);
        else check(current, isSame ? since : now);
      });
    };
    this.signal?.addEventListener("abort", () => {
      check(written(), performance.now());
    });
    return await Promise.race([task.then(() => true), unread.promise]);
  }

  [Symbol.dispose](): void {
    this.#deadline?.[Symbol.dispose]();
    this.#stopCheck();
  }
}
