/**
 * The HTTP requests of one call to the service: the key, time-outs, retries, size
 * limits, and failures turned into {@linkcode ServiceError}s.
 *
 * @module
 */

import { startTimer } from "../../io.ts";
import { isJsonObject, parseJson, shownText } from "../../text.ts";
import type { Proxy } from "../../settings.ts";
import { VERSION } from "../../version.ts";
import { systemCertificates, trustedCertificates } from "./certificates.ts";
import {
  connectionError,
  isNotTaken,
  isRefused,
  isUntrusted,
  tlsSetupError,
} from "../failure/connection_failure.ts";
import {
  Deadline,
  jitter,
  pause,
  timeLeft,
  type TimeLimit,
} from "./deadline.ts";
import {
  errorDetail,
  isHtml,
  isWebPage,
  type LimitedText,
} from "../failure/foreign_text.ts";
import type { Relay } from "./relay.ts";
import { readAnswerText, readBody } from "./response_body.ts";
import {
  ConnectionError,
  type Failure,
  type Operation,
  ServiceError,
  UNKNOWN_FATE,
} from "../failure/service_error.ts";
import { statusError, webPageReason } from "../failure/status_error.ts";
import { TIMEOUTS, type Timeouts } from "./timeouts.ts";
import type { WaitEvent } from "../turn_event.ts";

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

/** Options of a {@linkcode ServiceClient}: the service's address and the key. */
export interface ServiceClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). */
  readonly apiKey: string;
  /** The user's proxy. By default there is none. */
  readonly proxy?: Proxy | undefined;
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

/** A request to the service. */
export interface ServiceRequest {
  readonly operation: Operation;
  /** The path after the base URL, with a leading slash, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The JSON body of a `POST`, if it has one. */
  readonly body?: string | undefined;
  /** Copied into each {@linkcode Exchange}. */
  readonly runId?: string | undefined;
}

/** An event stream whose headers have arrived. */
export interface OpenStream {
  readonly headers: Headers;
  readonly chunks: AsyncGenerator<Uint8Array>;
  /** Closes the connection, unless everything was read. A pending read fails. */
  drop(): void;
}

const NEVER = new AbortController().signal;

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_PAGE_BYTES = 64 * 1024;

/**
 * Sends the requests of one call, over connections that no other call uses. They
 * are closed with the call.
 *
 * Each `POST` has a fresh connection: a server may close one that was used before
 * at any time, and nothing would prove that it did not take the prompt. The `GET`
 * of a turn uses the connection of its `POST`, so it reaches the same host.
 */
export class ServiceClient {
  /** Aborted when the call is dropped or takes too long. */
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  readonly #options: ServiceClientOptions;
  readonly #call: CallOptions;
  readonly #limit: Deadline | undefined;
  #connections: Deno.HttpClient | undefined;
  #relay: Relay | undefined;
  #draining: Promise<void> | undefined;
  /** What is known of the last request so far. */
  #last: Failure = { operation: "create thread", reason: "", fate: "not run" };

  constructor(options: ServiceClientOptions, call: CallOptions) {
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#options = options;
    this.#call = call;
    const signal = call.signal ?? NEVER;
    if (call.timeLimit !== undefined) {
      const left = timeLeft(call.timeLimit);
      this.#limit = new Deadline(signal, left, this.timeouts.grace);
    }
    this.signal = this.#limit?.signal ?? signal;
  }

