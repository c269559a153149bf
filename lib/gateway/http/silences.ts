import type { AwakeClock } from "../../io.ts";

/** No byte came while the reader was waiting for one. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super();
    this.milliseconds = milliseconds;
  }
}

/** A wait for the next byte. Dispose of it when the wait is over. */
export interface Silence extends Disposable {
  /** Throws if it was longer than its limit. */
  check(): void;
}

/**
 * The silences of a service: time in which the program ran and waited to read. While a
 * chunk is in use, and while the process is stopped, a service is not silent.
 */
export class Silences {
  readonly #clock: AwakeClock;
  readonly #limit: () => number;
  #longest = 0;
  #last = 0;

  /** @param limit The limit on the next silence, in milliseconds. */
  constructor(clock: AwakeClock, limit: () => number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** The longest one so far, in milliseconds. */
  get longest(): number {
    return this.#longest;
  }

  /** The last one. */
  get last(): number {
    return this.#last;
  }

  begin(onExceeded: () => void): Silence {
    const limit = this.#limit();
    const begun = this.#clock.now;
    let isExceeded = false;
    const stop = this.#clock.startTimeout(limit, () => {
      isExceeded = true;
      onExceeded();
    });
    return {
      check: () => {
        if (isExceeded) throw new SilenceError(limit);
      },
      [Symbol.dispose]: () => {
        stop();
        this.#last = this.#clock.now - begun;
        this.#longest = Math.max(this.#longest, this.#last);
      },
    };
  }
}
