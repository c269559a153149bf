import { mayListenOnLoopback, type Proxy } from "../../settings.ts";
import { Redactor } from "../../text.ts";
import type { CallState } from "../failure/call_state.ts";
import type { RequestError } from "../failure/failure.ts";
import { loadCertificates, trustedCertificates } from "./certificates.ts";
import { connectionError, tlsSetupError } from "./connection_failure.ts";
import { isNotConnected } from "./known_failures.ts";
import { loopbackError } from "./loopback.ts";
import { Relay } from "./relay.ts";
import type { Route } from "./route.ts";

export interface ConnectionOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). No error shows it. */
  readonly apiKey: string;
  readonly proxy?: Proxy | undefined;
  /** The way to an `https:` service; `fetch` connects to an `http:` one by itself. */
  readonly route?: Route | undefined;
}

/** What {@linkcode CallConnection.fetch} sends. */
type SentRequest = RequestInit & { readonly signal: AbortSignal };

/**
 * The connection of one call, which no other call uses: an HTTP client of `fetch`, and,
 * if there is a route, the relay through which it reaches the service. Each `POST` has a
 * fresh one: a server may close one that was used before at any time, and nothing would
 * prove that it did not take the prompt. The `GET` of a turn uses the connection of its
 * `POST`, so it reaches the same host.
 */
export class CallConnection {
  readonly redactor: Redactor;
  readonly #options: ConnectionOptions;
  readonly #state: CallState;
  #client: Deno.HttpClient | undefined;
  #relay: Relay | undefined;

  constructor(options: ConnectionOptions, state: CallState) {
    this.#options = options;
    this.#state = state;
    this.redactor = new Redactor(options.apiKey);
  }

  /**
   * Like `fetch`. Tells the state of the call when the service may take the request, and
   * rejects with a {@linkcode RequestError} if no HTTP client can be made here. A request
   * that certainly was not sent is sent on a new connection if that may help.
   */
  async fetch(url: string, request: SentRequest): Promise<Response> {
    if (request.method === "POST") this.close();
    let { route } = this.#options;
    for (;;) {
      if (this.#relay?.isOver) this.close();
      const isUsed = this.#client !== undefined;
      const tried = trustedCertificates();
      const client = this.#client ?? this.#open(route);
      try {
        using _expected = isUsed ? this.#relay?.expectRequest() : undefined;
        return await this.#send(client, url, request);
      } catch (error) {
        if (!this.#isNotConnected(error)) throw error;
        // A used client needs another connection, but a relay lets its client in once.
        const isSpent = isUsed && this.#relay !== undefined;
        if (!isSpent && !await loadCertificates(error, tried)) {
          if (isUsed || !await this.#canDoWithoutRelay(request.signal)) {
            throw error;
          }
          route = undefined;
        }
        this.close();
        this.#state.setStage("not sent");
      }
    }
  }

  /** Whether the relay can tell why the service was not reached until now. */
  get hasFailure(): boolean {
    return this.#relay?.failure !== undefined;
  }

  /** The error for a request that failed, from what `fetch` and the relay tell. */
  error(cause: unknown): RequestError {
    const { operation } = this.#state;
    const { baseUrl, proxy } = this.#options;
    const relay = this.#relay;
    if (relay?.hasClient === false && this.#isNotConnected(cause)) {
      const { obstacle, givenUp: { aborted: isLate } } = relay;
      return loopbackError(cause, { operation, obstacle, isLate });
    }
    return connectionError(cause, {
      operation,
      baseUrl,
      proxy,
      redactor: this.redactor,
      relayFailure: relay?.failure,
    });
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
    this.#relay?.[Symbol.dispose]();
    this.#relay = undefined;
  }

  /** Whether this machine failed the relay, and `fetch` may connect by itself. */
  async #canDoWithoutRelay(signal: AbortSignal): Promise<boolean> {
    const { route } = this.#options;
    if (this.#relay === undefined || !route?.mayBeSkipped) return false;
    const obstacle = await this.#relay.findObstacle(signal);
    if (obstacle === "loopback") route.skip(); // Descriptors come back.
    return obstacle !== undefined;
  }

  #send(
    client: Deno.HttpClient,
    url: string,
    request: SentRequest,
  ): Promise<Response> {
    // Without a relay, nothing shows when a connection is made.
    const relay = this.#relay;
    if (relay?.hasAnswer !== false) this.#state.markPerhapsTaken();
    if (relay === undefined) return fetch(url, { ...request, client });
    const signal = AbortSignal.any([request.signal, relay.givenUp]);
    return fetch(url, { ...request, client, signal });
  }

  #isNotConnected(error: unknown): boolean {
    return isNotConnected(error) || this.#relay?.givenUp.aborted === true;
  }

  /** Makes an HTTP client, with a relay if there is a route. */
  #open(route: Route | undefined): Deno.HttpClient {
    if (route?.isSkipped === false) this.#relay = this.#openRelay(route);
    const proxy = this.#relay?.proxy;
    const caCerts = [...trustedCertificates()];
    try {
      this.#client = Deno.createHttpClient(
        proxy === undefined ? { caCerts } : { caCerts, proxy },
      );
      return this.#client;
    } catch (cause) {
      if (cause instanceof Deno.errors.NotCapable) throw cause;
      throw tlsSetupError(cause, this.redactor);
    }
  }

  /** Opens a relay. Returns none if that fails and `fetch` may connect by itself. */
  #openRelay(route: Route): Relay | undefined {
    const onAnswer = () => {
      this.#state.markPerhapsTaken();
      // A run follows a thread.
      if (this.#state.operation === "create thread") route.prepare();
    };
    try {
      if (!mayListenOnLoopback()) {
        throw new Error("--allow-net lacks 127.0.0.1");
      }
      return new Relay(route, onAnswer);
    } catch (cause) {
      if (route.mayBeSkipped) return undefined;
      const { operation } = this.#state;
      throw loopbackError(cause, { operation });
    }
  }
}
