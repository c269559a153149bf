import { Deadline, type Log, pause, TimeIsOver } from "../../io.ts";
import {
  joinSafe,
  type Redacted,
  type Redactor,
  safe,
  type ServiceId,
  wholeDuration,
} from "../../text.ts";
import { CallConnection, type Route } from "../connection.ts";
import type { CallState } from "../failure/call_state.ts";
import {
  type Failure,
  RequestError,
  ServiceError,
} from "../failure/failure.ts";
import { type Retry, retryPost } from "../failure/retry_policy.ts";
import type { WaitEvent } from "../turn_event.ts";
import { type Answer, readErrorText, readId } from "./answer.ts";
import { headersOf, type ServiceRequest } from "./requests.ts";
import { drainBody, type OpenStream, readBody } from "./response_body.ts";
import type { Silences } from "./silences.ts";
import { statusError } from "./status_error.ts";
import { TIMEOUTS } from "../timeouts.ts";
import { refuseUnreadable } from "./unreadable_stream.ts";

export interface GatewayOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). No error shows it. */
  readonly apiKey: string;
  /** Gets a line for each request, when its outcome is known. */
  readonly log?: Log | undefined;
}

/** What the calls of a gateway share. */
interface SharedOptions extends GatewayOptions {
  readonly route: Route;
}

export interface CallOptions {
  /**
   * Aborting it drops the call. The service continues a run that it has started. If the
   * reason is {@linkcode TimeIsOver}, the call fails with an error that says so.
   */
  readonly signal?: AbortSignal | undefined;
  readonly sessionId?: Redacted | undefined;
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
  readonly redactor: Redactor;
  readonly #options: SharedOptions;
  readonly #sessionId: Redacted | undefined;
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
    this.#options = options;
    this.#sessionId = sessionId;
    this.#connection = new CallConnection(options.route, state);
    this.redactor = options.route.redactor;
  }

  /**
   * Sends a `POST` and reads the id in its answer. It is repeated as
   * {@linkcode retryPost} decides.
   *
   * @throws {ServiceError} If there is no 2xx answer with a valid id.
   * @throws The signal's reason, if the call is dropped.
   */
  async *post(
    request: ServiceRequest,
  ): AsyncGenerator<readonly WaitEvent[], ServiceId> {
    for (let count = 1;; count++) {
      let failure: Failure;
      try {
        using deadline = this.#start(TIMEOUTS.answer);
        return await readId(await this.#send("POST", request, deadline.signal));
      } catch (cause) {
        failure = this.failureOf(cause);
      }
      const fate = this.state.fateAt(failure.stage);
      const retry = retryPost(failure, { fate, count });
      if (retry === undefined) throw this.errorOf(failure);
      yield* this.wait(failure, retry);
    }
  }

  /**
   * Sends a `GET` for an event stream once and waits for its headers. For what this
   * throws, as for what the stream throws, ask {@linkcode failureOf}.
   *
   * @param silences Limits the silence of the body.
   */
  async stream(
    request: ServiceRequest,
    silences: Silences,
  ): Promise<OpenStream> {
    const deadline = this.#start(TIMEOUTS.idle);
    const { signal } = deadline;
    try {
      const answer = await this.#send("GET", request, signal);
      await refuseUnreadable(answer);
      deadline.meet();
      silences.onExceeded = (error) => deadline.drop(error);
      const { response } = answer;
      return {
        chunks: readBody(response, signal, silences),
        drop: () => deadline.drop(),
      };
    } catch (error) {
      deadline[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Announces a pause before a retry, and waits. A connection that broke is closed.
   *
   * @throws {ServiceError} As soon as the call takes too long.
   * @throws The signal's reason, as soon as the call is dropped.
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
    try {
      await pause(milliseconds, this.signal);
    } catch (cause) {
      throw this.errorOf(this.failureOf(cause));
    }
  }

  /** The error for callers if the call ends with a failure. */
  errorOf(failure: Failure): ServiceError {
    this.state.setStage(failure.stage);
    return new ServiceError(failure, this.state);
  }

  /** Reads on after the reply for a moment, in the background, and drops the rest. */
  drain(stream: OpenStream): void {
    this.#draining = drainBody(stream, TIMEOUTS.drain);
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
   * Why a request or its answer failed, or why the call did: it takes too long. Throws
   * the signal's reason if the call was dropped.
   */
  failureOf(cause: unknown): Failure {
    const { aborted, reason } = this.signal;
    if (aborted && !(reason instanceof TimeIsOver)) throw reason;
    const failure = this.#whyFailed(cause);
    this.state.setStage(failure.stage);
    return failure;
  }

  #whyFailed(cause: unknown): Failure {
    // The status is used, even if the time was over before the body arrived.
    if (cause instanceof RequestError) return cause.failure;
    const { reason: over } = this.signal;
    if (over instanceof TimeIsOver) return this.#whyLate(cause, over);
    if (!(cause instanceof TimeIsOver)) {
      return this.#connection.failureOf(cause);
    }
    const time = wholeDuration(cause.milliseconds);
    return {
      stage: this.state.stage,
      reason: safe`The service did not answer within ${time}`,
      problem: "connection lost",
    };
  }

  #whyLate(cause: unknown, { milliseconds }: TimeIsOver): Failure {
    const { stage } = this.state;
    // If no connection was made until then, the relay may know why.
    const mayKnow = stage === "not sent" && this.#connection.hasFailure;
    const known = mayKnow
      ? this.#connection.failureOf(cause)
      : this.#lastFailure;
    const start = safe`There was no reply within ${milliseconds / 1000} s`;
    if (known === undefined) return { stage, reason: start };
    const { detail, earlier } = known;
    const reason = safe`${start}. ${known.reason}`;
    return { stage: known.stage, reason, detail, earlier };
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
    const { redactor, state } = this;
    const { operation } = state;
    const url = baseUrl + request.path;
    const requestId = safe`${crypto.randomUUID()}`;
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
      const answer = { operation, url, response, signal, redactor };
      if (response.ok) return answer;
      throw statusError(answer, await readErrorText(answer));
    } finally {
      const outcome = safe`${status ?? "no answer"}`;
      this.log(outcome, performance.now() - started);
    }
  }

  /** Writes a line about the current request to the log. */
  log(outcome: Redacted, milliseconds?: number): void {
    const { log } = this.#options;
    if (log === undefined) return;
    const { operation, ids: { runId, requestId } } = this.state;
    const session = this.#sessionId && safe`session=${this.#sessionId}`;
    const run = runId && safe`run=${runId}`;
    const request = safe`request=${requestId ?? "none"}`;
    const about = joinSafe([operation, session, run, request], " ");
    log(safe`${about}: ${outcome}`, milliseconds);
  }
}
