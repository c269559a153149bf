/** The timeouts of the gateway, in milliseconds. */
export interface Timeouts {
  /** For the whole JSON answer of a `POST`, and for the headers of a stream. */
  readonly answer: number;
  /** Without one byte on a stream, while the client is waiting for it. */
  readonly idle: number;
  /**
   * Added to a timeout that fires late, because the process was stopped or busy:
   * the time in which it reads what has arrived meanwhile.
   */
  readonly grace: number;
  /** For what follows `complete` on a stream. */
  readonly drain: number;
  /** Before each repetition of a `POST`, if the service does not say how long. */
  readonly retry: readonly number[];
  /**
   * Before each repetition of a stream's `GET` since the last new event, if the
   * service does not say how long. The last one counts for all further ones.
   */
  readonly reconnect: readonly number[];
  /** Without an answer to a stream's `GET`, before the run is given up. */
  readonly outage: number;
  /** Without a new event on a stream that is resumed, before the run is given up. */
  readonly resume: number;
  /** The most that `Retry-After` can ask for. */
  readonly retryAfter: number;
}

/** The timeouts of the program. */
export const TIMEOUTS: Timeouts = {
  answer: 60_000,
  idle: 600_000,
  grace: 5_000,
  drain: 100,
  retry: [500, 1_000, 2_000],
  reconnect: [500, 1_000, 2_000, 4_000, 8_000, 15_000],
  outage: 120_000,
  resume: 600_000,
  retryAfter: 30_000,
};
