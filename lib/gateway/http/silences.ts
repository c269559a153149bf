import type { AwakeClock } from "../../io.ts";
import { safe, wholeDuration } from "../../text.ts";
import { RequestError } from "../failure/failure.ts";

/** A wait for the next byte. */
interface Wait {
  readonly begun: number;
  readonly onExceeded: (error: RequestError) => void;
}

/**
 * The silences of a service: time in which the program ran and waited to read. While a
 * chunk is in use, and while the process is stopped, a service is not silent. The clock
 * finds one that is too long at its next tick, because a timer for each chunk would cost
 * more than the chunk (25 us).
 */
export class Silences {
  readonly #clock: AwakeClock;
  readonly #limit: (longest: number) => number;
  /** The longest one so far, in milliseconds. */
  longest = 0;
  /** The last one. */
  last = 0;
  #wait: Wait | undefined;

  /**
   * @param clock Its ticks are used by no one else.
   * @param limit The limit on the current silence, after the longest one so far; both in
   * milliseconds.
   */
  constructor(clock: AwakeClock, limit: (longest: number) => number) {
    this.#clock = clock;
    this.#limit = limit;
    clock.onTick = () => this.#check();
  }

  /**
   * Begins one: the reader waits for the next byte.
   *
   * @param onExceeded Called, with an error that says so, if it lasts too long.
   */
  begin(onExceeded: (error: RequestError) => void): void {
    this.#wait = { begun: this.#clock.now, onExceeded };
  }

  /** Ends the one that goes on, if there is one. */
  end(): void {
    if (this.#wait === undefined) return;
    this.last = this.#clock.now - this.#wait.begun;
    this.longest = Math.max(this.longest, this.last);
    this.#wait = undefined;
  }

  #check(): void {
    if (this.#wait === undefined) return;
    const { begun, onExceeded } = this.#wait;
    const limit = this.#limit(this.longest);
    if (this.#clock.now - begun < limit) return;
    const time = wholeDuration(limit);
    const reason = safe`Nothing came from the service for ${time}`;
    const problem = "stream silent";
    onExceeded(new RequestError({ stage: "perhaps taken", reason, problem }));
  }
}
