import { wholeDuration } from "../../text.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import type { Call, OpenStream } from "../http/call.ts";
import type { ServiceRequest } from "../http/requests.ts";
import { SilenceError } from "../http/response_body.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";
import { readRunEvents } from "./run_events.ts";
import { failureInRun, runFailure } from "./run_failure.ts";
import { StreamRecord } from "./stream_record.ts";
import { StreamRetries } from "./stream_retries.ts";

/** So many comments show how often a service sends them. */
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
 * @throws {RequestError} If the stream cannot be read up to the reply.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  call: Call,
  request: ServiceRequest,
): AsyncGenerator<WaitEvent | StreamEvent> {
  const run = new FollowedRun(call, request);
  const retries = new StreamRetries(call.timeouts);
  for (;;) {
    const attempt = new Attempt(retries);
    const ended = yield* run.attempt(attempt);
    if (ended === "replied") return;

    const isLost = ended.retry !== undefined && run.canBeAskedForAgain;
    const pause = isLost ? retries.ended(attempt) : undefined;
    if (pause === undefined) {
      const { record } = run;
      throw new RequestError(failureInRun(ended, record, call.redactor));
    }
    if (ended.status === undefined) call.disconnect();
    yield* call.wait(ended, pause, run.record.retry);
  }
}

/** One request for the stream. Times are on the clock of `performance.now()`. */
export class Attempt {
  readonly askedAt: number = performance.now();
  /** When its headers arrived; `undefined` if none did. */
  openedAt: number | undefined;
  lastByteAt: number | undefined;
  /** Whether it brought a new event. */
  isFruitful = false;
  readonly #retries: StreamRetries;

  constructor(retries: StreamRetries) {
    this.#retries = retries;
  }

  /** The time since the last byte, in milliseconds. */
  get silence(): number {
    return performance.now() - (this.lastByteAt ?? this.openedAt ?? Infinity);
  }

  get isOver(): boolean {
    return this.#retries.isOver;
  }

  hearEvent(): void {
    this.isFruitful = true;
    this.#retries.renew();
  }
}

/** A run, and what is known of it over all attempts to follow it. */
class FollowedRun {
  readonly record = new StreamRecord();
  readonly #call: Call;
  readonly #request: ServiceRequest;
  #hasDelivered = false;
  /** The longest silence on any connection, in milliseconds. */
  #longestSilence = 0;

  constructor(call: Call, request: ServiceRequest) {
    this.#call = call;
    this.#request = request;
  }

  /** Whether a new connection could deliver an event twice. */
  get canBeAskedForAgain(): boolean {
    const { lastEventId } = this.record.cursor;
    return !this.#hasDelivered || lastEventId !== undefined;
  }

  /**
   * Makes one attempt to follow the run.
   *
   * @returns Why it ended before the reply, if it did.
   * @throws The signal's reason, if it is aborted.
   */
  async *attempt(
    attempt: Attempt,
  ): AsyncGenerator<StreamEvent, "replied" | Failure> {
    const { signal } = this.#call;
    let stream: OpenStream | undefined;
    try {
      stream = await this.#call.stream(this.#requestNow(), () => this.#idle);
      attempt.openedAt = performance.now();
      yield* this.#read(stream, attempt);
      if (this.#hasReplied) return "replied";
      return this.#failed() ?? this.#ended(attempt);
    } catch (error) {
      // An error with a known status is kept, even if its text came too late.
      const isKnown = error instanceof RequestError && this.#call.isLate;
      if (signal.aborted && !isKnown) throw this.#aborted();
      return this.#failed() ?? this.#lost(error, attempt);
    } finally {
      if (!this.#hasReplied) stream?.drop();
    }
  }

  #requestNow(): ServiceRequest {
    const id = this.record.cursor.lastEventId;
    if (id === undefined) return this.#request;
    const headers = { ...this.#request.headers, "last-event-id": id };
    return { ...this.#request, headers };
  }

  get #hasReplied(): boolean {
    return this.#call.state.fate === undefined;
  }

  /** Yields the events of a stream, the reply at the end if it comes. */
  async *#read(
    stream: OpenStream,
    attempt: Attempt,
  ): AsyncGenerator<StreamEvent> {
    const { signal, state } = this.#call;
    // After the reply, the rest of the chunks is drained: leaving the loop over them
    // must not end them.
    const chunks = { next: () => stream.chunks.next() };
    const events = { [Symbol.asyncIterator]: () => chunks };
    for await (const batch of readRunEvents(events, this.record)) {
      signal.throwIfAborted();
      this.#longestSilence = Math.max(this.#longestSilence, attempt.silence);
      attempt.lastByteAt = performance.now();
      if (this.record.known + this.record.unknown > 0) state.hearEvent();
      const { events, isReplaying } = batch;
      if (events.length === 0) {
        if (!isReplaying || !attempt.isOver) continue;
        const reason = "The service repeats old events and sends no new ones";
        throw new RequestError({ stage: "perhaps taken", reason });
      }
      attempt.hearEvent();
      this.#hasDelivered = true;
      for (const event of events) {
        if (event.type === "reply") {
          state.complete();
          this.#call.drain(stream);
        }
        yield this.#withoutKey(event);
      }
    }
  }

  /** The event as it may be shown: a reply stays as it is. */
  #withoutKey(event: StreamEvent): StreamEvent {
    const { redactor } = this.#call;
    if (event.type === "reply") {
      return event.fields === undefined
        ? event
        : { ...event, fields: redactor.show(event.fields) };
    }
    const node = redactor.showName(event.node);
    const status = redactor.showName(event.status);
    return { ...event, node, status };
  }

  /** The failure of the run, if the service's last words were about it. */
  #failed(): Failure | undefined {
    const { failure } = this.record;
    return failure === undefined || failure.isOutdated
      ? undefined
      : runFailure(failure.words, this.#call.redactor);
  }

  #ended(attempt: Attempt): Failure {
    const reason = `The stream ended without a reply${silenceOf(attempt)}`;
    const isResumable = this.record.cursor.lastEventId !== undefined;
    const retry = isResumable ? "stream ended" : undefined;
    return { stage: "perhaps taken", reason, retry };
  }

  #lost(error: unknown, attempt: Attempt): Failure {
    if (error instanceof SilenceError) {
      const time = wholeDuration(error.milliseconds);
      const reason = `Nothing came from the service for ${time}`;
      return { stage: "perhaps taken", reason, retry: "stream silent" };
    }
    if (error instanceof RequestError) return error.failure;
    const { failure } = this.#call.connectionError(error);
    return { ...failure, reason: failure.reason + silenceOf(attempt) };
  }

  /** What to throw if the call was dropped, or took too long. */
  #aborted(): unknown {
    const { signal, isLate } = this.#call;
    if (!isLate) return signal.reason;
    const { failure } = this.#call.lateError();
    const { redactor } = this.#call;
    return new RequestError(failureInRun(failure, this.record, redactor));
  }

  /** How long the service may be silent: a peer that has vanished shows by nothing else. */
  get #idle(): number {
    const { idle } = this.#call.timeouts;
    const isRegular = this.record.comments >= MANY_COMMENTS;
    return isRegular && this.canBeAskedForAgain
      ? Math.max(VANISHED, SILENCES * this.#longestSilence)
      : idle;
  }
}

/** How long nothing had come before: a proxy may have closed the connection then. */
function silenceOf({ silence }: Attempt): string {
  return silence < QUIET
    ? ""
    : `, after ${wholeDuration(silence)} without an event`;
}
