/**
 * The way to the user's proxy: `fetch` uses a proxy on loopback, this relay, and the
 * relay alone speaks to the user's.
 *
 * @module
 */

import type { Proxy } from "../../settings.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { closeQuietly, readBytes, writeBytes } from "./bytes.ts";
import { connectThrough } from "./proxy_connection.ts";
import {
  ANYWHERE,
  FAILED,
  LOGIN_VERSION,
  PASSWORD,
  readAddress,
  sizedText,
  SOCKS_VERSION,
  SUCCEEDED,
} from "./socks.ts";
import { tunnelError } from "./tunnel_failure.ts";

/** How long a tunnel may take, in milliseconds: less than the answer to a `POST`. */
const LIMIT = 20_000;

/** The time limit for a connection to send the password, in milliseconds. */
const ADMISSION_LIMIT = 2_000;

/** The most connections that have not sent it yet. */
const MAX_STRANGERS = 16;

/** The pause after a connection that could not be accepted, in milliseconds. */
const ACCEPT_PAUSE = 20;

const CHUNK_BYTES = 64 * 1024;

/** Deno does not report which code the relay refuses with. */
const REFUSAL = Uint8Array.of(SOCKS_VERSION, FAILED, 0, ...ANYWHERE);
const ACCEPTANCE = Uint8Array.of(SOCKS_VERSION, SUCCEEDED, 0, ...ANYWHERE);

/**
 * A SOCKS5 proxy for one HTTP client with a random password, to one service, whatever
 * address is asked for. (Deno sends the login of an HTTP proxy to the service.) Whatever
 * other processes do at its port changes nothing: a connection is served only after it
 * has shown the password. Dispose of it to close its connections.
 */
export class Relay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #login = { username: "relay", password: crypto.randomUUID() };
  readonly #closing = new AbortController();
  readonly #proxy: Proxy;
  readonly #url: URL;
  readonly #onOpen: () => void;
  /** The connections that have not sent the password, the oldest first. */
  readonly #strangers = new Set<Deno.Conn>();
  #failure: Failure | undefined;
  #hasOpened = false;

  /**
   * @param url The service's URL, with `https:`.
   * @param onOpen Called when a tunnel is open: from then on, a request may be taken.
   */
  constructor(proxy: Proxy, url: URL, onOpen: () => void = () => {}) {
    this.#proxy = proxy;
    this.#url = url;
    this.#onOpen = onOpen;
    this.#accept();
  }

  get proxy(): { readonly url: string; readonly basicAuth: Deno.BasicAuth } {
    const url = `socks5://127.0.0.1:${this.#listener.addr.port}`;
    return { url, basicAuth: this.#login };
  }

  /** Why the last tunnel was not opened; `undefined` if it was. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Whether a tunnel was ever opened, so that something may have been sent. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    closeQuietly(this.#listener);
  }

  async #accept(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const client = await this.#listener.accept();
        // It rejects if the client closes or resets the connection, as it may.
        this.#serve(client).catch(() => {});
      } catch {
        if (this.#closing.signal.aborted) return;
        // It is about this connection alone (a reset), or descriptors are short.
        await new Promise<void>((go) => setTimeout(go, ACCEPT_PAUSE));
      }
    }
  }

  async #serve(client: Deno.Conn): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, over.signal]);
    signal.addEventListener("abort", () => closeQuietly(client));
    let timer = setTimeout(() => over.abort(), ADMISSION_LIMIT);
    let isAsked = false;
    try {
      this.#strangers.add(client);
      const [oldest] = this.#strangers;
      if (this.#strangers.size > MAX_STRANGERS) closeQuietly(oldest);
      await this.#admit(client)
        .finally(() => this.#strangers.delete(client));
      clearTimeout(timer);
      timer = setTimeout(() => over.abort(), LIMIT);
      isAsked = true;
      const reason = "it does not answer";
      this.#failure = tunnelError(this.#proxy, { reason }).failure;
      const service = await connectThrough(this.#proxy, this.#url, signal);
      signal.addEventListener("abort", () => closeQuietly(service));
      clearTimeout(timer);
      isAsked = false;
      this.#failure = undefined;
      this.#hasOpened = true;
      this.#onOpen();
      await writeBytes(client, ACCEPTANCE);
      await Promise.all([pump(client, service), pump(service, client)]);
    } catch (error) {
      if (!isAsked || signal.aborted) return;
      const isKnown = error instanceof RequestError;
      const known = isKnown ? error : tunnelError(this.#proxy);
      this.#failure = known.failure;
      await writeBytes(client, REFUSAL);
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }

  /** Lets the HTTP client in. It asks for nothing but the service. */
  async #admit(client: Deno.Conn): Promise<void> {
    const { username, password } = this.#login;
    const login = [...sizedText(username), ...sizedText(password)];
    const expected = Uint8Array.of(LOGIN_VERSION, ...login).join();
    const [, methods = 0] = await readBytes(client, 2);
    await readBytes(client, methods);
    await writeBytes(client, Uint8Array.of(SOCKS_VERSION, PASSWORD));
    const shown = await readBytes(
      client,
      3 + username.length + password.length,
    );
    if (shown.join() !== expected) throw new Error("Wrong password");
    await writeBytes(client, Uint8Array.of(LOGIN_VERSION, SUCCEEDED));
    await readBytes(client, 3);
    await readAddress(client);
  }
}

/** Copies what arrives until the end, and the end. Reading waits for writing. */
async function pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const count = await from.read(chunk);
    if (count === null) return await to.closeWrite();
    await writeBytes(to, chunk.subarray(0, count));
  }
}
