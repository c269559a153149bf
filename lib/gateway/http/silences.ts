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

/** What is known of a wait that goes on. */
interface Wait {
  readonly due: number;
  readonly onExceeded: () => void;
}

/** A timer that goes on from wait to wait. */
interface RunningTimer {
  readonly due: number;
  readonly stop: () => void;
}

/**
 * The silences of a service: time in which the program ran and waited to read. While a
 * chunk is in use, and while the process is stopped, a service is not silent.
 *
 * All waits share one timer, because a timer for each chunk would cost more than the
 * chunk (25 us). If it fires before the current wait is too long, it is restarted.
 */
export class Silences {
  readonly #clock: AwakeClock;
  readonly #limit: () => number;
  #longest = 0;
  #last = 0;
  #timer: RunningTimer | undefined;
  #wait: Wait | undefined;

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
    this.#wait = {
      due: begun + limit,
      onExceeded: () => {
        isExceeded = true;
        onExceeded();
      },
    };
    this.#startTimer(this.#wait.due);
    return {
      check: () => {
        if (isExceeded) throw new SilenceError(limit);
      },
      [Symbol.dispose]: () => {
        this.#wait = undefined;
        this.#last = this.#clock.now - begun;
        this.#longest = Math.max(this.#longest, this.#last);
      },
    };
  }

  /** Starts the timer, unless it goes off by then. */
  #startTimer(due: number): void {
    if (this.#timer !== undefined && this.#timer.due <= due) return;
    this.#timer?.stop();
    const milliseconds = due - this.#clock.now;
    const stop = this.#clock.startTimeout(milliseconds, () => this.#onTimer());
    this.#timer = { due, stop };
  }

  #onTimer(): void {
    this.#timer = undefined;
    const wait = this.#wait;
    if (wait === undefined) return;
    if (this.#clock.now < wait.due) this.#startTimer(wait.due);
    else wait.onExceeded();
  }
}
