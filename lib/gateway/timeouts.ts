/** The timeouts of the gateway, in milliseconds. */
export interface Timeouts {
  /** For the whole JSON answer of a `POST`, and for the headers of a stream. */
  readonly answer: number;
  /** Without one byte on a stream, while the client is waiting for it. */
  readonly idle: number;
  /** For what follows `complete` on a stream. */
  readonly drain: number;
  /** Before each repetition, if the service does not say how long. */
  readonly retry: readonly number[];
  /** The most that `Retry-After` can ask for. */
  readonly retryAfter: number;
}

/** The timeouts as decided: 60 s, 10 min, 100 ms; retries after 0.5, 1 and 2 s. */
export const TIMEOUTS: Timeouts = {
  answer: 60_000,
  idle: 600_000,
  drain: 100,
  retry: [500, 1_000, 2_000],
  retryAfter: 30_000,
};
