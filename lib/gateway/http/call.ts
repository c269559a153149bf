import { Deadline, type Log, pause, TimeIsOver } from "../../io.ts";
import {
  joinSafe,
  type Redacted,
  type Redactor,
  safe,
  type ServiceId,
  type Uuid,
  wholeDuration,
} from "../../text.ts";
import { CallConnection, type Route } from "../connection.ts";
import type { CallState } from "../failure/call_state.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import {
  adviceToWait,
  type Retry,
  retryPost,
} from "../failure/retry_policy.ts";
import { ServiceError } from "../failure/service_error.ts";
import type { WaitEvent } from "../turn_event.ts";
import { type Answer, readErrorText, readId } from "./answer.ts";
import { headersOf, type ServiceRequest } from "./requests.ts";
import { drainBody, type OpenStream, readBody } from "./response_body.ts";
import type { Silences } from "./silences.ts";
import { statusError } from "./status_error.ts";
import { TIMEOUTS, type Timeouts } from "../timeouts.ts";
import { refuseUnreadable } from "./unreadable_stream.ts";

export interface GatewayOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). No error shows it. */
  readonly apiKey: string;
  readonly timeouts?: Timeouts | undefined;
  /** Gets a line for each request, when its outcome is known. */
  readonly log?: Log | undefined;
}

/** What the calls of a gateway share. */
export interface SharedOptions extends GatewayOptions {
  readonly route: Route;
}

export interface CallOptions {
  /**
   * Aborting it drops the call. The service continues a run that it has started. If the
   * reason is {@linkcode TimeIsOver}, the call fails with an error that says so.
   */
  readonly signal?: AbortSignal | undefined;
  readonly sessionId?: ServiceId | Uuid | undefined;
}

const NEVER = new AbortController().signal;

/**
 * One prompt, or one thread, on its way: its requests one after the other, their
 * connections, its limit, and how far it got. Close it when it ends.
 */
export class Call {
  readonly state: CallState;
  /** Aborted when the call is dropped or takes too long. */
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  readonly redactor: Redactor;
  readonly #options: SharedOptions;
  readonly #sessionId: ServiceId | Uuid | undefined;
  readonly #connection: CallConnection;
  /** Why the last request failed; `undefined` if it did not, or is under way. */
  #lastFailure: Failure | undefined;
  #draining: Promise<void> | undefined;

  constructor(
    state: CallState,
    options: SharedOptions,
    { signal, sessionId }: CallOptions,
  ) {
    this.state = state;
    this.signal = signal ?? NEVER;
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#options = options;
    this.#sessionId = sessionId;
    this.#connection = new CallConnection(options.route, state);
    this.redactor = options.route.redactor;
  }

  /**
   * Sends a `POST` and reads the id in its answer. It is repeated as
   * {@linkcode retryPost} decides.
   *
   * @throws {RequestError} If there is no 2xx answer with a valid id.
   * @throws The signal's reason, if it is aborted.
   */
  async *post(
    request: ServiceRequest,
  ): AsyncGenerator<readonly WaitEvent[], ServiceId> {
    for (let count = 1;; count++) {
      try {
        return await this.#postOnce(request);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const { failure } = error;
        const fate = this.state.fateAt(failure.stage);
        const retry = retryPost(failure, { fate, count }, this.timeouts);
        if (retry === undefined) {
          const advice = adviceToWait(failure, fate, this.timeouts);
          throw advice ? new RequestError({ ...failure, advice }) : error;
        }
        yield* this.wait(failure, retry);
      }
    }
  }

  async #postOnce(request: ServiceRequest): Promise<ServiceId> {
    const limit = this.timeouts.answer;
    using deadline = this.#start(limit);
    try {
      return await readId(await this.#send("POST", request, deadline.signal));
    } catch (cause) {
      throw this.errorOf(cause, deadline.isOver ? limit : undefined);
    }
  }

  /**
   * Sends a `GET` for an event stream once and waits for its headers.
   *
   * @param silences Limits the silence of the body.
   * @throws {RequestError} If no connection was made, it broke, no headers came in
   * time, or the answer is not a stream that can be read.
   * @throws The signal's reason, if it is aborted.
   */
  async stream(
    request: ServiceRequest,
    silences: Silences,
  ): Promise<OpenStream> {
    const limit = this.timeouts.idle;
    const deadline = this.#start(limit);
    const { signal } = deadline;
    try {
      const answer = await this.#send("GET", request, signal);
      await refuseUnreadable(answer);
      deadline.meet();
      const { response } = answer;
      return {
        chunks: readBody(response, signal, silences),
        drop: () => deadline.drop(),
      };
    } catch (cause) {
      deadline[Symbol.dispose]();
      throw this.errorOf(cause, deadline.isOver ? limit : undefined);
    }
  }

