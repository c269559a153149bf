/**
 * One HTTP request to the service: the key, time-outs, retries, size limits, and
 * failures turned into {@linkcode ServiceError}s.
 *
 * @module
 */

import {
  connectionFailure,
  errorDetail,
  isJsonObject,
  isRefused,
  parseJson,
  parseRetryAfter,
  readText,
} from "./answer.ts";
import { CLOCKS, type Clocks } from "./clocks.ts";
import { Deadline, pause } from "./deadline.ts";
import {
  ConnectionError,
  type Operation,
  ServiceError,
  type ServiceErrorOptions,
} from "./service_error.ts";
import { maskKey } from "./settings.ts";
import { VERSION } from "./version.ts";

/** One remote call, for a log: nothing in it is secret. */
export interface Exchange {
  readonly operation: Operation;
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
  /** The default is {@linkcode CLOCKS}. */
  readonly clocks?: Clocks | undefined;
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
  readonly body: ReadableStream<Uint8Array>;
  /** Aborts the request; the body fails with the reason. */
  readonly controller: AbortController;
  /** Ends the link to the request's own signal. */
  release(): void;
}

const METHODS: Readonly<Record<Operation, "GET" | "POST">> = {
  "create thread": "POST",
  "create run": "POST",
  "stream run": "GET",
};
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_DETAIL_LENGTH = 500;

/** Sends requests to the service. Holds the connections: close it when done. */
export class ServiceClient {
  readonly clocks: Clocks;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #onExchange: ((exchange: Exchange) => void) | undefined;
  // A POST on a connection that was used before can be sent twice by fetch
  // itself (denoland/deno#32566), so each one gets a connection of its own.
  readonly #unpooled = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

  constructor(options: ServiceClientOptions) {
    this.clocks = options.clocks ?? CLOCKS;
    this.#baseUrl = options.baseUrl;
    this.#apiKey = options.apiKey;
    this.#onExchange = options.onExchange;
  }

