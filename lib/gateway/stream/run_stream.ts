/**
 * A run's event stream over breaking connections: reading, reconnecting and
 * giving up.
 *
 * @module
 */

import { SilenceError } from "../http/response_body.ts";
import {
  readRunEvents,
  type StreamObserver,
  StreamRecord,
} from "./run_events.ts";
import {
  type Connection,
  retryReason,
  StreamRetries,
} from "../http/retries.ts";
import type { OpenStream, ServiceClient } from "../http/service_client.ts";
import type { RunIds, ServiceRequest } from "../http/requests.ts";
import { UNKNOWN_FATE } from "../failure/fate.ts";
import { failureInRun, runFailure } from "../failure/run_failure.ts";
import { ConnectionError, ServiceError } from "../failure/service_error.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";

const operation = "stream run";
const fate = UNKNOWN_FATE[operation];

/** An error does not mention a silence that is shorter than this, in milliseconds. */
const QUIET = 5_000;

/** A run and the request for its stream. */
export interface FollowedRun extends RunIds {
  /** The request for its stream. */
  readonly request: ServiceRequest;
  /** The key, which no error shows. */
  readonly apiKey: string;
}

export interface FollowOptions {
  /** Sees the lines and events of all connections. */
  readonly observer?: StreamObserver | undefined;
  /** Whether the stream is requested only once, so that no retry hides a failure. */
  readonly once?: boolean | undefined;
  /** The event after which the stream is resumed; by default it begins at its start. */
  readonly lastEventId?: string | undefined;
}

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A `GET` without a single byte in answer is retried until 2 minutes have passed
 * without an answer. After the first byte, the stream is resumed with
 * `Last-Event-ID` if the service sent `id:` lines ({@linkcode StreamRetries} says how
 * long). Without ids a loss is an error, so that a truncated run never looks like
 * a finished one.
 *
 * @param client Sends the requests.
 * @yields One batch per network chunk that is not empty: `wait` and `progress`
 * any number of times, then `reply` once.
 * @throws {ServiceError} If the stream cannot be read up to the reply. It names
 * the thread and the run.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  run: FollowedRun,
  { observer, once = false, lastEventId }: FollowOptions = {},
): AsyncGenerator<readonly (WaitEvent | StreamEvent)[]> {
  const record = new StreamRecord(observer);
  const { cursor } = record;
  const retries = new StreamRetries(client.timeouts);
  for (;;) {
    const connection: Connection = {
      openedAt: undefined,
      lastByteAt: undefined,
      isFruitful: false,
    };
    let loss: Loss;
    let stream: OpenStream | undefined;
    try {
      const id = cursor.lastEventId ?? lastEventId;
      const headers = {
        ...run.request.headers,
        ...id !== undefined && { "last-event-id": id },
      };
      const opened = await client.stream({ ...run.request, headers });
      stream = opened;
      observer?.open(opened.headers, cursor);
      connection.openedAt = performance.now();
      const batches = readRunEvents(opened.chunks, record);
      // Leaving a `for await` would end the chunks, which are drained after the reply.
      for (let batch; !(batch = await batches.next()).done;) {
        client.signal.throwIfAborted();
        connection.lastByteAt = performance.now();
        const last = batch.value.at(-1);
        if (last === undefined) {
          if (!cursor.isReplaying || !retries.isOver) continue;
          const reason = "the service sends old events again and no new ones";
          throw new ServiceError({ operation, reason, fate });
        }
        retries.renew();
        connection.isFruitful = true;
        if (last.type === "reply") {
          stream = undefined;
          client.drain(opened);
        }
        yield batch.value;
        if (last.type === "reply") return;
      }
      const reason = "the stream ended before the run completed";
      loss = unfinished(reason + silence(connection), "stream ended");
    } catch (error) {
      if (client.isLate && record.failure !== undefined) {
        throw runFailure(record.failure, run);
      }
      // An error with a known status is kept, even if its text came too late.
      const isTold = client.isLate && error instanceof ServiceError;
      if (!isTold) client.signal.throwIfAborted();
      loss = lossOf(error, client, connection);
    } finally {
      stream?.drop();
    }
    if (record.failure !== undefined) throw runFailure(record.failure, run);
    const { failure, retry, isUnfinished = false } = loss;
    const canGoOn = !once && (cursor.lastEventId !== undefined ||
      connection.lastByteAt === undefined && !isUnfinished);
    const delay = canGoOn && retry ? retries.ended(connection) : undefined;
    if (retry === undefined || delay === undefined) {
      throw failureInRun(failure, run, record);
    }
    client.disconnect();
    yield* client.wait(failure, retry, delay);
  }
}

/** Why a connection ended before the reply. */
interface Loss {
  readonly failure: ServiceError;
  /** Why the stream is requested again, in a few words, unless the failure is final. */
  readonly retry: string | undefined;
  /** Whether the answer ended or fell silent: without ids, that is final. */
  readonly isUnfinished?: boolean;
}

function unfinished(reason: string, retry: string): Loss {
  const failure = new ServiceError({ operation, reason, fate });
  return { failure, retry, isUnfinished: true };
}

function lossOf(
  error: unknown,
  client: ServiceClient,
  connection: Connection,
): Loss {
  if (error instanceof SilenceError) {
    const minutes = client.timeouts.idle / 60_000;
    const reason = `nothing came from the service for ${minutes} minutes`;
    return unfinished(reason, "stream silent");
  }
  const retry = "connection lost";
  if (error instanceof ConnectionError) return { failure: error, retry };
  if (error instanceof ServiceError) {
    return { failure: error, retry: retryReason(error) };
  }
  const { failure } = client.connectionError(operation, error);
  const reason = failure.reason + silence(connection);
  const cause = { cause: error };
  return { failure: new ConnectionError({ ...failure, reason }, cause), retry };
}

/**
 * How long nothing had come when a connection was lost: a proxy may have closed it
 * because of that.
 */
function silence({ openedAt, lastByteAt }: Connection): string {
  const milliseconds = performance.now() - (lastByteAt ?? openedAt ?? Infinity);
  return milliseconds < QUIET
    ? ""
    : `, after ${Math.round(milliseconds / 1000)} s without an event`;
}
