/** `performance.now()` with jumps, for what takes minutes. Timers are not touched. */
export class SkewedClock implements Disposable {
  readonly #now = performance.now;
  #ahead = 0;

  constructor() {
    performance.now = () => this.#now.call(performance) + this.#ahead;
  }

  /** Lets so many milliseconds pass at once. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  [Symbol.dispose](): void {
    performance.now = this.#now;
  }
}