  /**
   * Announces a pause before a retry, and waits. A connection that broke is closed.
   * Throws the signal's reason as soon as it is aborted.
   */
  async *wait(
    failure: Failure,
    { problem, least, most }: Retry,
  ): AsyncGenerator<readonly WaitEvent[], void> {
    const { status } = failure;
    const milliseconds = least + Math.random() * (most - least);
    this.#lastFailure = failure;
    if (status === undefined) this.#connection.close();
    if (milliseconds === 0) return;
    yield [{ type: "wait", reason: problem, milliseconds, status }];
    await pause(milliseconds, this.signal);
  }

  /** Reads on after the reply for a moment, in the background, and drops the rest. */
  drain(stream: OpenStream): void {
    this.#draining = drainBody(stream, this.timeouts.drain);
  }

  /** Ends the call: closes its connections after the stream was drained. */
  async close(): Promise<void> {
    await this.#draining;
    this.#connection.close();
  }

  get usesTls(): boolean {
    return this.#options.baseUrl.startsWith("https:");
  }

  /**
   * The error of a request that failed, or of its answer: an error of this layer, or the
   * reason of the signal, if the call was dropped or took too long.
   *
   * @param exceeded The time limit of the request, if it is over, in milliseconds.
   */
  errorOf(cause: unknown, exceeded?: number): unknown {
    const { aborted, reason } = this.signal;
    if (aborted && !this.#isLate) return reason;
    // The status is used, even if the time was over before the body arrived.
    const isKnown = cause instanceof RequestError;
    const error = isKnown ? cause : this.#connectionError(cause, exceeded);
    if (error !== undefined) this.state.setStage(error.failure.stage);
    if (isKnown || !aborted) return error;
    this.#lastFailure = error?.failure; // The failure of a call that is late quotes it.
    return reason;
  }

  /** The error of a connection; `undefined` if the time of the call was over first. */
  #connectionError(
    cause: unknown,
    exceeded: number | undefined,
  ): RequestError | undefined {
    const { stage } = this.state;
    if (this.#isLate) {
      // If no connection was made until then, the relay may know why.
      const mayKnow = stage === "not sent" && this.#connection.hasFailure;
      return mayKnow ? this.#connection.error(cause) : undefined;
    }
    if (exceeded === undefined) return this.#connection.error(cause);
    return new RequestError({
      stage,
      reason: safe`The service did not answer within ${
        wholeDuration(exceeded)
      }`,
      problem: "connection lost",
    }, { cause });
  }

  /** Why the call failed; `undefined` if it was dropped, or the program has a fault. */
  failureOf(error: unknown): Failure | undefined {
    if (error instanceof RequestError) return error.failure;
    const { reason: over } = this.signal;
    if (error !== over || !(over instanceof TimeIsOver)) return undefined;
    const start = safe`There was no reply within ${over.milliseconds / 1000} s`;
    const reason = this.#lastFailure === undefined
      ? start
      : safe`${start}. ${this.#lastFailure.reason}`;
    return { stage: this.state.stage, reason };
  }

  /** The error that callers get for one with which the call ends. */
  explain(error: unknown): unknown {
    const failure = this.failureOf(error);
    if (failure === undefined) return error;
    this.state.setStage(failure.stage);
    return new ServiceError(failure, this.state, { cause: error });
  }

  get #isLate(): boolean {
    return this.signal.reason instanceof TimeIsOver;
  }

  /** Starts the time limit for a request, in milliseconds. */
  #start(limit: number): Deadline {
    this.signal.throwIfAborted();
    this.#lastFailure = undefined;
    return new Deadline(limit, this.signal);
  }

  async #send(
    method: "GET" | "POST",
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { baseUrl, apiKey } = this.#options;
    const { redactor, timeouts, state } = this;
    const { operation } = state;
    const url = baseUrl + request.path;
    const requestId = crypto.randomUUID();
    const started = performance.now();
    let status: number | undefined;
    state.begin(requestId);
    try {
      const response = await this.#connection.fetch(url, {
        method,
        body: request.body ?? null,
        signal,
        headers: headersOf(request, apiKey, requestId),
        redirect: "manual",
      });
      status = response.status;
      const answer = { operation, url, response, signal, timeouts, redactor };
      if (response.ok) return answer;
      throw statusError(answer, await readErrorText(answer));
    } finally {
      const outcome = safe`${status ?? "no answer"}`;
      this.log(outcome, performance.now() - started);
    }
  }

  /** Writes a line about the current request to the log. */
  log(outcome: Redacted, milliseconds?: number): void {
    const { operation, ids: { runId, requestId } } = this.state;
    const session = this.#sessionId && safe`session=${this.#sessionId}`;
    const run = runId && safe`run=${runId}`;
    const request = safe`request=${requestId ?? "none"}`;
    const about = joinSafe([operation, session, run, request], " ");
    this.#options.log?.(safe`${about}: ${outcome}`, milliseconds);
  }
}
