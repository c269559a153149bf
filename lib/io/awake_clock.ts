import { PUNCTUAL, startAlarm } from "./timeout.ts";

/** How often a clock looks whether the process ran, in milliseconds. */
const TICK = 5_000;

/** A tick that is later than this shows that the process did not run, in milliseconds. */
const LATE = 1_000;

/**
 * A clock that stands still while the process is stopped or the machine sleeps: the
 * clocks of the system continue, and say nothing about a peer. It runs until it is
 * disposed of. At most 6 s of a stop or a sleep are counted.
 *
 * @example
 * ```ts
 * using clock = new AwakeClock();
 * const begun = clock.now;
 * await chunk;
 * const silence = clock.now - begun;
 * ```
 */
export class AwakeClock implements Disposable {
  /** Called every 5 s, but not at the first moment after a stop or a sleep. */
  onTick: () => void = () => {};
  #stopTick = this.#startTick();
  #tickedAt: number = performance.now();
  /** The time up to the last tick. */
  #counted = 0;
  /** Whether the last tick was late. */
  #wasLate = false;

  /** The milliseconds since the start in which the process ran. */
  get now(): number {
    return this.#counted + Math.min(this.#sinceTick, TICK + LATE);
  }

  [Symbol.dispose](): void {
    this.#stopTick();
  }

  get #sinceTick(): number {
    return performance.now() - this.#tickedAt;
  }

  #startTick(): () => void {
    return startAlarm(TICK, () => {
      const isLate = this.#sinceTick > TICK + PUNCTUAL;
      // What has arrived meanwhile is read first, once: a peer may keep the process busy.
      const isTooSoon = isLate && !this.#wasLate;
      this.#wasLate = isLate;
      this.#counted = this.now;
      this.#tickedAt = performance.now();
      this.#stopTick = this.#startTick();
      if (!isTooSoon) this.onTick();
    });
  }
}
