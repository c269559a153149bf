import type { Redacted } from "../../text.ts";
import type { Stage } from "./fate.ts";
import type { RetryHints } from "./retry_policy.ts";

/** Why a request failed: one value from the socket to the exit code and the log. */
export interface Failure extends RetryHints {
  readonly stage: Stage;
  /** What happened, as a sentence without a full stop. */
  readonly reason: Redacted;
  /** What to do, as a sentence without a full stop. */
  readonly advice?: Redacted | undefined;
  /** The service's own words, safe to show, if the reason does not have them. */
  readonly detail?: Redacted | undefined;
  readonly status?: number | undefined;
  /**
   * Set if a new run was answered 404: `certain` with a JSON object, which is the
   * service's own; `possible` with anything else, which a proxy may have sent.
   */
  readonly threadGone?: "certain" | "possible" | undefined;
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
