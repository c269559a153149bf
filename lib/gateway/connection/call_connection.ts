import { mayListenOnLoopback } from "../../settings.ts";
import type { CallState } from "../failure/call_state.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { loadCertificates, trustedCertificates } from "./certificates.ts";
import { connectionFailure, tlsSetupFailure } from "./connection_failure.ts";
import { isNotConnected, isUnknownIssuer } from "./known_failures.ts";
import { loopbackFailure } from "./loopback.ts";
import { Relay } from "./relay.ts";
import type { Route } from "./route.ts";

/** What {@linkcode CallConnection.fetch} sends. */
type SentRequest = RequestInit & { readonly signal: AbortSignal };

/**
 * The connection of one call, which no other call uses: an HTTP client of `fetch`, and
 * the relay through which it reaches the service, unless the route skips it. Each `POST`
 * has a fresh one: a server may close one that was used before at any time, and nothing
 * would prove that it did not take the prompt. The `GET` of a turn uses the connection
 * of its `POST`, so it reaches the same host.
 */
export class CallConnection {
  readonly #route: Route;
  readonly #state: CallState;
  #client: Deno.HttpClient | undefined;
  #relay: Relay | undefined;

  constructor(route: Route, state: CallState) {
    this.#route = route;
    this.#state = state;
  }

  /**
   * Like `fetch`. Marks the call as soon as the service may take the request, and
   * rejects with a {@linkcode RequestError} if no HTTP client can be made here. A request
   * that certainly was not sent is sent on a new connection if that may help.
   */
  async fetch(url: string, request: SentRequest): Promise<Response> {
    if (request.method === "POST") this.close();
    let isDirect = false;
    for (;;) {
      if (this.#relay?.isOver) this.close();
      const isUsed = this.#client !== undefined;
      const tried = trustedCertificates();
      const client = this.#client ?? this.#open(isDirect);
      try {
        // Otherwise, onAnswer() marks it.
        if (isUsed || this.#relay === undefined) this.#state.markPerhapsTaken();
        using _expected = isUsed ? this.#relay?.expectRequest() : undefined;
        return await this.#send(client, url, request);
      } catch (error) {
        if (!this.#isNotConnected(error)) throw error;
        // A used client needs another connection, but a relay lets its client in once.
        const isSpent = isUsed && this.#relay !== undefined;
        const isTrusted = isUnknownIssuer(error) &&
          await loadCertificates(tried);
        if (!isSpent && !isTrusted) {
          isDirect = !isUsed && await this.#canDoWithoutRelay(request.signal);
          if (!isDirect) throw error;
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

  /** Why a request failed, from what `fetch` and the relay tell. */
  failureOf(cause: unknown): Failure {
    const { operation } = this.#state;
    const relay = this.#relay;
    if (relay?.hasClient === false && this.#isNotConnected(cause)) {
      const { obstacle, givenUp: { aborted: isLate } } = relay;
      return loopbackFailure(cause, { operation, obstacle, isLate });
    }
    return connectionFailure(cause, {
      operation,
      route: this.#route,
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
    if (this.#relay === undefined || !this.#route.mayBeSkipped) return false;
    const obstacle = await this.#relay.findObstacle(signal);
    if (obstacle === "loopback") this.#route.skip(); // Descriptors come back.
    return obstacle !== undefined;
  }

  #send(
    client: Deno.HttpClient,
    url: string,
    request: SentRequest,
  ): Promise<Response> {
    const relay = this.#relay;
    if (relay === undefined) return fetch(url, { ...request, client });
    const signal = AbortSignal.any([request.signal, relay.givenUp]);
    return fetch(url, { ...request, client, signal });
  }

  #isNotConnected(error: unknown): boolean {
    return isNotConnected(error) || this.#relay?.givenUp.aborted === true;
  }

  /** Makes an HTTP client, with a relay unless `fetch` connects by itself. */
  #open(isDirect: boolean): Deno.HttpClient {
    if (!isDirect && !this.#route.isSkipped) this.#relay = this.#openRelay();
    const proxy = this.#relay?.proxy;
    const caCerts = [...trustedCertificates()];
    try {
      this.#client = Deno.createHttpClient(
        proxy === undefined ? { caCerts } : { caCerts, proxy },
      );
      return this.#client;
    } catch (cause) {
      throw new RequestError(tlsSetupFailure(cause, this.#route.redactor));
    }
  }

  /** Opens a relay. Returns none if that fails and `fetch` may connect by itself. */
  #openRelay(): Relay | undefined {
    const route = this.#route;
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
      throw new RequestError(loopbackFailure(cause, { operation }));
    }
  }
}
