/**
 * A run's event stream over connections that break: reading, resuming, and
 * leaving the connection in a state in which it can serve the next turn.
 *
 * @module
 */

import { pause } from "./deadline.ts";
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
  type Operation,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A connection that breaks before the first byte is made once more. Later, the
 * stream is resumed with `Last-Event-ID` if the service sent `id:` lines, at
 * most three times in a row without a new event; else it is an error, so that a
 * truncated run never looks like a finished one.
 *
 * @param client Where the stream is requested from.
 * @param request The request for it.
 * @param drained Takes the promise of what goes on after `complete`.
 * @returns The events, those together that came together, never none: `progress`
 * any number of times, then `complete` once.
 * @throws {ServiceError} If the stream cannot be read up to `complete`.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  request: ServiceRequest,
  drained: (end: Promise<void>) => void,
): AsyncGenerator<readonly RunEvent[]> {
  const { operation, signal } = request;
  const { drain, idle, retry } = client.timeouts;
  let cursor: string | undefined;
  let resumed = 0; // times in a row without a new event
  let repeated = false;
  for (;;) {
    let connection: Connection | undefined;
    let failure: ServiceError;
    try {
      connection = new Connection(
        await client.stream(withCursor(request, cursor)),
        { idle, onCursor: (lastEventId) => cursor = headerValue(lastEventId) },
      );
      for (;;) {
        const { done, value: events } = await connection.next();
        signal.throwIfAborted();
        if (done) break;
        const last = events.at(-1);
        if (last === undefined) continue;
        resumed = 0;
        if (last.event === "complete") drained(connection.drain(drain));
        yield events;
        if (last.event === "complete") return;
      }
      failure = new ServiceError(
        `the stream ended before the run completed; ${
          UNKNOWN_OUTCOME[operation]
        }`,
        { operation },
      );
    } catch (error) {
      signal.throwIfAborted();
      failure = toServiceError(error, client, operation);
      if (!(failure instanceof ConnectionError)) throw failure;
      if (cursor === undefined && !connection?.hasBegun && !repeated) {
        repeated = true;
        continue;
      }
    } finally {
      connection?.drop();
    }
    const delay = retry[resumed];
    if (cursor === undefined || delay === undefined) throw failure;
    resumed++;
    await pause(delay, signal);
  }
}

function toServiceError(
  error: unknown,
  client: ServiceClient,
  operation: Operation,
): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof SilenceError || error instanceof LineTooLongError) {
    return new ServiceError(
      `${error.message}; ${UNKNOWN_OUTCOME[operation]}`,
      { operation, cause: error },
    );
  }
  return client.connectionError(operation, error);
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

/** An event's id as a header holds it: in UTF-8. `undefined` if no header can hold it. */
function headerValue(id: string | undefined): string | undefined {
  // deno-lint-ignore no-control-regex -- these are what no header can hold
  if (id === undefined || /[\0-\x08\n-\x1f\x7f]/.test(id)) return undefined;
  return String.fromCharCode(...new TextEncoder().encode(id));
}

/** Nothing came on a connection while somebody waited for it. */
class SilenceError extends Error {}

/** Options of a {@linkcode Connection}. */
interface ConnectionOptions {
  /** The most milliseconds of silence. */
  readonly idle: number;
  readonly onCursor: (lastEventId: string | undefined) => void;
}

/** One connection of a stream: its events, with a watch on silence. */
class Connection {
  readonly #stream: OpenStream;
  readonly #events: AsyncGenerator<readonly RunEvent[]>;
  readonly #idle: number;
  #hasBegun = false;
  #draining = false;
  #awaited = false;
  #silentSince = 0;
  #silence: SilenceError | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;

  constructor(stream: OpenStream, { idle, onCursor }: ConnectionOptions) {
    this.#stream = stream;
    this.#events = readRunEvents(stream.chunks, { onCursor });
    this.#idle = idle;
    this.#watchFor(idle);
  }

  /** Whether a byte has arrived. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * The events of the next chunk. Silence counts only while this is pending.
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

  /** Reads what follows `complete` for a while, so that the connection can be used again. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#watch);
    const timer = setTimeout(() => this.#stream.drop(), milliseconds);
    try {
      while (!(await this.#stream.chunks.next()).done);
    } catch {
      // The reply is there; how the rest ends matters to nobody.
    } finally {
      clearTimeout(timer);
      this.#stream.drop();
    }
  }

  /** Gives the connection up, unless it is being drained. */
  drop(): void {
    if (this.#draining) return;
    clearTimeout(this.#watch);
    this.#stream.drop();
  }

  /** Looks at the silence later: a timer for each event would cost more than the event. */
  #watchFor(milliseconds: number): void {
    this.#watch = setTimeout(() => {
      const left = this.#awaited
        ? this.#silentSince + this.#idle - performance.now()
        : this.#idle;
      if (left > 0) return this.#watchFor(left);
      this.#silence = new SilenceError(
        `nothing came from the service for ${this.#idle / 60_000} minutes`,
      );
      this.#stream.drop();
    }, milliseconds);
  }
}