  /**
   * Sends a `POST` and reads its JSON answer of at most 1 MiB.
   *
   * It is sent again, at most three times, only if the service has not accepted
   * it: after a refused connection, after a connection that was closed with the
   * word that the request was not taken, after 429, and after 503 to
   * `create thread`. (A proxy or cache also answers 503 when the service accepted
   * the request and died.) A service that asks for a pause of more than 30 s is
   * not waited for.
   *
   * @throws {ServiceError} If there is no 2xx answer with a JSON object.
   * @throws The signal's reason, if it is aborted.
   */
  async *post(
    request: ServiceRequest,
  ): AsyncGenerator<readonly WaitEvent[], Readonly<Record<string, unknown>>> {
    for (let retries = 0;; retries++) {
      let failure;
      try {
        this.disconnect();
        return await this.#within(
          request,
          this.timeouts.answer,
          ({ signal }) => this.#json(request, signal),
        );
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        failure = error;
      }
      if (isTooLong(failure, this.timeouts.retryAfter)) {
        throw postponed(failure);
      }
      const { reason, pauses } = this.#repetition(failure);
      const milliseconds = pauses[retries];
      if (milliseconds === undefined) throw failure;
      yield* this.wait(failure, reason, milliseconds);
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
    const { idle, grace } = this.timeouts;
    return this.#within(request, idle, async (deadline) => {
      const { signal } = deadline;
      const response = await this.#fetch("GET", request, signal);
      await this.#refuseUnreadable(response, request, signal);
      deadline.meet();
      return {
        headers: response.headers,
        chunks: readBody(response, { signal, idle, grace }),
        drop: () => deadline.drop(),
      };
    });
  }

  /**
   * Announces a pause before a retry, and waits: about `milliseconds`, or longer
   * if the service asks for it, up to the limit.
   *
   * @param failure The reason for the retry.
   * @param reason The reason in a few words, for the user.
   * @throws The signal's reason, as soon as it is aborted.
   */
  async *wait(
    { failure }: ServiceError,
    reason: string,
    milliseconds: number,
  ): AsyncGenerator<readonly WaitEvent[], void> {
    const { operation, retryAfter = 0 } = failure;
    const delay = Math.max(
      jitter(milliseconds),
      Math.min(retryAfter, this.timeouts.retryAfter),
    );
    this.#last = failure;
    if (delay === 0) return;
    yield [{ type: "wait", operation, reason, milliseconds: delay }];
    await pause(delay, this.signal);
  }

  /**
   * Reads on after the reply for a moment, in the background, so that a service
   * that is about to end the stream does not see a broken connection.
   */
  drain(stream: OpenStream): void {
    this.#draining = drained(stream, this.timeouts.drain);
  }

  /** Makes the next request open a connection. */
  disconnect(): void {
    this.#connections?.close();
    this.#connections = undefined;
    this.#relay?.[Symbol.dispose]();
    this.#relay = undefined;
  }

  /** Ends the call: closes its connections after the stream was drained. */
  async close(): Promise<void> {
    this.#limit?.end();
    await this.#draining;
    this.disconnect();
  }

  /** The error for a connection that failed or broke. */
  connectionError(operation: Operation, cause: unknown): ConnectionError {
    const tunnelError = this.#relay?.failure;
    const options = { ...this.#options, operation, tunnelError };
    return connectionError(cause, options);
  }

  /** Whether the call has taken too long. */
  get isLate(): boolean {
    return this.#limit?.expired === true;
  }

  /**
   * Replaces the error of a call that took too long, unless it says more itself or
   * is the caller's own abort.
   */
  explain(error: unknown, run: Pick<Failure, "threadId" | "runId">): unknown {
    const { signal, timeLimit } = this.#call;
    if (
      timeLimit === undefined || !this.isLate || error instanceof ServiceError
    ) return error;
    if (error === signal?.reason) return error;
    const { operation, reason, fate } = this.#last;
    const last = reason === "" ? "" : `: ${reason}`;
    return new ServiceError({
      operation,
      reason: `there was no reply within ${
        timeLimit.milliseconds / 1000
      } s${last}`,
      fate,
      ...run,
    });
  }

  /** Sends a request within a time limit, and turns failures into errors. */
  async #within<T>(
    { operation }: ServiceRequest,
    limit: number,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(this.signal, limit, this.timeouts.grace);
    const isStream = operation === "stream run";
    const unsent = isStream ? "may go on" : "not run";
    this.#last = { operation, reason: "", fate: unsent };
    this.signal.throwIfAborted();
    const fate = UNKNOWN_FATE[operation];
    this.#last = { operation, reason: "", fate };
    try {
      return await send(deadline);
    } catch (error) {
      const isDropped = this.signal.aborted && !this.isLate;
      if (error instanceof ServiceError && !isDropped) throw error;
      this.signal.throwIfAborted();
      if (!deadline.expired) throw this.connectionError(operation, error);
      throw new ConnectionError({
        operation,
        reason: `the service did not answer within ${duration(limit)}`,
        fate,
      }, { cause: error });
    } finally {
      deadline.end();
    }
  }

  async #fetch(
    method: "GET" | "POST",
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { operation, runId, body } = request;
    const { baseUrl, apiKey, onExchange } = this.#options;
    const url = baseUrl + request.path;
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await this.#send(operation, url, {
        method,
        headers: {
          "accept": "application/json",
          ...request.headers,
          "user-agent": `agent-gateway/${VERSION}`,
          "x-api-key": apiKey,
        },
        redirect: "manual",
        signal,
        // A Blob, because fetch repeats a request by itself if its body is a
        // string (denoland/deno#32566), and never if it is a Blob.
        ...(body !== undefined &&
          { body: new Blob([body], { type: "application/json" }) }),
      });
      status = response.status;
      if (response.ok) return response;
      const answer = {
        status,
        headers: response.headers,
        body: await this.#errorText(response, signal),
      };
      throw statusError(answer, { operation, url, apiKey });
    } finally {
      onExchange?.({
        operation,
        sessionId: this.#call.sessionId,
        runId,
        status,
        milliseconds: performance.now() - started,
      });
    }
  }

  /** The text of an answer outside 2xx, as much as comes within 2 s. */
  async #errorText(
    response: Response,
    outer: AbortSignal,
  ): Promise<LimitedText> {
    const { errorText, grace } = this.timeouts;
    const deadline = new Deadline(outer, errorText, grace);
    try {
      const chunks = readBody(response, { signal: deadline.signal });
      const options = { maxBytes: MAX_PAGE_BYTES, mayBreak: true };
      return await readAnswerText(chunks, options);
    } finally {
      deadline.end();
    }
  }

  /**
   * Sends a request; once more with the system's certificates if Deno's own do not
   * know the issuer of the service's, because then nothing was sent.
   */
  async #send(
    operation: Operation,
    url: string,
    request: RequestInit,
  ): Promise<Response> {
    for (;;) {
      const isComplete = trustedCertificates().length > 0;
      try {
        const client = await this.#connect(operation);
        return await fetch(url, { ...request, client });
      } catch (error) {
        if (isComplete || !isUntrusted(error)) throw error;
        if ((await systemCertificates()).length === 0) throw error;
        this.disconnect();
      }
    }
  }

  async #connect(operation: Operation): Promise<Deno.HttpClient> {
    const { proxy, baseUrl } = this.#options;
    if (proxy !== undefined && this.#relay === undefined) {
      const { Relay } = await import("./relay.ts");
      this.#relay = new Relay(proxy, new URL(baseUrl));
    }
    try {
      this.#connections ??= Deno.createHttpClient({
        caCerts: [...trustedCertificates()],
        ...(this.#relay !== undefined && { proxy: this.#relay.proxy }),
      });
      return this.#connections;
    } catch (cause) {
      throw tlsSetupError(cause, operation);
    }
  }

  /** Sends a `POST` and reads the JSON object in its answer. */
  async #json(
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const response = await this.#fetch("POST", request, signal);
    const { status, headers } = response;
    const chunks = readBody(response, { signal });
    const { text, cut } = await readAnswerText(chunks, {
      maxBytes: MAX_ANSWER_BYTES,
    });
    const value = cut ? undefined : parseJson(text);
    if (isJsonObject(value)) return value;
    const reason = isWebPage(headers.get("content-type"), text)
      ? webPageReason(status, { text, cut }, this.#options.apiKey)
      : cut
      ? "the answer is larger than 1 MiB"
      : `the answer (status ${status}) is not a JSON object`;
    throw unusableAnswer({ operation: request.operation, status, reason });
  }

  /** Throws if an answer to a `GET` is no stream that can be read. */
  async #refuseUnreadable(
    response: Response,
    { operation }: ServiceRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { status, headers } = response;
    const refuse = async (
      reason: string,
      more: Pick<Failure, "advice" | "server"> = {},
    ) => {
      await response.body?.cancel();
      const fate = UNKNOWN_FATE[operation];
      return new ServiceError({ operation, status, reason, fate, ...more });
    };
    if (status === 204) {
      throw await refuse(
        "the service answered 204: it has nothing more to send",
      );
    }
    const encoding = headers.get("content-encoding") ?? "identity";
    if (encoding.trim().toLowerCase() !== "identity") {
      throw await refuse(
        "the stream is compressed, although the request asked for plain text",
        {
          advice:
            "switch off compression of text/event-stream at the service, or at the proxy in front of it",
          server: serverOf(headers),
        },
      );
    }
    if (!isHtml(headers.get("content-type"))) return;
    const page = await this.#errorText(response, signal);
    const { apiKey } = this.#options;
    const words = errorDetail(parseJson(page.text));
    if (words !== undefined) {
      const detail = shownText(words, { apiKey, isCut: page.cut });
      const reason = "the run failed";
      throw new ServiceError({ operation, reason, detail, fate: "failed" });
    }
    const reason = webPageReason(status, page, apiKey);
    throw unusableAnswer({ operation, status, reason });
  }

  /**
   * The pauses before the retries of a `POST` that failed; none if it may not
   * be repeated.
   */
  #repetition(
    { failure, cause }: ServiceError,
  ): { readonly reason: string; readonly pauses: readonly number[] } {
    const { operation, status } = failure;
    const { retry, reopen } = this.timeouts;
    if (isNotTaken(cause)) {
      return { reason: "connection closed", pauses: reopen };
    }
    if (isRefused(cause)) {
      return { reason: "connection refused", pauses: retry };
    }
    const isBusy = status === 429 ||
      status === 503 && operation === "create thread";
    return { reason: "service busy", pauses: isBusy ? retry : [] };
  }
}

