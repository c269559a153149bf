import { startAlarm, startTimeout } from "./timeout.ts";

/** How often a clock looks whether the process ran, in milliseconds. */
const TICK = 5_000;

/** A tick that is later than this shows that the process did not run, in milliseconds. */
const LATE = 1_000;

/**
 * A clock that stands still while the process is stopped or the machine sleeps: the
 * clocks of the system go on then, and say nothing about a peer. It measures while it is
 * not disposed of. A stop or a sleep may count for up to 6 s.
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
  #stopTick = this.#startTick();
  #tickedAt: number = performance.now();
  /** The time up to the last tick. */
  #counted = 0;
  /** The functions that stop its timers; `undefined` when it is disposed of. */
  #stops: Set<() => void> | undefined = new Set();

  /** The milliseconds since the start in which the process ran. */
  get now(): number {
    return this.#counted + Math.min(this.#sinceTick, TICK + LATE);
  }

  /**
   * Calls a function after a time on this clock, as {@linkcode startTimeout} does. A time
   * on a clock that is disposed of never ends.
   *
   * @returns A function that stops the timer.
   */
  startTimeout(milliseconds: number, onExpired: () => void): () => void {
    const stops = this.#stops;
    if (stops === undefined) return () => {};

    const expire = () => {
      stops.delete(stop);
      onExpired();
    };
    const stopTimer = startTimeout(milliseconds, expire, {
      now: () => this.now,
      isLimit: true,
    });
    const stop = () => {
      stopTimer();
      stops.delete(stop);
    };
    stops.add(stop);
    return stop;
  }

  [Symbol.dispose](): void {
    this.#stopTick();
    for (const stop of this.#stops ?? []) stop();
    this.#stops = undefined;
  }

  get #sinceTick(): number {
    return performance.now() - this.#tickedAt;
  }

  #startTick(): () => void {
    return startAlarm(TICK, () => {
      this.#counted = this.now;
      this.#tickedAt = performance.now();
      this.#stopTick = this.#startTick();
    });
  }
}
