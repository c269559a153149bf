import { AwakeClock } from "../../io.ts";
import { safe } from "../../text.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import {
  type Attempt,
  type Attempts,
  isReplayOver,
  type Retry,
  retryStream,
  silenceLimit,
  withAttempt,
} from "../failure/retry_policy.ts";
import type { Call } from "../http/call.ts";
import type { ServiceRequest } from "../http/requests.ts";
import { Silences } from "../http/silences.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";
import { readRunEvents } from "./run_events.ts";
import { StreamRecord } from "./stream_record.ts";

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A stream that is lost, or ends too early, is requested again as long as no event was
 * delivered, and after that with `Last-Event-ID` if the service sent `id:` lines
 * ({@linkcode retryStream} says how long). Without ids a loss is then an error, so that
 * a truncated run never looks like a finished one.
 *
 * @yields The new events of each chunk: `progress` any number of times, then `reply`
 * once, and `wait` before each pause.
 * @throws {ServiceError} If the stream cannot be read up to the reply.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  call: Call,
  request: ServiceRequest,
): AsyncGenerator<readonly (WaitEvent | StreamEvent)[]> {
  using clock = new AwakeClock();
  const run = new FollowedRun(call, request, clock);
  try {
    for (;;) {
      const { now } = clock;
      const attempt: Attempt = { askedAt: now, endedAt: now, isWhole: false };
      let failure: Failure;
      try {
        return yield* run.read(attempt);
      } catch (error) {
        failure = call.failureOf(error);
      }
      const ended = run.end(attempt, failure);
      if (ended.retry === undefined) throw call.errorOf(ended.failure);
      yield* call.wait(ended.failure, ended.retry);
    }
  } finally {
    run.logNotUnderstood();
  }
}

/** An attempt to follow a run ended without its reply. */
interface Ended {
  readonly failure: Failure;
  /** When to request the stream again; `undefined` to give the run up. */
  readonly retry: Retry | undefined;
}

/** A run, and what is known of it over all attempts to follow it. */
class FollowedRun {
  readonly #call: Call;
  readonly #request: ServiceRequest;
  readonly #clock: AwakeClock;
  readonly #silences: Silences;
  readonly #record = new StreamRecord();
  #attempts: Attempts | undefined;
  #hasDelivered = false;

  constructor(call: Call, request: ServiceRequest, clock: AwakeClock) {
    this.#call = call;
    this.#request = request;
    this.#clock = clock;
    this.#silences = new Silences(clock, (longest) => {
      const { comments } = this.#record;
      const stream = { mayRepeat: this.#mayRepeat, comments, longest };
      return silenceLimit(stream);
    });
  }

  logNotUnderstood(): void {
    const { summary } = this.#record.notUnderstood ?? {};
    if (summary !== undefined) this.#call.log(summary);
  }

  /**
   * Makes one attempt to follow the run: reads a stream up to the reply.
   *
   * @throws {RequestError} If it ends before that, or cannot be read.
   */
  async *read(attempt: Attempt): AsyncGenerator<readonly StreamEvent[], void> {
    const { signal, state, redactor, usesTls } = this.#call;
    const record = this.#record;
    const { dataLines } = record;
    const stream = await this.#call.stream(this.#nextRequest(), this.#silences);
    attempt.openedAt = this.#clock.now;
    let isComplete = false;
    try {
      for await (
        const batch of readRunEvents(stream.chunks, { record, redactor })
      ) {
        signal.throwIfAborted();
        if (record.hasObjects) state.noteEvents();
        const { events, hasNews, isReplaying } = batch;
        const isOld = isReplaying && events.length === 0;
        const { now } = this.#clock;
        if (isOld && isReplayOver(now - attempt.openedAt)) {
          const reason =
            safe`The service repeats old events and sends no new ones`;
          throw new RequestError({ stage: "perhaps taken", reason });
        }
        if (hasNews) attempt.newestAt = now;
        if (events.length === 0) continue;
        this.#hasDelivered = true;
        isComplete = events.at(-1)?.type === "reply";
        if (isComplete) {
          state.complete();
          this.#call.drain(stream);
        }
        yield events;
      }
    } finally {
      if (!isComplete) stream.drop();
    }
    if (isComplete) return;
    // Over HTTP/2, a stream that is reset may look as if it had ended.
    attempt.isWhole = !usesTls || record.dataLines > dataLines;
    const reason = safe`The stream ended without a reply`;
    const problem = "stream ended";
    throw new RequestError({ stage: "perhaps taken", reason, problem });
  }

  /** Decides what follows an attempt that has ended without the reply. */
  end(attempt: Attempt, cause: Failure): Ended {
    const record = this.#record;
    attempt.endedAt = this.#clock.now;
    const failure = record.failureAfter(cause, this.#call.signal.aborted);
    const attempts = withAttempt(this.#attempts, attempt);
    this.#attempts = attempts;
    const mayRepeat = this.#mayRepeat;
    const state = { mayRepeat, retryField: record.retry, attempts };
    return { failure, retry: retryStream(failure, state) };
  }

  #nextRequest(): ServiceRequest {
    const id = this.#record.cursor.lastEventId;
    if (id === undefined) return this.#request;
    const headers = { ...this.#request.headers, "last-event-id": id };
    return { ...this.#request, headers };
  }

  /** Whether another connection could deliver an event again. */
  get #mayRepeat(): boolean {
    const { lastEventId } = this.#record.cursor;
    return this.#hasDelivered && lastEventId === undefined;
  }
}