/** The server that answered, as its headers tell; empty if they do not. */
export function serverOf(headers: Headers): string {
  const named = [headers.get("server"), headers.get("via")];
  return named.filter((name) => name !== null).join(", ");
}

/** Whether a request may be sent again, but only after a longer pause than the limit. */
function isTooLong({ failure }: ServiceError, limit: number): boolean {
  const { fate, retryAfter = 0 } = failure;
  return fate === "not run" && retryAfter > limit;
}

/** A failure that says when to ask again. */
function postponed({ failure, cause }: ServiceError): ServiceError {
  const seconds = Math.ceil((failure.retryAfter ?? 0) / 1000);
  const time = seconds < 120
    ? `${seconds} s`
    : `${Math.ceil(seconds / 60)} min`;
  const advice = Number.isFinite(seconds) ? `ask again in ${time}` : "";
  return new ServiceError({ ...failure, advice }, { cause });
}

/** The error for a 2xx answer that cannot be used. */
function unusableAnswer(
  failure: Pick<Failure, "operation" | "status" | "reason">,
): ServiceError {
  const { operation } = failure;
  const advice = operation === "create thread" ? "check the base URL" : "";
  return new ServiceError({
    ...failure,
    advice,
    fate: UNKNOWN_FATE[operation],
  });
}

/** Reads a stream to its end, for at most a number of milliseconds. */
async function drained(
  { chunks, drop }: OpenStream,
  milliseconds: number,
): Promise<void> {
  const stop = startTimer(milliseconds, drop);
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The reply has been received: errors after it do not matter.
  } finally {
    stop();
    drop();
  }
}

function duration(milliseconds: number): string {
  return milliseconds >= 120_000
    ? `${milliseconds / 60_000} minutes`
    : `${milliseconds / 1000} s`;
}
