import type { AwakeClock } from "../../io.ts";
import { around, type Pause } from "../http/retries.ts";
import type { Timeouts } from "../http/timeouts.ts";

/** So many streams in a row that end at once, with nothing new, are the end of it. */
const MAX_EMPTY = 5;

/** One request for the stream of a run. Its times are those of the patience's clock. */
export interface Attempt {
  readonly askedAt: number;
  /** When its headers arrived; `undefined` if none did. */
  openedAt: number | undefined;
  /** Whether it brought a new event. */
  isFruitful: boolean;
}

/**
 * Decides how long a lost stream is requested again, by when its attempts began. Time in
 * which the process did not run does not count. It is given up
 *
 * - after 2 minutes without an answer; the last attempt begins at least a minute after
 *   the first,
 * - after 2 minutes of connections that end within 5 s, whatever they bring, counted from
 *   the end of the first one in a row (a service may give every event a new id, and fail
 *   after its first event),
 * - after 10 minutes without a new event,
 * - after five streams in a row that end by themselves within 5 s, with nothing new.
 *
 * A connection that brings a new event and lasts for 5 s starts the pauses over.
 */
export class Patience {
  readonly #timeouts: Timeouts;
  readonly #clock: AwakeClock;
  /** The retries since the last steady connection that brought a new event. */
  #retries = 0;
  #newestAt: number;
  #failingSince: number;
  /** Whether the last connection that was answered ended within 5 s. */
  #isUnsteady = false;
  #emptyEnds = 0;

  constructor(timeouts: Timeouts, clock: AwakeClock) {
    this.#timeouts = timeouts;
    this.#clock = clock;
    this.#newestAt = clock.now;
    this.#failingSince = clock.now;
  }

  begin(): Attempt {
    const askedAt = this.#clock.now;
    return { askedAt, openedAt: undefined, isFruitful: false };
  }

  open(attempt: Attempt): void {
    attempt.openedAt = this.#clock.now;
  }

  /** A new event came. */
  renew(attempt: Attempt): void {
    attempt.isFruitful = true;
    this.#newestAt = this.#clock.now;
  }

  /** Whether a service has repeated old events for as long as one waits for new ones. */
  isTooOld({ openedAt = this.#clock.now }: Attempt): boolean {
    return this.#clock.now - openedAt >= this.#timeouts.resume;
  }

  /**
   * Takes note of an attempt that has ended. Returns the pause before the next one;
   * `undefined` to give up.
   *
   * @param isWhole Whether its stream certainly ended by itself, as a whole answer.
   */
  pauseAfter(attempt: Attempt, isWhole = false): Pause | undefined {
    const isSteady = this.#isSteady(attempt);
    const isEmpty = isWhole && !attempt.isFruitful && !isSteady;
    this.#emptyEnds = isEmpty ? this.#emptyEnds + 1 : 0;
    this.#noteOutage(attempt, isSteady);
    if (this.#emptyEnds >= MAX_EMPTY || this.#isOver(attempt)) return undefined;

    if (isSteady && attempt.isFruitful) this.#retries = 0;
    const retry = this.#retries;
    this.#retries++;
    const { lost, reconnect } = this.#timeouts;
    // A server that restarts loses all of its clients in the same moment.
    const isFirst = retry === 0 && attempt.openedAt !== undefined;
    return isFirst
      ? { least: 0, most: lost }
      : around(reconnect[retry] ?? reconnect.at(-1) ?? 0);
  }

  #isSteady({ openedAt }: Attempt): boolean {
    return openedAt !== undefined &&
      this.#clock.now - openedAt >= this.#timeouts.steady;
  }

  #noteOutage({ openedAt }: Attempt, isSteady: boolean): void {
    if (openedAt === undefined) return;
    if (isSteady || !this.#isUnsteady) this.#failingSince = this.#clock.now;
    this.#isUnsteady = !isSteady;
  }

  #isOver({ askedAt, openedAt }: Attempt): boolean {
    const { outage, lastAttempt, resume } = this.#timeouts;
    if (askedAt - this.#newestAt >= resume) return true;
    // One attempt to connect may take the system longer than all of the time.
    const isLast = askedAt - this.#failingSince >= lastAttempt ||
      openedAt !== undefined;
    return isLast && this.#clock.now - this.#failingSince >= outage;
  }
}
