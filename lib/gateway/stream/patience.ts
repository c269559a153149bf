import type { AwakeClock } from "../../io.ts";
import { around, type Pause } from "../http/retries.ts";
import type { Timeouts } from "../http/timeouts.ts";

/** The most requests that resume the stream of a run. */
const MAX_RETRIES = 1_000;

/** So many streams in a row that end at once, with nothing new, are the end of it. */
const MAX_EMPTY = 5;

/**
 * After the process was stopped or the machine slept, at least so many attempts are made
 * before it gives up.
 */
const AFTER_SLEEP = 2;

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
 * - after five streams in a row that end by themselves within 5 s, with nothing new,
 * - after 1,000 attempts.
 *
 * A connection that brings a new event and lasts for 5 s starts the pauses over. After a
 * sleep, two attempts are made in any case: a network returns later than its clock.
 */
export class Patience {
  readonly #timeouts: Timeouts;
  readonly #clock: AwakeClock;
  /** The retries since the last steady connection that brought a new event. */
  #retries = 0;
  #allRetries = 0;
  #newestAt: number;
  #failingSince: number;
  /** Whether the last connection that was answered ended within 5 s. */
  #isUnsteady = false;
  #emptyEnds = 0;
  /** How long the clock had slept when the last attempt ended, in milliseconds. */
  #slept = 0;
  /** The attempts that were made since that sleep; before the first one, enough. */
  #retriesAfterSleep: number = AFTER_SLEEP;

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
   * @param isWhole Whether its stream ended by itself, as a whole answer.
   */
  pauseAfter(attempt: Attempt, isWhole = false): Pause | undefined {
    const isSteady = this.#isSteady(attempt);
    const isEmpty = isWhole && !attempt.isFruitful && !isSteady;
    this.#emptyEnds = isEmpty ? this.#emptyEnds + 1 : 0;
    this.#noteOutage(attempt, isSteady);
    this.#noteSleep();
    const isOver = this.#isOver(attempt);
    if (isOver && this.#retriesAfterSleep >= AFTER_SLEEP) return undefined;
    if (this.#emptyEnds >= MAX_EMPTY) return undefined;
    if (this.#allRetries >= MAX_RETRIES) return undefined;

    this.#allRetries++;
    const isSecond = this.#retriesAfterSleep > 0;
    this.#retriesAfterSleep++;
    if (isSteady && attempt.isFruitful) this.#retries = 0;
    const retry = this.#retries;
    this.#retries++;
    const { lost, reconnect } = this.#timeouts;
    const longest = reconnect.at(-1) ?? 0;
    if (isOver && isSecond) return around(longest);
    // A server that restarts loses all of its clients in the same moment.
    const isFirst = retry === 0 && attempt.openedAt !== undefined;
    return isFirst
      ? { least: 0, most: lost }
      : around(reconnect[retry] ?? longest);
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

  #noteSleep(): void {
    const { slept } = this.#clock;
    if (slept > this.#slept) this.#retriesAfterSleep = 0;
    this.#slept = slept;
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
