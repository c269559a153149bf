import { Deadline, type Log, pause, TimeIsOver } from "../../io.ts";
import { type Redactor, wholeDuration } from "../../text.ts";
import {
  type ConnectionOptions,
  Connections,
} from "../connection/connections.ts";
import type { Operation } from "../failure/fate.ts";
import { type Failure, ServiceError } from "../failure/service_error.ts";
import type { WaitEvent } from "../turn_event.ts";
import { type Answer, readErrorText, readId } from "./answer.ts";
import { headersOf, type ServiceRequest } from "./requests.ts";
import { drainBody, readBody } from "./response_body.ts";
import {
  around,
  draw,
  type Pause,
  postPauses,
  refuseLongPause,
} from "./retries.ts";
import { statusError } from "./status_error.ts";
import { TIMEOUTS, type Timeouts } from "./timeouts.ts";
import { refuseUnreadable } from "./unreadable_stream.ts";

export interface ServiceClientOptions extends ConnectionOptions {
  readonly timeouts?: Timeouts | undefined;
  /** Gets a line for each request, when its outcome is known. */
  readonly log?: Log | undefined;
}

export interface CallOptions {
  /**
   * Aborting it drops the call. The service continues a run that it has started. If the
   * reason is {@linkcode TimeIsOver}, the call fails with an error that says so.
   */
  readonly signal?: AbortSignal | undefined;
  readonly sessionId?: string | undefined;
}

