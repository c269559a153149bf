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

/** A wait for the next byte. */
interface Wait {
  readonly begun: number;
  readonly limit: number;
  readonly onExceeded: (error: SilenceError) => void;
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

  /**
   * Begins one: the reader waits for the next byte.
   *
   * @param onExceeded Called, with an error that says so, if it lasts too long.
   */
  begin(onExceeded: (error: SilenceError) => void): void {
    const begun = this.#clock.now;
    const limit = this.#limit();
    this.#wait = { begun, limit, onExceeded };
    this.#startTimer(begun + limit);
  }

  /** Ends the one that goes on, if there is one. */
  end(): void {
    if (this.#wait === undefined) return;
    this.#last = this.#clock.now - this.#wait.begun;
    this.#longest = Math.max(this.#longest, this.#last);
    this.#wait = undefined;
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
    const due = wait.begun + wait.limit;
    if (this.#clock.now < due) this.#startTimer(due);
    else wait.onExceeded(new SilenceError(wait.limit));
  }
}
