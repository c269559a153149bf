/**
 * A run's event stream over connections that break: reading, resuming, and
 * leaving the connection in a state in which it can serve the next turn.
 *
 * @module
 */

import { connectionFailure } from "./answer.ts";
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
import { ConnectionError } from "./service_error.ts";

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
 * @returns The events: `progress` any number of times, then `complete` once.
 * @throws {ServiceError} If the stream cannot be read up to `complete`.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  request: ServiceRequest,
  drained: (end: Promise<void>) => void,
): AsyncGenerator<RunEvent> {
  const { idle, retry } = client.clocks;
  let cursor: string | undefined;
  let resumed = 0; // times in a row without a new event
  let repeated = false;
  for (;;) {
    let connection: Connection | undefined;
    let failure: Error;
    try {
      connection = new Connection(
        await client.stream(withCursor(request, cursor)),
        idle,
      );
      const events = readRunEvents(connection.chunks(), {
        onCursor: (lastEventId) => cursor = lastEventId,
      });
      // Not `for await`: to leave it waits until the next chunk has come.
      for (;;) {
        const { done, value: event } = await events.next();
        if (done) break;
        resumed = 0;
        if (event.event === "complete") {
          drained(connection.drain(client.clocks.drain));
          yield event;
          return;
        }
        yield event;
      }
      failure = client.error(
        request,
        "the stream ended before the run completed",
      );
    } catch (error) {
      request.signal.throwIfAborted();
      if (connection?.timedOut) {
        throw client.error(
          request,
          `nothing came from the service for ${idle / 60_000} minutes`,
          { cause: error },
        );
      }
      if (error instanceof LineTooLongError) {
        throw client.error(request, error.message, { cause: error });
      }
      if (connection === undefined) {
        if (cursor === undefined || !(error instanceof ConnectionError)) {
          throw error;
        }
        failure = error;
      } else {
        failure = client.error(
          request,
          `the connection was lost before the run completed (${
            connectionFailure(error)
          })`,
          { cause: error },
        );
        if (!connection.hasDelivered && !repeated) {
          repeated = true;
          continue;
        }
      }
    } finally {
      connection?.drop();
    }
    const delay = retry[resumed];
    if (cursor === undefined || delay === undefined) throw failure;
    resumed++;
    await pause(delay, request.signal);
  }
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

/** One connection of a stream: its chunks, with a watch on silence. */
class Connection {
  readonly #stream: OpenStream;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #idle: number;
  #delivered = false;
  #timedOut = false;
  #draining = false;

  constructor(stream: OpenStream, idle: number) {
    this.#stream = stream;
    this.#reader = stream.body.getReader();
    this.#idle = idle;
  }

  /** Whether a byte has arrived. */
  get hasDelivered(): boolean {
    return this.#delivered;
  }

  /** Whether the connection was given up because nothing arrived. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      // Counted only while somebody waits for a chunk.
      const timer = setTimeout(() => {
        this.#timedOut = true;
        this.#stream.controller.abort();
      }, this.#idle);
      let chunk;
      try {
        chunk = await this.#reader.read();
      } finally {
        clearTimeout(timer);
      }
      if (chunk.done) return;
      this.#delivered = true;
      yield chunk.value;
    }
  }

  /** Reads what follows `complete` for a while, so that the connection can be used again. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    const timer = setTimeout(
      () => this.#stream.controller.abort(),
      milliseconds,
    );
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The reply is there; how the rest ends matters to nobody.
    } finally {
      clearTimeout(timer);
      this.#stream.release();
    }
  }

  /** Gives the connection up, unless it is being drained. */
  drop(): void {
    if (this.#draining) return;
    this.#stream.controller.abort();
    this.#stream.release();
  }
}
