import { wholeDuration } from "../../text.ts";
import { type RunIds, ServiceError } from "../failure/service_error.ts";
import type { ServiceRequest } from "../http/requests.ts";
import { SilenceError } from "../http/response_body.ts";
import type { OpenStream, ServiceClient } from "../http/service_client.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";
import {
  readRunEvents,
  type StreamObserver,
  StreamRecord,
} from "./run_events.ts";
import { failureInRun, runFailure } from "./run_failure.ts";
import { type Connection, StreamRetries } from "./stream_retries.ts";

const operation = "stream run";

/** An error does not mention a silence that is shorter than this, in milliseconds. */
const QUIET = 5_000;

export interface FollowedRun extends RunIds {
  readonly request: ServiceRequest;
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
 * @yields One batch per network chunk that is not empty: `wait` and `progress`
 * any number of times, then `reply` once.
 * @throws {ServiceError} If the stream cannot be read up to the reply. It names
 * the thread and the run.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  run: FollowedRun,
  observer?: StreamObserver,
): AsyncGenerator<readonly (WaitEvent | StreamEvent)[]> {
  const record = new StreamRecord(observer);
  const { cursor } = record;
  const { redactor } = client;
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
      const id = cursor.lastEventId;
      const headers = {
        ...run.request.headers,
        ...id !== undefined && { "last-event-id": id },
      };
      const opened = await client.stream({ ...run.request, headers });
      stream = opened;
      observer?.open(opened.headers);
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
          throw new ServiceError({ operation, stage: "open", reason });
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
        throw runFailure(record.failure, run, redactor);
      }
      // An error with a known status is kept, even if its text came too late.
      const isTold = client.isLate && error instanceof ServiceError;
      if (!isTold) client.signal.throwIfAborted();
      loss = lossOf(error, client, connection);
    } finally {
      stream?.drop();
    }
    if (record.failure !== undefined) {
      throw runFailure(record.failure, run, redactor);
    }
    const { error, isUnfinished = false } = loss;
    const canGoOn = cursor.lastEventId !== undefined ||
      connection.lastByteAt === undefined && !isUnfinished;
    const delay = canGoOn && error.failure.retry !== undefined
      ? retries.ended(connection)
      : undefined;
    if (delay === undefined) throw failureInRun(error, run, record);
    client.disconnect();
    yield* client.wait(error, delay);
  }
}

interface Loss {
  readonly error: ServiceError;
  /** Whether the answer ended or fell silent: without ids, that is final. */
  readonly isUnfinished?: boolean;
}

function unfinished(reason: string, retry: string): Loss {
  const failure = { operation, stage: "open", reason, retry } as const;
  return { error: new ServiceError(failure), isUnfinished: true };
}

function lossOf(
  error: unknown,
  client: ServiceClient,
  connection: Connection,
): Loss {
  if (error instanceof SilenceError) {
    const time = wholeDuration(client.timeouts.idle);
    const reason = `nothing came from the service for ${time}`;
    return unfinished(reason, "stream silent");
  }
  if (error instanceof ServiceError) return { error };
  const { failure, cause } = client.connectionError(operation, error);
  const reason = failure.reason + silence(connection);
  return { error: new ServiceError({ ...failure, reason }, { cause }) };
}

/** How long nothing had come before: a proxy may have closed the connection then. */
function silence({ openedAt, lastByteAt }: Connection): string {
  const milliseconds = performance.now() - (lastByteAt ?? openedAt ?? Infinity);
  return milliseconds < QUIET
    ? ""
    : `, after ${wholeDuration(milliseconds)} without an event`;
}
