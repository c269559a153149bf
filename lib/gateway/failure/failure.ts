import type { RemoteOperation, Stage } from "./fate.ts";

/** Why a request is retried, in a few words for a status line. */
export type RetryReason =
  | "service busy"
  | "service unreachable"
  | "connection refused"
  | "connection closed"
  | "connection lost"
  | "stream ended"
  | "stream silent"
  | "too many open files";

/** Why a request failed: one value from the socket to the exit code and the log. */
export interface Failure {
  readonly stage: Stage;
  /** What happened, as a sentence without a full stop. */
  readonly reason: string;
  /** What to do, as a sentence without a full stop. */
  readonly advice?: string | undefined;
  /** The service's own words, safe to show, if the reason does not have them. */
  readonly detail?: string | undefined;
  /** Why the request may be retried; not set if the failure is final. */
  readonly retry?: RetryReason | undefined;
  /** Whether the program has no descriptor left. Its other sessions give theirs back. */
  readonly isOutOfFiles?: true | undefined;
  readonly status?: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter?: number | undefined;
  /**
   * Set if a new run was answered 404: `certain` with a JSON object, which is the
   * service's own; `possible` with anything else, which a proxy may have sent.
   */
  readonly threadGone?: "certain" | "possible" | undefined;
}

/**
 * Why a request whose connection was lost is retried. Only the stream of a run is,
 * whatever the loss: a `POST` may have been taken.
 */
export function lossReason(
  operation: RemoteOperation,
): RetryReason | undefined {
  return operation === "stream run" ? "connection lost" : undefined;
}

/** A request failed. The call makes a {@linkcode ServiceError} of it. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.reason, options);
    this.failure = failure;
  }
}
