/**
 * Failures of remote operations, described for the user.
 *
 * @module
 */

import { type Fate, fateInWords, type Operation } from "./fate.ts";

const ATTEMPT: Readonly<Record<Operation, string>> = {
  "create thread": "create a thread",
  "create run": "start a run",
  "stream run": "follow the run",
};

/** A failure, in parts that each front end puts into its own words. */
export interface Failure {
  readonly operation: Operation;
  /** What went wrong. */
  readonly reason: string;
  readonly fate: Fate;
  /** What to do, if there is anything. */
  readonly advice?: string | undefined;
  /** The service's own words about a status, safe to show; empty if it had none. */
  readonly detail?: string | undefined;
  /** Whether the service seems not to know the thread any more. */
  readonly isThreadGone?: boolean;
  /** Whether the answer was a JSON object: a proxy that does not know a path sends none. */
  readonly isJson?: boolean;
  /** The HTTP status, if the service answered. */
  readonly status?: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter?: number | undefined;
  /** The thread and the run, if known: for a run that was or may have been started. */
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
}

/**
 * A remote operation failed. The message is a sentence that gives the operation,
 * the reason, what to do, and the thread and the run if one was started. It does
 * not contain the key.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  /** The parts of the message. */
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    const { operation, threadId, runId } = failure;
    const advice = failure.isThreadGone
      ? "the thread may be gone: start a new one"
      : failure.advice;
    const run = threadId === undefined
      ? ""
      : runId === undefined
      ? ` (thread ${threadId})`
      : ` (thread ${threadId}, run ${runId})`;
    super(
      `Cannot ${ATTEMPT[operation]}: ${explain(failure, advice)}${run}`,
      options,
    );
    this.failure = failure;
  }
}

/** The connection to the service failed, broke, or brought no answer in time. */
export class ConnectionError extends ServiceError {
  override readonly name = "ConnectionError";
}

/**
 * The reason of a failure, what to do, the fate of the run, and the service's own
 * words, which may be long and come last.
 */
export function explain(failure: Failure, advice = ""): string {
  const { reason, detail } = failure;
  const rest = [advice, fateInWords(failure, advice)]
    .filter((part) => part !== "").join("; ");
  if (detail === undefined) return rest === "" ? reason : `${reason}; ${rest}`;
  const withRest = rest === "" ? reason : `${reason} (${rest})`;
  return detail === "" ? withRest : `${withRest}: ${detail}`;
}
