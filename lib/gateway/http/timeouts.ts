/** The timeouts of the gateway, in milliseconds. */
export interface Timeouts {
  /** The limit for the whole JSON answer of a `POST`. */
  readonly answer: number;
  /** The limit for the text of an error: its status is known already. */
  readonly errorText: number;
  /**
   * The limit on silence on a stream, its headers included: proxies hold those
   * back, too. Counted while the client is waiting for a byte.
   */
  readonly idle: number;
  /**
   * Added once to a timeout that fires late because the process was stopped or busy,
   * so that it first reads the data that has arrived.
   */
  readonly grace: number;
  /** The limit for reading on after `complete`. */
  readonly drain: number;
  /** The pauses before the retries of a `POST`. */
  readonly retry: readonly number[];
  /**
   * The pauses before the retries of a `POST` that the server did not take,
   * because it closed the connection.
   */
  readonly reopen: readonly number[];
  /**
   * The pauses before the retries of a stream's `GET`. The last pause is used for
   * all further retries.
   */
  readonly reconnect: readonly number[];
  /** The limit without an answer to a stream's `GET`, after which the run is given up. */
  readonly outage: number;
  /** The limit without a new event on a resumed stream, after which the run is given up. */
  readonly resume: number;
  /** A connection of a stream that ends sooner counts as a failure. */
  readonly steady: number;
  /**
   * The longest delay of `Retry-After` that is waited for, which only lengthens a
   * pause.
   */
  readonly retryAfter: number;
}

/** The timeouts of the program. */
export const TIMEOUTS: Timeouts = {
  answer: 60_000,
  errorText: 2_000,
  idle: 600_000,
  grace: 5_000,
  drain: 100,
  retry: [500, 1_000, 2_000],
  reopen: [0, 500, 1_000],
  reconnect: [500, 1_000, 2_000, 4_000, 8_000, 15_000],
  outage: 120_000,
  resume: 600_000,
  steady: 5_000,
  retryAfter: 30_000,
};
