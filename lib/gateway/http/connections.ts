/**
 * The connections of one call to the service, direct or through the user's proxy.
 *
 * @module
 */

import type { Proxy } from "../../settings.ts";
import {
  connectionError,
  tlsSetupError,
} from "../failure/connection_failure.ts";
import type { Operation } from "../failure/fate.ts";
import type { ConnectionError } from "../failure/service_error.ts";
import { trustedCertificates, trusting } from "./certificates.ts";
import type { Relay } from "./relay.ts";

export interface ConnectionOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key` with each request (interface 5.1). No error shows it. */
  readonly apiKey: string;
  /** The user's proxy. By default there is none. */
  readonly proxy?: Proxy | undefined;
}

/**
 * Connections that no other call uses.
 *
 * Each `POST` has a fresh one: a server may close one that was used before at any
 * time, and nothing would prove that it did not take the prompt. The `GET` of a turn
 * uses the connection of its `POST`, so it reaches the same host.
 */
export class Connections {
  readonly #options: ConnectionOptions;
  #client: Deno.HttpClient | undefined;
  #relay: Relay | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Sends a request.
   *
   * @throws {ServiceError} If TLS cannot be set up on this machine.
   * @throws What `fetch` rejects with.
   */
  fetch(
    operation: Operation,
    url: string,
    request: RequestInit,
  ): Promise<Response> {
    if (request.method === "POST") this.close();
    return trusting(async (isAgain) => {
      if (isAgain) this.close();
      const client = await this.#connect(operation);
      return await fetch(url, { ...request, client });
    });
  }

  /** Whether the user's proxy has not connected to the service, so nothing was sent. */
  get isUnsent(): boolean {
    return this.#relay?.failure !== undefined;
  }

  /** The error for a connection that failed or broke. */
  error(operation: Operation, cause: unknown): ConnectionError {
    const tunnelError = this.#relay?.failure;
    const options = { ...this.#options, operation, tunnelError };
    return connectionError(cause, options);
  }

  /** Makes the next request open a connection. */
  close(): void {
    this.#client?.close();
    this.#client = undefined;
    this.#relay?.[Symbol.dispose]();
    this.#relay = undefined;
  }

  async #connect(operation: Operation): Promise<Deno.HttpClient> {
    const { proxy, baseUrl } = this.#options;
    if (proxy !== undefined && this.#relay === undefined) {
      const { Relay } = await import("./relay.ts");
      this.#relay = new Relay(proxy, new URL(baseUrl));
    }
    try {
      return this.#client ??= Deno.createHttpClient({
        caCerts: [...trustedCertificates()],
        ...(this.#relay !== undefined && { proxy: this.#relay.proxy }),
      });
    } catch (cause) {
      throw tlsSetupError(cause, operation);
    }
  }
}