  /**
   * Sends a `POST` and reads its JSON answer, at most 1 MiB.
   *
   * It is repeated only when the service cannot have taken it: refused
   * connections once, 429 and 503 three times.
   *
   * @throws {ServiceError} If there is no 2xx answer with a JSON object.
   * @throws The signal's reason, if it is aborted.
   */
  post(request: ServiceRequest): Promise<Readonly<Record<string, unknown>>> {
    return this.#retrying(request, async (deadline) => {
      const response = await this.#fetch(request, deadline);
      return await this.#json(request, response);
    });
  }

  /**
   * Sends a `GET` for an event stream and waits for its headers. As a `GET`
   * changes nothing, it is repeated once when the connection broke, too.
   *
   * @throws {ServiceError} If there is no 2xx answer.
   * @throws The signal's reason, if it is aborted.
   */
  stream(request: ServiceRequest): Promise<OpenStream> {
    return this.#retrying(request, async (deadline) => {
      const response = await this.#fetch(request, deadline);
      deadline.meet();
      return {
        body: response.body ?? new Blob().stream(),
        controller: deadline.controller,
        release: () => deadline.release(),
      };
    });
  }

  /** Closes the connections. */
  close(): void {
    this.#unpooled.close();
  }

  /** An error about a request, with the key masked wherever it stands in the reason. */
  error(
    request: Pick<ServiceRequest, "operation">,
    reason: string,
    options: { status?: number; cause?: unknown } = {},
  ): ServiceError {
    return new ServiceError(this.#mask(reason), {
      operation: request.operation,
      ...options,
    });
  }

  /** The error for a connection that could not be made or broke. */
  connectionError(
    request: Pick<ServiceRequest, "operation">,
    error: unknown,
  ): ConnectionError {
    const reason = this.#mask(connectionFailure(error));
    return new ConnectionError(
      `the connection to ${new URL(this.#baseUrl).origin} failed (${reason})`,
      { operation: request.operation, cause: error },
    );
  }

  async #retrying<T>(
    request: ServiceRequest,
    send: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const { clocks } = this;
    let reconnected = false;
    for (let retries = 0;;) {
      const deadline = new Deadline(request.signal, clocks.answer);
      try {
        return await send(deadline);
      } catch (error) {
        request.signal.throwIfAborted();
        if (deadline.expired) {
          throw this.error(
            request,
            `the service did not answer within ${clocks.answer / 1000} s`,
            { cause: error },
          );
        }
        if (error instanceof OverloadedError && retries < clocks.retry.length) {
          const delay = error.retryAfter ?? jitter(clocks.retry[retries] ?? 0);
          await pause(Math.min(delay, clocks.retryAfter), request.signal);
          retries++;
        } else if (error instanceof ServiceError) {
          throw error;
        } else if (
          !reconnected &&
          (isRefused(error) || METHODS[request.operation] === "GET")
        ) {
          reconnected = true;
        } else {
          throw this.connectionError(request, error);
        }
      } finally {
        deadline.end();
      }
    }
  }

  async #fetch(
    request: ServiceRequest,
    deadline: Deadline,
  ): Promise<Response> {
    const method = METHODS[request.operation];
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await fetch(this.#baseUrl + request.path, {
        method,
        headers: {
          ...request.headers,
          "user-agent": `agent-gateway/${VERSION}`,
          "x-api-key": this.#apiKey,
        },
        redirect: "manual",
        signal: deadline.controller.signal,
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(method === "POST" ? { client: this.#unpooled } : {}),
      });
      status = response.status;
      if (!response.ok) throw await this.#statusError(request, response);
      return response;
    } finally {
      this.#onExchange?.({
        operation: request.operation,
        status,
        milliseconds: performance.now() - started,
      });
    }
  }

  async #json(
    request: ServiceRequest,
    response: Response,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { text, cut } = await readText(response, MAX_ANSWER_BYTES);
    const { status } = response;
    if (cut) {
      throw this.error(request, "the answer is larger than 1 MiB", { status });
    }
    const value = parseJson(text);
    if (!isJsonObject(value)) {
      throw this.error(
        request,
        `the answer (status ${status}) is not a JSON object`,
        { status },
      );
    }
    return value;
  }

  async #statusError(
    request: ServiceRequest,
    response: Response,
  ): Promise<ServiceError> {
    const { status } = response;
    const location = response.headers.get("location");
    if (status >= 300 && status < 400 && location !== null) {
      await response.body?.cancel();
      const target = URL.parse(location, this.#baseUrl + request.path);
      return this.error(
        request,
        `the service answered ${status}, a redirect to ${
          target === null ? "an unreadable address" : target.origin
        }; redirects are not followed, check the base URL`,
        { status },
      );
    }
    const detail = await this.#detail(response);
    let reason = `the service answered ${status}`;
    if (status === 401 || status === 403) {
      reason += ", the API key was rejected; check APP_API_KEY";
    }
    if (detail !== "") reason += `: ${detail}`;
    if (status !== 429 && status !== 503) {
      return this.error(request, reason, { status });
    }
    return new OverloadedError(reason, {
      operation: request.operation,
      status,
      retryAfter: parseRetryAfter(response.headers.get("retry-after")),
    });
  }

  /** What the body of an error says, with the key masked: empty if it cannot be read. */
  async #detail(response: Response): Promise<string> {
    const body = await readText(response, MAX_ERROR_BYTES).catch(() =>
      undefined
    );
    if (body === undefined) return "";
    // Where the text was cut, a part of the key could stand.
    const text = body.cut
      ? body.text.slice(0, -this.#apiKey.length)
      : body.text;
    const detail = this.#mask(errorDetail(parseJson(text)) ?? text).trim();
    return detail.slice(0, MAX_DETAIL_LENGTH).toWellFormed();
  }

  #mask(text: string): string {
    const inJson = JSON.stringify(this.#apiKey).slice(1, -1);
    const mask = maskKey(this.#apiKey);
    return text.replaceAll(this.#apiKey, mask).replaceAll(inJson, mask);
  }
}

/** The service did not take the request, and may say when to come again. */
class OverloadedError extends ServiceError {
  readonly retryAfter: number | undefined;

  constructor(
    reason: string,
    options: ServiceErrorOptions & { readonly retryAfter: number | undefined },
  ) {
    super(reason, options);
    this.retryAfter = options.retryAfter;
  }
}

/** A time up to a quarter shorter or longer, so that many clients do not come at once. */
function jitter(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}
