import type { Proxy } from "../../settings.ts";
import { Redactor } from "../../text.ts";
import type { CallState } from "../failure/call_state.ts";
import type { RequestError } from "../failure/failure.ts";
import { learnCertificates, trustedCertificates } from "./certificates.ts";
import { connectionError, tlsSetupError } from "./connection_failure.ts";
import { isNotConnected } from "./known_failures.ts";
import { loopbackError, mayListen } from "./loopback.ts";
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

/** What {@linkcode Connections.fetch} sends. */
type SentRequest = RequestInit & { readonly signal: AbortSignal };

/**
 * Connections that no other call uses. Each `POST` has a fresh one: a server may close
 * one that was used before at any time, and nothing would prove that it did not take the
 * prompt. The `GET` of a turn uses the connection of its `POST`, so it reaches the same
 * host.
 *
 * With a route, each HTTP client reaches the service through a relay of its own. Where
 * the program cannot connect to itself, and no proxy is set, `fetch` connects directly.
 */
export class Connections {
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
   * rejects with a {@linkcode RequestError} if no HTTP client can be made here.
   */
  async fetch(url: string, request: SentRequest): Promise<Response> {
    if (request.method === "POST") this.close();
    const tried = trustedCertificates();
    try {
      return await this.#fetch(url, request);
    } catch (error) {
      if (!await learnCertificates(error, tried)) throw error;
      this.#startAgain();
    }
    return await this.#fetch(url, request);
  }

  /** Whether the relay can tell why the service was not reached until now. */
  get hasFailure(): boolean {
    return this.#relay?.failure !== undefined;
  }

  error(cause: unknown): RequestError {
    const { operation } = this.#state;
    const { baseUrl, proxy } = this.#options;
    const relay = this.#relay;
    if (relay?.hasClient === false && this.#isNotConnected(cause)) {
      const { obstacle, missing: { aborted: isLate } } = relay;
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

  async #fetch(url: string, request: SentRequest): Promise<Response> {
    if (this.#relay?.isOver) this.close();
    const used = this.#client;
    if (used !== undefined) {
      try {
        using _expected = this.#relay?.expectRequest();
        return await this.#send(used, url, request);
      } catch (error) {
        // It needed another connection, but a relay lets its client in once.
        if (this.#relay === undefined || !this.#isNotConnected(error)) {
          throw error;
        }
        this.#startAgain();
      }
    }

    const { route } = this.#options;
    try {
      return await this.#send(this.#open(route), url, request);
    } catch (error) {
      if (!this.#isNotConnected(error)) throw error;
      // If the relay failed because of this machine, `fetch` can do without it.
      const obstacle = await this.#relay?.findObstacle();
      if (route === undefined || obstacle === undefined) throw error;
      if (route.proxy !== undefined) throw error;
      // Descriptors come back.
      if (obstacle === "loopback") route.doWithoutRelays();
      this.#startAgain();
    }
    return await this.#send(this.#open(undefined), url, request);
  }

  #send(
    client: Deno.HttpClient,
    url: string,
    request: SentRequest,
  ): Promise<Response> {
    // Without a relay, nothing shows when a connection is made.
    const relay = this.#relay;
    if (relay?.hasAnswer !== false) this.#state.handOver();
    if (relay === undefined) return fetch(url, { ...request, client });
    const signal = AbortSignal.any([request.signal, relay.missing]);
    return fetch(url, { ...request, client, signal });
  }

  #isNotConnected(error: unknown): boolean {
    return isNotConnected(error) || this.#relay?.missing.aborted === true;
  }

  /** Closes the connection of a request that certainly was not sent. */
  #startAgain(): void {
    this.close();
    this.#state.learn("not sent");
  }

  /** Makes an HTTP client, with a relay if there is a route. */
  #open(route: Route | undefined): Deno.HttpClient {
    if (route?.hasRelays) this.#relay = this.#openRelay(route);
    try {
      const caCerts = [...trustedCertificates()];
      this.#client = this.#relay === undefined
        ? Deno.createHttpClient({ caCerts })
        : Deno.createHttpClient({ caCerts, proxy: this.#relay.proxy });
      return this.#client;
    } catch (cause) {
      throw tlsSetupError(cause);
    }
  }

  /** Opens a relay. Returns none if that fails, which is an error only with a proxy. */
  #openRelay(route: Route): Relay | undefined {
    const onAnswer = () => {
      this.#state.handOver();
      // A run follows a thread.
      if (this.#state.operation === "create thread") route.prepare();
    };
    try {
      if (!mayListen()) throw new Error("--allow-net lacks 127.0.0.1");
      return new Relay(route, onAnswer);
    } catch (cause) {
      if (route.proxy === undefined) return undefined;
      const { operation } = this.#state;
      throw loopbackError(cause, { operation });
    }
  }
}
