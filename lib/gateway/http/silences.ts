import type { AwakeClock } from "../../io.ts";
import { safe, wholeDuration } from "../../text.ts";
import { RequestError } from "../failure/failure.ts";

/**
 * The silences of a service: time in which the program ran and waited to read. While a
 * chunk is in use, and while the process is stopped, a service is not silent. The clock
 * finds one that is too long at its next tick, because a timer for each chunk would cost
 * more than the chunk (25 us).
 */
export class Silences {
  /** Called, with an error that says so, as soon as one lasts too long. */
  onExceeded: (error: RequestError) => void = () => {};
  /** The longest one so far, in milliseconds. */
  longest = 0;
  readonly #clock: AwakeClock;
  readonly #limit: (longest: number) => number;
  /** When the current one began. */
  #begun: number | undefined;

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

  /** Begins one: the reader waits for the next byte. */
  begin(): void {
    this.#begun = this.#clock.now;
  }

  /** Ends the current one, if there is one. */
  end(): void {
    if (this.#begun === undefined) return;
    const silence = this.#clock.now - this.#begun;
    this.longest = Math.max(this.longest, silence);
    this.#begun = undefined;
  }

  #check(): void {
    const limit = this.#limit(this.longest);
    const { now } = this.#clock;
    if (now - (this.#begun ?? now) < limit) return;
    const time = wholeDuration(limit);
    const reason = safe`Nothing came from the service for ${time}`;
    const problem = "stream silent";
    const failure = { stage: "perhaps taken", reason, problem } as const;
    this.onExceeded(new RequestError(failure));
  }
}
