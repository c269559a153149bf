import { AwakeClock } from "../../io.ts";
import { wholeDuration } from "../../text.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import type { Call, OpenStream } from "../http/call.ts";
import type { ServiceRequest } from "../http/requests.ts";
import { SilenceError, Silences } from "../http/silences.ts";
import type { StreamEvent, WaitEvent } from "../turn_event.ts";
import { type Attempt, Patience } from "./patience.ts";
import { type Batch, readRunEvents } from "./run_events.ts";
import { failureInRun, runFailure } from "./run_failure.ts";
import { StreamRecord } from "./stream_record.ts";

/** So many comments show how often a service sends them. */
const MANY_COMMENTS = 3;

/** The shortest silence of a peer that has vanished, in milliseconds. */
export const VANISHED = 60_000;

/** The same, as a multiple of the longest silence so far. */
export const SILENCES = 4;

/** An error does not mention a silence that is shorter than this, in milliseconds. */
const QUIET = 5_000;

/**
 * Follows a run until it completes (interface 4.1, operation 3).
 *
 * A stream that is lost, or ends too early, is asked for again as long as no event was
 * delivered, and after that with `Last-Event-ID` if the service sent `id:` lines
 * ({@linkcode Patience} says how long). Without ids a loss is then an error, so that a
 * truncated run never looks like a finished one.
 *
 * @yields The new events of each chunk: `progress` any number of times, then `reply`
 * once, and `wait` before each pause.
 * @throws {RequestError} If the stream cannot be read up to the reply.
 * @throws The signal's reason, if it is aborted.
 */
export async function* followRun(
  call: Call,
  request: ServiceRequest,
): AsyncGenerator<readonly (WaitEvent | StreamEvent)[]> {
  using clock = new AwakeClock();
  const patience = new Patience(call.timeouts, clock);
  const run = new FollowedRun(call, request, clock, patience);
  try {
    for (;;) {
      const attempt = patience.begin();
      const end = yield* run.follow(attempt);
      if (end === undefined) return;

      const { failure } = end;
      const mayRetry = failure.retry !== undefined && run.canBeAskedForAgain;
      const pause = mayRetry
        ? patience.pauseAfter(attempt, end.isWhole)
        : undefined;
      if (pause === undefined) throw run.errorOf(failure);
      if (failure.status === undefined) call.disconnect();
      yield* call.wait(failure, pause, run.retryField);
    }
  } catch (error) {
    const late = error === call.signal.reason ? call.lateFailure : undefined;
    throw late === undefined ? error : run.errorOf(late);
  }
}

/** Why an attempt ended without the reply. */
interface AttemptEnd {
  readonly failure: Failure;
  /** Whether its stream certainly ended by itself, as a whole answer. */
  readonly isWhole: boolean;
}

/** A run, and what is known of it over all attempts to follow it. */
class FollowedRun {
  readonly #call: Call;
  readonly #request: ServiceRequest;
  readonly #patience: Patience;
  readonly #silences: Silences;
  readonly #record = new StreamRecord();
  #hasDelivered = false;

  constructor(
    call: Call,
    request: ServiceRequest,
    clock: AwakeClock,
    patience: Patience,
  ) {
    this.#call = call;
    this.#request = request;
    this.#patience = patience;
    this.#silences = new Silences(clock, () => this.#silenceLimit);
  }

  /** Whether a new connection could not deliver an event twice. */
  get canBeAskedForAgain(): boolean {
    const { lastEventId } = this.#record.cursor;
    return !this.#hasDelivered || lastEventId !== undefined;
  }

  /** The pause that the stream asks for before it is resumed, in milliseconds. */
  get retryField(): number {
    return this.#record.retry;
  }

