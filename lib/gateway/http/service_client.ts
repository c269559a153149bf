/**
 * Sends the HTTP requests of one call to the service: timeouts, retries, and failures
 * turned into {@linkcode ServiceError}s.
 *
 * @module
 */

import { Deadline, pause, timeLeft, type TimeLimit } from "../../io.ts";
import { type Operation, UNKNOWN_FATE, untakenFate } from "../failure/fate.ts";
import {
  ConnectionError,
  type Failure,
  ServiceError,
} from "../failure/service_error.ts";
import { statusError } from "../failure/status_error.ts";
import type { WaitEvent } from "../turn_event.ts";
import { readErrorText, readId, type RequestContext } from "./answers.ts";
import { type ConnectionOptions, Connections } from "./connections.ts";
import { headersOf, type ServiceRequest } from "./requests.ts";
import { drainBody, readBody } from "./response_body.ts";
import {
  pauseBefore,
  postPauses,
  refuseLongPause,
  retryReason,
} from "./retries.ts";
import { TIMEOUTS, type Timeouts } from "./timeouts.ts";
import { refuseUnreadable } from "./unreadable_stream.ts";

/** One remote call, for a log. It contains no secrets. */
export interface Exchange {
  readonly operation: Operation;
  /** The session that the caller named, if any. */
  readonly sessionId?: string | undefined;
  /** The run that the stream belongs to; only with `stream run`. */
  readonly runId?: string | undefined;
  /** The HTTP status, or `undefined` if none was received. */
  readonly status: number | undefined;
  readonly milliseconds: number;
}

/** Options of a {@linkcode ServiceClient}. */
export interface ServiceClientOptions extends ConnectionOptions {
  /** The default is {@linkcode TIMEOUTS}. */
  readonly timeouts?: Timeouts | undefined;
  /** Called once for each request, when its outcome is known. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborting it drops the call. The service continues a run that it has started. */
  readonly signal?: AbortSignal;
  /** Copied into each {@linkcode Exchange} of the call. */
  readonly sessionId?: string | undefined;
  /** By default there is no limit. */
  readonly timeLimit?: TimeLimit | undefined;
}

/** An event stream whose headers have arrived. */
export interface OpenStream {
  readonly headers: Headers;
  readonly chunks: AsyncGenerator<Uint8Array>;
  /** Closes the connection, unless everything was read. A pending read fails. */
  drop(): void;
}

const NEVER = new AbortController().signal;

/** Sends the requests of one call. Its connections are closed when the call ends. */
export class ServiceClient {
  /** Aborted when the call is dropped or takes too long. */
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  readonly #options: ServiceClientOptions;
  readonly #call: CallOptions;
  readonly #limit: Deadline | undefined;
  readonly #connections: Connections;
  #draining: Promise<void> | undefined;
  /** What is known of the last request so far. */
  #last: Failure = { operation: "create thread", reason: "", fate: "not run" };

  constructor(options: ServiceClientOptions, call: CallOptions) {
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#options = options;
    this.#call = call;
    this.#connections = new Connections(options);
    const signal = call.signal ?? NEVER;
    if (call.timeLimit !== undefined) {
      const left = timeLeft(call.timeLimit);
      this.#limit = new Deadline(signal, left);
    }
    this.signal = this.#limit?.signal ?? signal;
  }

