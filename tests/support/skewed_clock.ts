/** Lets `performance.now()` jump, to test limits of minutes. Timers are not changed. */
export class SkewedClock implements Disposable {
  readonly #now = performance.now;
  #ahead = 0;

  constructor() {
    performance.now = () => this.#now.call(performance) + this.#ahead;
  }

  /** Advances the clock by a number of milliseconds. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}
