/**
 * A run's event stream over breaking connections: reading, reconnecting and
 * giving up.
 *
 * @module
 */

import { startTimer } from "../timer.ts";
import { Timeout } from "./deadline.ts";
import {
  LineTooLongError,
  readRunEvents,
  type RunEvent,
} from "./run_events.ts";
import type {
  OpenStream,
  ServiceClient,
  ServiceRequest,
} from "./service_client.ts";
import {
  ConnectionError,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";
import { StreamCursor } from "./stream_cursor.ts";
import type { Timeouts } from "./timeouts.ts";

/** The statuses after which the `GET` is retried, and their meaning for the user. */
const TRANSIENT: ReadonlyMap<number | undefined, string> = new Map([
  [429, "service busy"],
  [502, "service unreachable"],
  [503, "service busy"],
  [504, "service unreachable"],
]);

/** A run and the request for its stream. */
export interface FollowedRun {
  readonly threadId: string;
  readonly runId: string;
  /** The request for its stream. */
  readonly request: ServiceRequest;
}

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A `GET` without a single byte in answer is retried until 2 minutes have passed
 * without an answer. After the first byte, the stream is resumed with
 * `Last-Event-ID` if the service sent `id:` lines, under the same rule and until
 * 10 minutes have passed without a new event. Without ids a loss is an error, so
 * that a truncated run never looks like a finished one.
 *
 * @param client Sends the requests.
 * @param run The run.
 * @param onDraining Called after `complete` with a promise that resolves when the
 * connection is closed.
 * @returns The events, one non-empty batch per network chunk: `progress` any
 * number of times, then `complete` once.
 * @throws {ServiceError} If the stream cannot be read up to `complete`. It names
 * the thread and the run.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  run: FollowedRun,
  onDraining: (end: Promise<void>) => void,
): AsyncGenerator<readonly RunEvent[]> {
  const { signal, timeouts } = client;
  const cursor = new StreamCursor();
  const patience = new Patience(timeouts);
  for (;;) {
    const resumes = cursor.lastEventId !== undefined;
    let connection: Connection | undefined;
    let failure: ServiceError;
    try {
      const request = withCursor(run.request, cursor.lastEventId);
      const stream = await client.stream(request);
      connection = new Connection(stream, cursor, timeouts);
      for (;;) {
        const { done, value: events } = await connection.next();
        signal.throwIfAborted();
        if (done) break;
        const last = events.at(-1);
        if (last === undefined) {
          if (cursor.isReplaying && patience.isOver) throw replayError();
          continue;
        }
        if (last.event === "complete") {
          onDraining(connection.drain(timeouts.drain));
        }
        yield events;
        if (last.event === "complete") return;
        patience.renew();
      }
      failure = new UnfinishedError(
        "the stream ended before the run completed",
      );
    } catch (error) {
      signal.throwIfAborted();
      failure = toServiceError(error, client);
    } finally {
      connection?.drop();
    }
    const hasBegun = connection?.hasBegun === true;
    if (hasBegun || (resumes && connection !== undefined)) patience.answered();
    const canGoOn = cursor.lastEventId !== undefined ||
      !(hasBegun || failure instanceof UnfinishedError);
    const reason = transientReason(failure);
    const delay = canGoOn && reason !== undefined
      ? patience.delay()
      : undefined;
    if (reason === undefined || delay === undefined) throw inRun(failure, run);
    await client.wait(failure, reason, delay);
  }
}