  /**
   * Sends a `POST` and reads the id in its JSON answer of at most 1 MiB.
   *
   * It is sent again, at most three times, only if the service has not accepted
   * it. A service that asks for a pause of more than 30 s is not waited for.
   *
   * @throws {ServiceError} If there is no 2xx answer with a valid id.
   * @throws The signal's reason, if it is aborted.
   */
  async *post(
    request: ServiceRequest,
  ): AsyncGenerator<readonly WaitEvent[], string> {
    const { answer } = this.timeouts;
    for (let retries = 0;; retries++) {
      let error;
      try {
        return await this.#within(request, answer, async (deadline) => {
          const answered = await this.#fetch("POST", request, deadline.signal);
          const id = await readId(...answered);
          deadline.end();
          return id;
        });
      } catch (cause) {
        if (!(cause instanceof ServiceError)) throw cause;
        error = cause;
      }
      refuseLongPause(error, this.timeouts.retryAfter);
      const reason = retryReason(error);
      const milliseconds = postPauses(error, this.timeouts)[retries];
      if (reason === undefined || milliseconds === undefined) throw error;
      yield* this.wait(error, reason, milliseconds);
    }
  }

  /**
   * Sends a `GET` for an event stream once and waits for its headers.
   *
   * @throws {ConnectionError} If the connection could not be made or broke, or if
   * no headers came in time.
   * @throws {ServiceError} If the answer is not a stream that can be read.
   * @throws The signal's reason, if it is aborted.
   */
  stream(request: ServiceRequest): Promise<OpenStream> {
    const { idle } = this.timeouts;
    return this.#within(request, idle, async (deadline) => {
      const { signal } = deadline;
      const answered = await this.#fetch("GET", request, signal);
      await refuseUnreadable(...answered);
      deadline.meet();
      const [response] = answered;
      return {
        headers: response.headers,
        chunks: readBody(response, { signal, idle }),
        drop: () => deadline.drop(),
      };
    });
  }

  /**
   * Announces a pause before a retry, and waits: about `milliseconds`, or longer
   * if the service asks for it, up to the limit.
   *
   * @param error The reason for the retry.
   * @param reason The reason in a few words, for the user.
   * @throws The signal's reason, as soon as it is aborted.
   */
  async *wait(
    error: ServiceError,
    reason: string,
    milliseconds: number,
  ): AsyncGenerator<readonly WaitEvent[], void> {
    const { failure, failure: { operation } } = error;
    const delay = pauseBefore(milliseconds, error, this.timeouts.retryAfter);
    this.#last = failure;
    if (delay === 0) return;
    yield [{ type: "wait", operation, reason, milliseconds: delay }];
    await pause(delay, this.signal);
  }

  /** Reads on after the reply for a moment, in the background, and drops the rest. */
  drain(stream: OpenStream): void {
    this.#draining = drainBody(stream, this.timeouts.drain);
  }

  /** Makes the next request open a connection. */
  disconnect(): void {
    this.#connections.close();
  }

  /** Ends the call: closes its connections after the stream was drained. */
  async close(): Promise<void> {
    this.#limit?.end();
    await this.#draining;
    this.disconnect();
  }

  /** The error for a connection that failed or broke. */
  connectionError(operation: Operation, cause: unknown): ConnectionError {
    return this.#connections.error(operation, cause);
  }

  /** Whether the call has taken too long. */
  get isLate(): boolean {
    return this.#limit?.expired === true;
  }

  /**
   * Replaces the error of a call that took too long, unless that error gives a reason
   * itself or is the caller's own abort.
   */
  explain(error: unknown, run: Pick<Failure, "threadId" | "runId">): unknown {
    const { signal, timeLimit } = this.#call;
    const isKnown = error instanceof ServiceError || error === signal?.reason;
    if (timeLimit === undefined || !this.isLate || isKnown) return error;
    const { operation, reason, fate } = this.#last;
    const last = reason === "" ? "" : `: ${reason}`;
    const seconds = timeLimit.milliseconds / 1000;
    return new ServiceError({
      ...{ operation, fate, ...run },
      reason: `there was no reply within ${seconds} s${last}`,
    });
  }

  /** Sends a request within a time limit, and turns failures into errors. */
  async #within<T>(
    { operation }: ServiceRequest,
    limit: number,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const fate = this.signal.aborted
      ? untakenFate(operation, "not run")
      : UNKNOWN_FATE[operation];
    this.#last = { operation, reason: "", fate };
    this.signal.throwIfAborted();
    const deadline = new Deadline(this.signal, limit);
    try {
      return await send(deadline);
    } catch (cause) {
      deadline.end();
      const isDropped = this.signal.aborted && !this.isLate;
      if (cause instanceof ServiceError && !isDropped) throw cause;
      if (this.isLate && this.#connections.isUnsent) {
        this.#last = this.connectionError(operation, cause).failure;
      }
      this.signal.throwIfAborted();
      if (!deadline.expired) throw this.connectionError(operation, cause);
      const time = limit < 120_000
        ? `${limit / 1000} s`
        : `${limit / 60_000} minutes`;
      const reason = `the service did not answer within ${time}`;
      throw new ConnectionError({ operation, reason, fate }, { cause });
    }
  }

  /** Sends a request, and throws unless the status of its answer is 2xx. */
  async #fetch(
    method: "GET" | "POST",
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<readonly [Response, RequestContext]> {
    const { baseUrl, apiKey, onExchange } = this.#options;
    const { timeouts } = this;
    const { operation, path, runId, body = null } = request;
    const url = baseUrl + path;
    const context = { operation, url, apiKey, signal, timeouts };
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await this.#connections.fetch(operation, url, {
        ...{ method, body, signal },
        headers: headersOf(request, apiKey),
        redirect: "manual",
      });
      status = response.status;
      if (response.ok) return [response, context];
      const text = await readErrorText(response, context);
      throw statusError(response, { ...context, body: text });
    } finally {
      onExchange?.({
        ...{ operation, sessionId: this.#call.sessionId, runId, status },
        milliseconds: performance.now() - started,
      });
    }
  }
}
