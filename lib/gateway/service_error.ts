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
  /** The thread of the run, and the run, if they are known: for a failed `stream run`. */
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  /** Whether the service answered with a JSON object: its own answer, not a front's. */
  readonly isJson?: boolean | undefined;
}

/**
 * A remote operation failed. The message is a sentence that says which one, why,
 * and what to do; the key does not stand in it.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  /** The operation that failed. */
  readonly operation: Operation;
  /** The HTTP status, if the service answered. */
  readonly status: number | undefined;
  /** The thread of the run that could not be followed. */
  readonly threadId: string | undefined;
  /** The run that could not be followed. */
  readonly runId: string | undefined;
  /** Whether the service answered with a JSON object: its own answer, not a front's. */
  readonly isJson: boolean;

  constructor(reason: string, options: ServiceErrorOptions) {
    super(`Cannot ${ATTEMPT[options.operation]}: ${reason}`, options);
    this.operation = options.operation;
    this.status = options.status;
    this.threadId = options.threadId;
    this.runId = options.runId;
    this.isJson = options.isJson === true;
  }

  /** Whether the service did not accept the API key. */
  get keyRejected(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The connection to the service could not be made, or broke. */
export class ConnectionError extends ServiceError {
  override readonly name = "ConnectionError";
}

/** The service did not take the request (429, 503), and may say when to come again. */
export class OverloadedError extends ServiceError {
  override readonly name = "OverloadedError";
  /** In milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(
    reason: string,
    options: ServiceErrorOptions & { readonly retryAfter: number | undefined },
  ) {
    super(reason, options);
    this.retryAfter = options.retryAfter;
  }
}