/** An event stream whose headers have arrived. */
export interface OpenStream {
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
  readonly redactor: Redactor;
  readonly #options: ServiceClientOptions;
  readonly #sessionId: string | undefined;
  readonly #connections: Connections;
  #draining: Promise<void> | undefined;
  #requestId: string | undefined;
  /** How far the last request got, and why it failed if it did. */
  #last: Pick<Failure, "operation" | "stage" | "reason"> = {
    ...{ operation: "create thread", stage: "not sent", reason: "" },
  };

  constructor(
    options: ServiceClientOptions,
    { signal, sessionId }: CallOptions,
  ) {
    this.signal = signal ?? NEVER;
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#options = options;
    this.#sessionId = sessionId;
    this.#connections = new Connections(options);
    this.redactor = this.#connections.redactor;
  }

  /**
   * Sends a `POST` and reads the id in its answer. It is sent again, at most three
   * times, only if the service has not accepted it. A service that asks for a pause of
   * more than 30 s is not waited for.
   *
   * @throws {ServiceError} If there is no 2xx answer with a valid id.
   * @throws The signal's reason, if it is aborted.
   */
  async *post(
    request: ServiceRequest,
  ): AsyncGenerator<WaitEvent, string> {
    const { answer, retryAfter } = this.timeouts;
    for (let retries = 0;; retries++) {
      let error;
      try {
        return await this.#within(request, answer, async (deadline) => {
          using limit = deadline;
          return await readId(await this.#fetch("POST", request, limit.signal));
        });
      } catch (cause) {
        if (!(cause instanceof ServiceError)) throw cause;
        error = cause;
      }
      refuseLongPause(error, retryAfter);
      const milliseconds = postPauses(error, this.timeouts)[retries];
      if (error.failure.retry === undefined || milliseconds === undefined) {
        throw error;
      }
      yield* this.wait(error, around(milliseconds));
    }
  }

  /**
   * Sends a `GET` for an event stream once and waits for its headers.
   *
   * @param idle The limit on silence of the body, in milliseconds.
   * @throws {ServiceError} If no connection was made, it broke, no headers came in
   * time, or the answer is not a stream that can be read.
   * @throws The signal's reason, if it is aborted.
   */
  stream(request: ServiceRequest, idle: () => number): Promise<OpenStream> {
    return this.#within(request, this.timeouts.idle, async (deadline) => {
      const { signal } = deadline;
      const answer = await this.#fetch("GET", request, signal);
      await refuseUnreadable(answer);
      deadline.meet();
      const { response } = answer;
      return {
        chunks: readBody(response, { signal, idle }),
        drop: () => deadline.drop(),
      };
    });
  }

  /**
   * Announces a pause before a retry, and waits: longer if the service asks for it, by
   * `Retry-After` or, in milliseconds, by its stream. Throws the signal's reason as
   * soon as it is aborted.
   */
  async *wait(
    error: ServiceError,
    pauseByLot: Pause,
    asked = 0,
  ): AsyncGenerator<WaitEvent, void> {
    const { operation, status, retryAfter = 0 } = error.failure;
    const reason = error.failure.retry ?? "";
    const least = Math.min(
      Math.max(retryAfter, asked),
      this.timeouts.retryAfter,
    );
    const milliseconds = draw(pauseByLot, least);
    this.#last = error.failure;
    if (milliseconds === 0) return;
    yield { type: "wait", operation, reason, milliseconds, status };
    await pause(milliseconds, this.signal);
  }

  /** Reads on after the reply for a moment, in the background, and drops the rest. */
  drain(stream: OpenStream): void {
    this.#draining = drainBody(stream, this.timeouts.drain);
  }

  disconnect(): void {
    this.#connections.close();
  }

  /** Ends the call: closes its connections after the stream was drained. */
  async close(): Promise<void> {
    await this.#draining;
    this.disconnect();
  }

  connectionError(operation: Operation, cause: unknown): ServiceError {
    return this.#connections.error(operation, cause);
  }

  get isLate(): boolean {
    return this.signal.reason instanceof TimeIsOver;
  }

  /** The error to throw for a call that failed, with its ids: another one if it took too long. */
  explain(error: unknown, run: Pick<Failure, "threadId" | "runId">): unknown {
    const ids = { ...run, requestId: this.#requestId };
    if (error instanceof ServiceError) {
      return new ServiceError({ ...error.failure, ...ids }, error);
    }
    const { reason: over } = this.signal;
    if (error !== over || !(over instanceof TimeIsOver)) return error;
    const { operation, stage, reason } = this.#last;
    const last = reason === "" ? "" : `. ${reason}`;
    const seconds = over.milliseconds / 1000;
    return new ServiceError({
      ...{ operation, stage, ...ids },
      reason: `There was no reply within ${seconds} s${last}`,
    });
  }

  /** Sends a request within a time limit, and turns failures into errors. */
  async #within<T>(
    { operation }: ServiceRequest,
    limit: number,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    this.#last = { operation, stage: "not sent", reason: "" };
    this.signal.throwIfAborted();
    const deadline = new Deadline(limit, this.signal);
    try {
      const sent = await send(deadline);
      this.#last = { operation, stage: "open", reason: "" };
      return sent;
    } catch (cause) {
      deadline[Symbol.dispose]();
      const isDropped = this.signal.aborted && !this.isLate;
      if (cause instanceof ServiceError && !isDropped) throw cause;
      const { stage } = this.#connections;
      this.#last = stage === "not sent"
        ? this.connectionError(operation, cause).failure
        : { operation, stage, reason: "" };
      this.signal.throwIfAborted();
      if (!deadline.isOver) throw this.connectionError(operation, cause);
      throw new ServiceError({
        ...{ operation, stage },
        reason: `The service did not answer within ${wholeDuration(limit)}`,
        retry: operation === "stream run" ? "connection lost" : undefined,
      }, { cause });
    }
  }

  async #fetch(
    method: "GET" | "POST",
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { baseUrl, apiKey, log } = this.#options;
    const { redactor, timeouts } = this;
    const { operation, path, runId, body = null } = request;
    const url = baseUrl + path;
    const requestId = this.#requestId = crypto.randomUUID();
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await this.#connections.fetch(operation, url, {
        ...{ method, body, signal },
        headers: headersOf(request, apiKey, requestId),
        redirect: "manual",
      });
      status = response.status;
      const answer = { operation, url, response, signal, timeouts, redactor };
      if (response.ok) return answer;
      throw statusError(answer, await readErrorText(answer));
    } finally {
      const session = this.#sessionId && ` session=${this.#sessionId}`;
      const run = runId && ` run=${runId}`;
      log?.(
        `${operation}${session ?? ""}${run ?? ""} request=${requestId}: ${
          status ?? "no answer"
        }`,
        performance.now() - started,
      );
    }
  }
}
