/**
 * The HTTP requests of one call to the service: the key, time-outs, retries, size
 * limits, and failures turned into {@linkcode ServiceError}s.
 *
 * @module
 */

import { isJsonObject, parseJson } from "../json.ts";
import { readText } from "./response_text.ts";
import type { CallOptions } from "./call_options.ts";
import { readBody } from "./response_body.ts";
import { TIMEOUTS, type Timeouts } from "./timeouts.ts";
import {
  connectionError,
  isRefused,
  tlsSetupError,
} from "./connection_failure.ts";
import { Deadline, jitter, pause } from "./deadline.ts";
import {
  ConnectionError,
  type Operation,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";
import { statusError, webPageReason } from "./status_error.ts";
import { isWebPage } from "./web_page.ts";
import { VERSION } from "../version.ts";

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
  /** The default is {@linkcode TIMEOUTS}. */
  readonly timeouts?: Timeouts | undefined;
  /** Called once for each request, when its outcome is known. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
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
 * Each `POST` has a fresh HTTP/1.1 connection. On a connection that was used
 * before, and over HTTP/2, `fetch` can send it twice by itself (denoland/deno
 * #32566; `REFUSED_STREAM`). The `GET` of a turn uses the connection of its
 * `POST`, so it reaches the same host.
 */
export class ServiceClient {
  /** Aborted when the call is dropped. */
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #onExchange: ((exchange: Exchange) => void) | undefined;
  readonly #onWait: CallOptions["onWait"];
  readonly #sessionId: string | undefined;
  #connections: Deno.HttpClient | undefined;

  constructor(options: ServiceClientOptions, call: CallOptions) {
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#baseUrl = options.baseUrl;
    this.#apiKey = options.apiKey;
    this.#onExchange = options.onExchange;
    this.signal = call.signal ?? NEVER;
    this.#onWait = call.onWait;
    this.#sessionId = call.sessionId;
  }

  /**
   * Sends a `POST` and reads its JSON answer of at most 1 MiB.
   *
   * It is retried only if the service has not accepted it: once after a refused
   * connection; three times after 429, and after 503 to `create thread`. (A proxy
   * or cache also answers 503 when the service accepted the request and died.)
   *
   * @throws {ServiceError} If there is no 2xx answer with a JSON object.
   * @throws The signal's reason, if it is aborted.
   */
  async post(
    request: ServiceRequest,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { operation } = request;
    const { retry } = this.timeouts;
    let reconnected = false;
    for (let retries = 0;;) {
      let failure;
      try {
        this.close();
        return await this.#answered(operation, async ({ signal }) => {
          const response = await this.#fetch("POST", request, signal);
          const apiKey = this.#apiKey;
          return await readJson(response, { operation, apiKey, signal });
        });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        failure = error;
      }
      const delay = retry[retries];
      if (isBusy(failure) && delay !== undefined) {
        retries++;
        await this.wait(failure, "service busy", delay);
      } else if (isRefused(failure.cause) && !reconnected) {
        reconnected = true;
      } else {
        throw failure;
      }
    }
  }

  /**
   * Sends a `GET` for an event stream once and waits for its headers.
   *
   * @throws {ConnectionError} If the connection could not be made or broke, or if
   * no headers came in time.
   * @throws {ServiceError} If there is no 2xx answer, or if it is a web page.
   * @throws The signal's reason, if it is aborted.
   */
  stream(request: ServiceRequest): Promise<OpenStream> {
    const { operation } = request;
    return this.#answered(operation, async (deadline) => {
      const response = await this.#fetch("GET", request, deadline.signal);
      if (isWebPage(response.headers.get("content-type"))) {
        const chunks = readBody(response, deadline.signal);
        const page = await readText(chunks, MAX_PAGE_BYTES)
          .catch(() => ({ text: "", cut: true })); // The page's title stays unknown.
        throw unusableAnswer(
          webPageReason(response.status, page, this.#apiKey),
          { operation, status: response.status },
        );
      }
      deadline.meet();
      return {
        chunks: decoded(readBody(response, deadline.signal), response),
        drop: () => deadline.drop(),
      };
    });
  }

  /**
   * Waits before a retry: as long as the service asks for, up to the limit, else
   * about `milliseconds`.
   *
   * @param failure The reason for the retry.
   * @param reason The reason in a few words, for the user.
   * @throws The signal's reason, as soon as it is aborted.
   */
  async wait(
    { operation, retryAfter }: ServiceError,
    reason: string,
    milliseconds: number,
  ): Promise<void> {
    const delay = retryAfter === undefined
      ? jitter(milliseconds)
      : Math.min(retryAfter, this.timeouts.retryAfter);
    this.#onWait?.({ operation, reason, milliseconds: delay });
    await pause(delay, this.signal);
  }

  /** Closes the connections that are not being read from. */
  close(): void {
    this.#connections?.close();
    this.#connections = undefined;
  }

  /** The error for a connection that failed or broke. */
  connectionError(operation: Operation, cause: unknown): ConnectionError {
    return connectionError(cause, {
      operation,
      baseUrl: this.#baseUrl,
      apiKey: this.#apiKey,
    });
  }

  /** Sends a request within its time limit, and turns failures into errors. */
  async #answered<T>(
    operation: Operation,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const { answer, grace } = this.timeouts;
    const deadline = new Deadline(this.signal, answer, grace);
    try {
      return await send(deadline);
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      if (!deadline.expired) throw this.connectionError(operation, error);
      throw new ConnectionError(
        `the service did not answer within ${answer / 1000} s; ${
          UNKNOWN_OUTCOME[operation]
        }`,
        { operation, cause: error },
      );
    } finally {
      deadline.end();
    }
  }

  async #fetch(
    method: "GET" | "POST",
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { operation, runId } = request;
    const url = this.#baseUrl + request.path;
    const client = this.#connect(operation);
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...request.headers,
          "user-agent": `agent-gateway/${VERSION}`,
          "x-api-key": this.#apiKey,
        },
        redirect: "manual",
        signal,
        client,
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      status = response.status;
      if (!response.ok) {
        const apiKey = this.#apiKey;
        throw await statusError(response, { operation, url, apiKey, signal });
      }
      return response;
    } finally {
      this.#onExchange?.({
        operation,
        sessionId: this.#sessionId,
        runId,
        status,
        milliseconds: performance.now() - started,
      });
    }
  }

  #connect(operation: Operation): Deno.HttpClient {
    try {
      this.#connections ??= Deno.createHttpClient({ http2: false });
      return this.#connections;
    } catch (cause) {
      throw tlsSetupError(cause, operation);
    }
  }
}