/** Decides how long a lost stream is requested again. */
class Patience {
  readonly #timeouts: Timeouts;
  #retries = 0; // since the last new event
  #newestAt = performance.now();
  #unansweredSince = performance.now();

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts;
  }

  /** Whether the time limit without a new event has passed. */
  get isOver(): boolean {
    return performance.now() - this.#newestAt >= this.#timeouts.resume;
  }

  /** Records that a new event came. */
  renew(): void {
    this.#retries = 0;
    this.#newestAt = performance.now();
  }

  /** Records that a connection that had answered was lost. */
  answered(): void {
    this.#unansweredSince = performance.now();
  }

  /** The milliseconds until the next request, or `undefined` to give up. */
  delay(): number | undefined {
    const { outage, reconnect } = this.#timeouts;
    if (performance.now() - this.#unansweredSince >= outage) return undefined;
    // However much time has passed, it tries again once: after a silence, or for
    // a process that was stopped for long and finds its connection lost.
    if (this.isOver && this.#retries > 0) return undefined;
    return reconnect[Math.min(this.#retries++, reconnect.length - 1)];
  }
}

/** The stream ended or fell silent before the run completed. */
class UnfinishedError extends ServiceError {
  override readonly name: string = "UnfinishedError";

  constructor(reason: string) {
    const operation = "stream run";
    super(`${reason}; ${UNKNOWN_OUTCOME[operation]}`, { operation });
  }
}

/** No byte came on a connection while the client was waiting for one. */
class SilenceError extends UnfinishedError {
  override readonly name = "SilenceError";
}

function replayError(): ServiceError {
  const reason = "the service sends old events again and no new ones";
  return new ServiceError(`${reason}; ${UNKNOWN_OUTCOME["stream run"]}`, {
    operation: "stream run",
  });
}

function toServiceError(error: unknown, client: ServiceClient): ServiceError {
  const operation = "stream run";
  if (error instanceof ServiceError) return error;
  if (error instanceof LineTooLongError) {
    return new ServiceError(`${error.message}; ${UNKNOWN_OUTCOME[operation]}`, {
      operation,
      cause: error,
    });
  }
  return client.connectionError(operation, error);
}

/** The reason to retry, in a few words; `undefined` if the failure is final. */
function transientReason(failure: ServiceError): string | undefined {
  if (failure instanceof SilenceError) return "stream silent";
  if (failure instanceof UnfinishedError) return "stream ended";
  if (failure instanceof ConnectionError) return "connection lost";
  return TRANSIENT.get(failure.status);
}

/** The same error with the ids of thread and run. */
function inRun(error: ServiceError, run: FollowedRun): ServiceError {
  const { operation, status, reason } = error;
  const { threadId, runId } = run;
  return new ServiceError(reason, {
    operation,
    status,
    threadId,
    runId,
    cause: error,
  });
}

function withCursor(
  request: ServiceRequest,
  cursor: string | undefined,
): ServiceRequest {
  if (cursor === undefined) return request;
  return {
    ...request,
    headers: { ...request.headers, "last-event-id": cursor },
  };
}

/** One connection of a stream: its events, and the limit on silence. */
class Connection {
  readonly #stream: OpenStream;
  readonly #events: AsyncGenerator<readonly RunEvent[]>;
  readonly #timeouts: Timeouts;
  #hasBegun = false;
  #draining = false;
  #awaited = false;
  #silentSince = 0;
  #silence: SilenceError | undefined;
  #watch: Timeout | undefined;

  constructor(stream: OpenStream, cursor: StreamCursor, timeouts: Timeouts) {
    this.#stream = stream;
    this.#events = readRunEvents(stream.chunks, { cursor });
    this.#timeouts = timeouts;
    this.#watchFor(timeouts.idle);
  }

  /** Whether a byte has arrived. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * The new events of the next chunk. Silence counts only while this is pending.
   *
   * @throws {SilenceError} If nothing arrives for too long.
   */
  async next(): Promise<IteratorResult<readonly RunEvent[]>> {
    this.#silentSince = performance.now();
    this.#awaited = true;
    try {
      const events = await this.#events.next();
      this.#hasBegun ||= !events.done;
      return events;
    } catch (error) {
      throw this.#silence ?? error;
    } finally {
      this.#awaited = false;
    }
  }

  /**
   * Reads on after `complete` for at most `milliseconds`, so that a service that
   * is about to end the stream does not see a broken connection.
   */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    this.#watch?.clear();
    const stop = startTimer(milliseconds, () => this.#stream.drop());
    try {
      while (!(await this.#stream.chunks.next()).done);
    } catch {
      // The reply has been received: errors after it do not matter.
    } finally {
      stop();
      this.#stream.drop();
    }
  }

  /** Drops the connection, unless it is being drained. */
  drop(): void {
    if (this.#draining) return;
    this.#watch?.clear();
    this.#stream.drop();
  }

  /** Checks for silence later: a timer for each event would cost more than the event. */
  #watchFor(milliseconds: number): void {
    const { idle, grace } = this.#timeouts;
    this.#watch = new Timeout(milliseconds, grace, () => {
      const left = this.#awaited
        ? this.#silentSince + idle - performance.now()
        : idle;
      if (left > 0) return this.#watchFor(left);
      this.#silence = new SilenceError(
        `nothing came from the service for ${idle / 60_000} minutes`,
      );
      this.#stream.drop();
    });
  }
}
