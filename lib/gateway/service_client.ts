/**
 * One HTTP request to the service: the key, time-outs, retries, size limits, and
 * failures turned into {@linkcode ServiceError}s.
 *
 * @module
 */

import { isJsonObject, parseJson } from "../json.ts";
import { readText } from "./answer_text.ts";
import { readBody } from "./response_body.ts";
import { TIMEOUTS, type Timeouts } from "./timeouts.ts";
import {
  connectionError,
  isRefused,
  tlsSetupError,
} from "./connection_failure.ts";
import { Deadline, pause } from "./deadline.ts";
import {
  type ConnectionError,
  type Operation,
  OverloadedError,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";
import { notJsonError, statusError } from "./status_error.ts";
import { VERSION } from "../version.ts";

/** One remote call, for a log: nothing in it is secret. */
export interface Exchange {
  readonly operation: Operation;
  /** The session that the caller named, if it did. */
  readonly sessionId?: string | undefined;
  /** The run that the stream belongs to; only with `stream run`. */
  readonly runId?: string | undefined;
  /** The HTTP status, or `undefined` if none was received. */
  readonly status: number | undefined;
  readonly milliseconds: number;
}

/** Options of a {@linkcode ServiceClient}. */
export interface ServiceClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). */
  readonly apiKey: string;
  /** The default is {@linkcode TIMEOUTS}. */
  readonly timeouts?: Timeouts | undefined;
  /** Called once for each request that was sent, when its outcome is known. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** A request to the service. */
export interface ServiceRequest {
  readonly operation: Operation;
  /** Below the base URL, with a leading slash, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The JSON body of a `POST`, if it has one. */
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** An event stream that the service has begun to answer with. */
export interface OpenStream {
  readonly chunks: AsyncGenerator<Uint8Array>;
  /** Closes the connection, unless everything was read. What is being read fails. */
  drop(): void;
}

const METHODS: Readonly<Record<Operation, "GET" | "POST">> = {
  "create thread": "POST",
  "create run": "POST",
  "stream run": "GET",
};
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Sends requests to the service. Holds the connections: close it when done. */
export class ServiceClient {
  readonly timeouts: Timeouts;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #onExchange: ((exchange: Exchange) => void) | undefined;
  #unpooled: Deno.HttpClient | undefined;

  constructor(options: ServiceClientOptions) {
    this.timeouts = options.timeouts ?? TIMEOUTS;
    this.#baseUrl = options.baseUrl;
    this.#apiKey = options.apiKey;
    this.#onExchange = options.onExchange;
  }

  /**
   * Sends a `POST` and reads its JSON answer, at most 1 MiB.
   *
   * It is repeated only when the service cannot have taken it: a refused
   * connection once, 429 and 503 three times.
   *
   * @throws {ServiceError} If there is no 2xx answer with a JSON object.
   * @throws The signal's reason, if it is aborted.
   */
  post(request: ServiceRequest): Promise<Readonly<Record<string, unknown>>> {
    const { operation } = request;
    return this.#retrying(request, async ({ signal }) => {
      const response = await this.#fetch(request, signal);
      const apiKey = this.#apiKey;
      return await readJson(response, { operation, signal, apiKey });
    });
  }

  /**
   * Sends a `GET` for an event stream and waits for its headers. 429 and 503 are
   * repeated three times.
   *
   * @throws {ConnectionError} If the connection could not be made or broke.
   * @throws {ServiceError} If there is no 2xx answer.
   * @throws The signal's reason, if it is aborted.
   */
  stream(request: ServiceRequest): Promise<OpenStream> {
    return this.#retrying(request, async (deadline) => {
      const response = await this.#fetch(request, deadline.signal);
      deadline.meet();
      return {
        chunks: readBody(response, deadline.signal),
        drop: () => deadline.drop(),
      };
    });
  }

  /** Closes the connections. */
  close(): void {
    this.#unpooled?.close();
    this.#unpooled = undefined;
  }

  /** The error for a connection that could not be made or broke. */
  connectionError(operation: Operation, cause: unknown): ConnectionError {
    return connectionError(cause, {
      operation,
      baseUrl: this.#baseUrl,
      apiKey: this.#apiKey,
    });
  }

  async #retrying<T>(
    request: ServiceRequest,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const { operation, signal } = request;
    const { answer, retry, retryAfter } = this.timeouts;
    let reconnected = METHODS[operation] === "GET"; // up to who follows the stream
    for (let retries = 0;;) {
      const deadline = new Deadline(signal, answer);
      let delay = 0;
      try {
        return await send(deadline);
      } catch (error) {
        signal.throwIfAborted();
        const backoff = retry[retries];
        if (error instanceof OverloadedError && backoff !== undefined) {
          delay = Math.min(error.retryAfter ?? jitter(backoff), retryAfter);
          retries++;
        } else if (error instanceof ServiceError) {
          throw error;
        } else if (deadline.expired) {
          throw new ServiceError(
            `the service did not answer within ${answer / 1000} s; ${
              UNKNOWN_OUTCOME[operation]
            }`,
            { operation, cause: error },
          );
        } else if (isRefused(error) && !reconnected) {
          reconnected = true;
        } else {
          throw this.connectionError(operation, error);
        }
      } finally {
        deadline.end();
      }
      await pause(delay, signal);
    }
  }

  /**
   * A POST on a connection that was used before can be sent twice by fetch
   * itself (denoland/deno#32566), so each one gets a connection of its own.
   */
  #forPosts(operation: Operation): Deno.HttpClient {
    try {
      // Made at the first one: it takes longer than the rest of the start.
      this.#unpooled ??= Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      return this.#unpooled;
    } catch (cause) {
      throw tlsSetupError(cause, operation);
    }
  }

  async #fetch(
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { operation } = request;
    const method = METHODS[operation];
    const url = this.#baseUrl + request.path;
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
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(method === "POST" ? { client: this.#forPosts(operation) } : {}),
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
        status,
        milliseconds: performance.now() - started,
      });
    }
  }
}

async function readJson(
  response: Response,
  { operation, signal, apiKey }:
    & Pick<ServiceRequest, "operation" | "signal">
    & Pick<ServiceClientOptions, "apiKey">,
): Promise<Readonly<Record<string, unknown>>> {
  const { status } = response;
  const chunks = readBody(response, signal);
  const { text, cut } = await readText(chunks, MAX_ANSWER_BYTES);
  if (cut) {
    throw new ServiceError("the answer is larger than 1 MiB", {
      operation,
      status,
    });
  }
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    throw notJsonError(response, text, { operation, apiKey });
  }
  return value;
}

/** A time up to a quarter shorter or longer, so that many clients do not come at once. */
function jitter(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}
