/** The timeouts of the gateway, in milliseconds. Only tests change them. */
export const TIMEOUTS = {
  answer: 60_000,
  /** The limit for the text of an error: its status is known already. */
  errorText: 2_000,
  /**
   * The limit on silence on a stream, its headers included: proxies hold those
   * back, too. Counted while the client is waiting for a byte.
   */
  idle: 600_000,
  /** The limit for reading on after `complete`. */
  drain: 100,
  /** The pauses before the retries of a `POST`. */
  retry: [500, 1_000, 2_000],
  /** The same if the connection was closed before the server took the request. */
  reopen: [0, 500, 1_000],
  /** The same if there were too many open files: turns of other sessions take long. */
  outOfFiles: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000],
  /** The pauses before the retries of a stream's `GET`; the last one repeats. */
  reconnect: [500, 1_000, 2_000, 4_000, 8_000, 15_000],
  /** The longest first pause after a stream was lost. */
  lost: 2_000,
  /** How long after the first attempt to reach a stream again the last one begins. */
  lastAttempt: 60_000,
  /** The limit without an answer to a stream's `GET`, after which the run is given up. */
  outage: 120_000,
  /** The limit without a new event on a resumed stream; then the run is given up. */
  resume: 600_000,
  /** A connection of a stream that ends sooner counts as a failure. */
  steady: 5_000,
  /** The longest pause that `Retry-After` causes. It never shortens those above. */
  retryAfter: 30_000,
};
