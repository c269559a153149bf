/**
 * What went wrong at the service, told to a person.
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

/** What to know, or to do, when the outcome of an operation is not known. */
export const UNKNOWN_OUTCOME: Readonly<Record<Operation, string>> = {
  "create thread": "try again later",
  "create run": "the run may have started, so it is not tried again",
  "stream run": "the run may still go on at the service",
};

/** What a {@linkcode ServiceError} is about. */
export interface ServiceErrorOptions extends ErrorOptions {
  readonly operation: Operation;
  /** The HTTP status, if the service answered. */
  readonly status?: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter?: number | undefined;
  /** The thread of the run, and the run, if they are known: for a failed `stream run`. */
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
}

/**
 * A remote operation failed. The message is a sentence that says which one, why,
 * what to do, and for a failed `stream run` which run it is; it does not contain
 * the key.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  /**
   * The message without the operation, the thread and the run: for callers that
   * tell these in another way.
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

  /**
   * @param reason Why, and what to do: a sentence without a subject of its own.
   * @param options What it is about.
   */
  constructor(reason: string, options: ServiceErrorOptions) {
    const { operation, status, retryAfter, threadId, runId } = options;
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
  }

  /** Whether the service did not accept the API key. */
  get keyRejected(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The connection to the service could not be made, broke, or brought no answer in time. */
export class ConnectionError extends ServiceError {
  override readonly name = "ConnectionError";
}