/** Whether the service certainly did not accept a `POST`, and may accept it later. */
function isBusy({ operation, status }: ServiceError): boolean {
  return status === 429 || (status === 503 && operation === "create thread");
}

async function readJson(
  response: Response,
  { operation, apiKey, signal }: {
    readonly operation: Operation;
    readonly apiKey: string;
    readonly signal: AbortSignal;
  },
): Promise<Readonly<Record<string, unknown>>> {
  const { status, headers } = response;
  const chunks = readBody(response, signal);
  const { text, cut } = await readText(chunks, MAX_ANSWER_BYTES);
  const value = cut ? undefined : parseJson(text);
  if (isJsonObject(value)) return value;
  const reason = isWebPage(headers.get("content-type"), text)
    ? webPageReason(status, { text, cut }, apiKey)
    : cut
    ? "the answer is larger than 1 MiB"
    : `the answer (status ${status}) is not a JSON object`;
  throw unusableAnswer(reason, { operation, status });
}

/**
 * Decompresses a body that is compressed although the request did not allow it
 * (`fetch` leaves it compressed then). Other bodies are passed through.
 */
function decoded(
  chunks: AsyncGenerator<Uint8Array>,
  { headers }: Response,
): AsyncGenerator<Uint8Array> {
  const encoding = headers.get("content-encoding");
  if (encoding !== "gzip" && encoding !== "deflate") return chunks;
  return (async function* () {
    const copies = async function* () {
      for await (const chunk of chunks) yield chunk.slice();
    };
    yield* ReadableStream.from(copies())
      .pipeThrough(new DecompressionStream(encoding));
  })();
}

/** The error for a 2xx answer that cannot be used. */
function unusableAnswer(
  reason: string,
  options: { readonly operation: Operation; readonly status: number },
): ServiceError {
  const { operation } = options;
  const advice = operation === "create thread"
    ? "check the base URL"
    : UNKNOWN_OUTCOME[operation];
  return new ServiceError(`${reason}; ${advice}`, options);
}
