/**
 * Failures of remote operations, described for the user.
 *
 * @module
 */

/** The three remote operations (interface 4.1). */
export type Operation = "create thread" | "create run" | "stream run";

const ATTEMPT: Readonly<Record<Operation, string>> = {
  "create thread": "create a thread",
  "create run": "start a run",
  "stream run": "follow the run",
};

/** The advice for an operation whose outcome is unknown. */
export const UNKNOWN_OUTCOME: Readonly<Record<Operation, string>> = {
  "create thread": "try again later",
  "create run": "the run may have started, so it is not tried again",
  "stream run": "the run may still go on at the service",
};

/** Options of a {@linkcode ServiceError}. */
export interface ServiceErrorOptions extends ErrorOptions {
  readonly operation: Operation;
  /** The HTTP status, if the service answered. */
  readonly status?: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter?: number | undefined;
  /** The thread and the run, if known: for a failed `stream run`. */
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  /** Whether the service answered with a JSON object, as it does itself and a proxy does not. */
  readonly isJson?: boolean | undefined;
}

/**
 * A remote operation failed. The message is a sentence that gives the operation,
 * the reason, what to do, and for a failed `stream run` the thread and the run.
 * It does not contain the key.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  /**
   * The message without the operation, the thread and the run, for callers that
   * show these in another way.
   */
  readonly reason: string;
  /** The operation that failed. */
  readonly operation: Operation;
  /** The HTTP status, if the service answered. */
  readonly status: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter: number | undefined;
  /** The thread of the run that could not be followed. */
  readonly threadId: string | undefined;
  /** The run that could not be followed. */
  readonly runId: string | undefined;
  /** Whether the service answered with a JSON object, as it does itself and a proxy does not. */
  readonly isJson: boolean;

  /**
   * @param reason The reason, and what to do: the part of the message after
   * `Cannot ...: `.
   * @param options The details.
   */
  constructor(reason: string, options: ServiceErrorOptions) {
    const { operation, status, retryAfter, threadId, runId } = options;
    const { isJson = false } = options;
    const run = runId === undefined
      ? ""
      : ` (thread ${threadId}, run ${runId})`;
    super(`Cannot ${ATTEMPT[operation]}: ${reason}${run}`, options);
    this.reason = reason;
    this.operation = operation;
    this.status = status;
    this.retryAfter = retryAfter;
    this.threadId = threadId;
    this.runId = runId;
    this.isJson = isJson;
  }

  /** Whether the service rejected the API key. */
  get keyRejected(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The connection to the service failed, broke, or brought no answer in time. */
export class ConnectionError extends ServiceError {
  override readonly name = "ConnectionError";
}
