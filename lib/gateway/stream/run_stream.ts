import { wholeDuration } from "../../text.ts";
import { ServiceError } from "../failure/service_error.ts";
import type { ServiceRequest } from "../http/requests.ts";
import { SilenceError } from "../http/response_body.ts";
import type { OpenStream, ServiceClient } from "../http/service_client.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";
import { readRunEvents, StreamRecord } from "./run_events.ts";
import { failureInRun, runFailure } from "./run_failure.ts";
import { type Connection, StreamRetries } from "./stream_retries.ts";

const operation = "stream run";

/** So many comments tell how often a service sends them. */
const MANY_COMMENTS = 3;

/** The shortest silence of a peer that has vanished, in milliseconds. */
const VANISHED = 60_000;

/** The same, as a multiple of the longest silence so far. */
const SILENCES = 4;

/** An error does not mention a silence that is shorter than this, in milliseconds. */
const QUIET = 5_000;

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A stream that is lost is asked for again as long as no event was delivered, and after
 * that with `Last-Event-ID` if the service sent `id:` lines ({@linkcode StreamRetries}
 * says how long). Without ids a loss is then an error, so that a truncated run never
 * looks like a finished one; so is a stream that ends.
 *
 * @yields `wait` and `progress` any number of times, then `reply` once.
 * @throws {ServiceError} If the stream cannot be read up to the reply. It names
 * the thread and the run.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  client: ServiceClient,
  request: ServiceRequest,
): AsyncGenerator<WaitEvent | StreamEvent> {
  const record = new StreamRecord();
  const { cursor } = record;
  const { redactor } = client;
  const retries = new StreamRetries(client.timeouts);
  let hasDelivered = false;
  let longestSilence = 0;
  const canAskAgain = () => !hasDelivered || cursor.lastEventId !== undefined;
  const idle = () =>
    record.comments < MANY_COMMENTS || !canAskAgain()
      ? client.timeouts.idle
      : Math.max(VANISHED, SILENCES * longestSilence);
  for (;;) {
    const connection: Connection = {
      askedAt: performance.now(),
      openedAt: undefined,
      lastByteAt: undefined,
      isFruitful: false,
    };
    let loss: ServiceError;
    let stream: OpenStream | undefined;
    try {
      const id = cursor.lastEventId;
      const headers = {
        ...request.headers,
        ...id !== undefined && { "last-event-id": id },
      };
      const opened = await client.stream({ ...request, headers }, idle);
      stream = opened;
      connection.openedAt = performance.now();
      const batches = readRunEvents(opened.chunks, record);
      // Leaving a `for await` would end the chunks, which are drained after the reply.
      for (let batch; !(batch = await batches.next()).done;) {
        client.signal.throwIfAborted();
        longestSilence = Math.max(longestSilence, silenceOf(connection));
        connection.lastByteAt = performance.now();
        const last = batch.value.at(-1);
        if (last === undefined) {
          if (!cursor.isReplaying || !retries.isOver) continue;
          const reason = "The service repeats old events and sends no new ones";
          throw new ServiceError({ operation, stage: "open", reason });
        }
        retries.renew();
        connection.isFruitful = hasDelivered = true;
        if (last.type === "reply") {
          stream = undefined;
          client.drain(opened);
        }
        for (const event of batch.value) yield event;
        if (last.type === "reply") return;
      }
      const reason = "The stream ended without a reply";
      const retry = cursor.lastEventId && "stream ended";
      loss = lossBy(reason + silence(connection), retry);
    } catch (error) {
      if (client.isLate && record.failure !== undefined) {
        throw runFailure(record.failure, redactor);
      }
      // An error with a known status is kept, even if its text came too late.
      const isTold = client.isLate && error instanceof ServiceError;
      if (!isTold) client.signal.throwIfAborted();
      loss = lossOf(error, client, connection);
    } finally {
      stream?.drop();
    }
    if (record.failure !== undefined) {
      throw runFailure(record.failure, redactor);
    }
    const pause = canAskAgain() && loss.failure.retry !== undefined
      ? retries.ended(connection)
      : undefined;
    if (pause === undefined) throw failureInRun(loss, record, redactor);
    if (loss.failure.status === undefined) client.disconnect();
    yield* client.wait(loss, pause, record.retry);
  }
}

function lossBy(reason: string, retry: string | undefined): ServiceError {
  return new ServiceError({ operation, stage: "open", reason, retry });
}

function lossOf(
  error: unknown,
  client: ServiceClient,
  connection: Connection,
): ServiceError {
  if (error instanceof SilenceError) {
    const time = wholeDuration(error.milliseconds);
    const reason = `Nothing came from the service for ${time}`;
    return lossBy(reason, "stream silent");
  }
  if (error instanceof ServiceError) return error;
  const { failure, cause } = client.connectionError(operation, error);
  const reason = failure.reason + silence(connection);
  return new ServiceError({ ...failure, reason }, { cause });
}

/** How long nothing had come before: a proxy may have closed the connection then. */
function silence(connection: Connection): string {
  const time = silenceOf(connection);
  return time < QUIET ? "" : `, after ${wholeDuration(time)} without an event`;
}

function silenceOf({ openedAt, lastByteAt }: Connection): number {
  return performance.now() - (lastByteAt ?? openedAt ?? Infinity);
}