  /** The error for a run that is given up. */
  errorOf(failure: Failure): RequestError {
    const { redactor } = this.#call;
    return new RequestError(failureInRun(failure, this.#record, redactor));
  }

  /**
   * Makes one attempt to follow the run. Returns why it ended without the reply;
   * `undefined` if that came.
   *
   * @throws The signal's reason, if it is aborted.
   */
  async *follow(
    attempt: Attempt,
  ): AsyncGenerator<readonly StreamEvent[], AttemptEnd | undefined> {
    const { signal } = this.#call;
    const { dataLines } = this.#record;
    let stream: OpenStream | undefined;
    try {
      stream = await this.#call.stream(this.#nextRequest(), this.#silences);
      this.#patience.open(attempt);
      const resumedAfter = this.#record.cursor.lastEventId;
      const options = { record: this.#record, redactor: this.#call.redactor };
      for await (const batch of readRunEvents(stream.chunks, options)) {
        signal.throwIfAborted();
        this.#note(batch, attempt, resumedAfter);
        if (this.#call.state.isComplete) this.#call.drain(stream);
        if (batch.events.length > 0) yield batch.events;
      }
      if (this.#call.state.isComplete) return undefined;
      // Over HTTP/2, some streams that are reset look as if they had ended.
      const hasData = this.#record.dataLines > dataLines;
      const isWhole = hasData || !this.#call.usesTls;
      return { failure: this.#runFailure() ?? this.#ended(), isWhole };
    } catch (error) {
      // An error with a known status is kept, even if its text came too late.
      const isKnown = error instanceof RequestError && this.#call.isLate;
      if (signal.aborted && !isKnown) throw signal.reason;
      const failure = this.#runFailure() ?? this.#lost(error);
      return { failure, isWhole: false };
    } finally {
      if (!this.#call.state.isComplete) stream?.drop();
    }
  }

  #nextRequest(): ServiceRequest {
    const id = this.#record.cursor.lastEventId;
    if (id === undefined) return this.#request;
    const headers = { ...this.#request.headers, "last-event-id": id };
    return { ...this.#request, headers };
  }

  /** Takes note of what has come of a chunk, and completes the call with the reply. */
  #note(
    { events, isReplaying }: Batch,
    attempt: Attempt,
    resumedAfter: string | undefined,
  ): void {
    const { state } = this.#call;
    const { known, unknown } = this.#record;
    if (known + unknown > 0) state.hearEvent();
    const isStale = isReplaying && events.length === 0;
    if (isStale && this.#patience.isTooOld(attempt)) {
      const reason = "The service repeats old events and sends no new ones";
      throw new RequestError({ stage: "perhaps taken", reason });
    }
    if (events.length === 0) return;
    // On a connection that resumes, an event without an id may be an old one.
    const hasMoved = this.#record.cursor.lastEventId !== resumedAfter;
    if (resumedAfter === undefined || hasMoved) this.#patience.renew(attempt);
    this.#hasDelivered = true;
    if (events.at(-1)?.type === "reply") state.complete();
  }

  /** The failure of the run, if the service's last words were about one. */
  #runFailure(): Failure | undefined {
    const { failure } = this.#record;
    if (failure === undefined || failure.isOutdated) return undefined;
    return runFailure(failure.words, this.#call.redactor);
  }

  #ended(): Failure {
    const reason = `The stream ended without a reply${this.#silenceBefore}`;
    return { stage: "perhaps taken", reason, retry: "stream ended" };
  }

  #lost(error: unknown): Failure {
    if (error instanceof SilenceError) {
      const time = wholeDuration(error.milliseconds);
      const reason = `Nothing came from the service for ${time}`;
      return { stage: "perhaps taken", reason, retry: "stream silent" };
    }
    if (error instanceof RequestError) return error.failure;
    const { failure } = this.#call.connectionError(error);
    return { ...failure, reason: failure.reason + this.#silenceBefore };
  }

  /** How long nothing had come: a proxy may have closed the connection then. */
  get #silenceBefore(): string {
    const { last } = this.#silences;
    return last < QUIET
      ? ""
      : `, after ${wholeDuration(last)} without an event`;
  }

  /**
   * How long the service may be silent, in milliseconds. A peer that has vanished shows
   * by nothing but silence, where comments usually come.
   */
  get #silenceLimit(): number {
    const { idle } = this.#call.timeouts;
    const hasRhythm = this.#record.comments >= MANY_COMMENTS;
    if (!hasRhythm || !this.canBeAskedForAgain) return idle;
    const { longest } = this.#silences;
    return Math.min(idle, Math.max(VANISHED, SILENCES * longest));
  }
}
