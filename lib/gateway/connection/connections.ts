import type { Proxy } from "../../settings.ts";
import { Redactor } from "../../text.ts";
import type { CallState } from "../failure/call_state.ts";
import type { RequestError } from "../failure/failure.ts";
import { trustedCertificates, trusting } from "./certificates.ts";
import { connectionError, tlsSetupError } from "./connection_failure.ts";
import type { Relay } from "./relay.ts";

export interface ConnectionOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). No error shows it. */
  readonly apiKey: string;
  readonly proxy?: Proxy | undefined;
}

/**
 * Connections that no other call uses. Each `POST` has a fresh one: a server may close
 * one that was used before at any time, and nothing would prove that it did not take the
 * prompt. The `GET` of a turn uses the connection of its `POST`, so it reaches the same
 * host.
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
   * rejects with a {@linkcode RequestError} if TLS cannot be set up here.
   */
  fetch(url: string, request: RequestInit): Promise<Response> {
    if (request.method === "POST") this.close();
    return trusting(async (isAgain) => {
      if (isAgain) {
        this.close();
        this.#state.learn("not sent");
      }
      const client = await this.#connect();
      // Without a relay, nothing shows when a connection is made.
      if (this.#relay?.hasOpened !== false) this.#state.handOver();
      return await fetch(url, { ...request, client });
    });
  }

  error(cause: unknown): RequestError {
    const { operation, stage } = this.#state;
    // What happens to a later tunnel says nothing about a request that was sent.
    const isTunnel = operation === "stream run" || stage === "not sent";
    const { baseUrl, proxy } = this.#options;
    return connectionError(cause, {
      operation,
      baseUrl,
      proxy,
      redactor: this.redactor,
      tunnel: isTunnel ? this.#relay?.failure : undefined,
    });
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
    this.#relay?.[Symbol.dispose]();
    this.#relay = undefined;
  }

  async #connect(): Promise<Deno.HttpClient> {
    const { proxy, baseUrl } = this.#options;
    if (proxy !== undefined && this.#relay === undefined) {
      const { Relay } = await import("./relay.ts");
      const handOver = () => this.#state.handOver();
      this.#relay = new Relay(proxy, new URL(baseUrl), handOver);
    }
    try {
      const caCerts = [...trustedCertificates()];
      this.#client ??= this.#relay === undefined
        ? Deno.createHttpClient({ caCerts })
        : Deno.createHttpClient({ caCerts, proxy: this.#relay.proxy });
      return this.#client;
    } catch (cause) {
      throw tlsSetupError(cause);
    }
  }
}
