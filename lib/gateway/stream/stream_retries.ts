import { around, type Pause } from "../http/retries.ts";
import type { Timeouts } from "../http/timeouts.ts";

/** The most requests that resume the stream of a run. */
const MAX_RETRIES = 1_000;

/** One connection of a stream. Times are on the clock of `performance.now()`. */
export interface Connection {
  readonly askedAt: number;
  /** When its headers arrived; `undefined` if none did. */
  openedAt: number | undefined;
  lastByteAt: number | undefined;
  isFruitful: boolean;
}

/**
 * Decides how long a lost stream is requested again. It is given up when 2 minutes have
 * passed without an answer and the last attempt began a minute after the first, or 10
 * minutes without a new event. A connection that ends
 * within 5 s counts as a failure, whatever it brought. Otherwise, a service that gives
 * every event a new id and fails after its first event would be asked for ever. It is
 * given up 2 minutes after the first such connection in a row has ended.
 */
export class StreamRetries {
  readonly #timeouts: Timeouts;
  /** The retries since the last steady connection that brought a new event. */
  #retries = 0;
  #allRetries = 0;
  #newestAt = performance.now();
  #failingSince = performance.now();
  /** Whether the last connection that was answered ended within 5 s. */
  #isUnsteady = false;

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts;
  }

  get isOver(): boolean {
    return performance.now() - this.#newestAt >= this.#timeouts.resume;
  }

  renew(): void {
    this.#newestAt = performance.now();
  }

  /** The pause after a connection has ended; `undefined` to give up. */
  ended({ askedAt, openedAt, isFruitful }: Connection): Pause | undefined {
    const { outage, lastAttempt, lost, reconnect, steady } = this.#timeouts;
    const now = performance.now();
    const isSteady = openedAt !== undefined && now - openedAt >= steady;
    if (isSteady || openedAt !== undefined && !this.#isUnsteady) {
      this.#failingSince = now;
      this.#isUnsteady = !isSteady;
    }
    if (isSteady && isFruitful) this.#retries = 0;
    // One attempt to connect may take the system longer than all of the time.
    const isLast = askedAt - this.#failingSince >= lastAttempt ||
      openedAt !== undefined;
    if (isLast && now - this.#failingSince >= outage) return undefined;
    // However much time has passed, there is one retry: after a silence, or when a
    // process that was stopped for long finds its connection lost.
    if (this.isOver && this.#retries > 0) return undefined;
    if (this.#allRetries++ >= MAX_RETRIES) return undefined;
    const retry = this.#retries++;
    // A server that restarts loses all of its clients in the same moment.
    if (retry === 0 && openedAt !== undefined) return { least: 0, most: lost };
    return around(reconnect[Math.min(retry, reconnect.length - 1)] ?? 0);
  }
}
