/**
 * The way to the user's proxy: `fetch` uses a proxy on loopback, this relay, and the
 * relay alone speaks to the user's. Deno 2.9.6 would send the password of an `http:`
 * proxy to the service, with each request, and does not tell why a proxy refused. The
 * proxy's name is looked up here; the service's is left to the proxy.
 *
 * @module
 */

import { startTimer } from "../../io.ts";
import type { Proxy } from "../../settings.ts";
import { VERSION } from "../../version.ts";
import { trustedCertificates, trusting } from "./certificates.ts";
import type { KnownFailure } from "./known_failures.ts";
import {
  loginFailure,
  noConnection,
  socksFailure,
  statusFailure,
  TunnelError,
  wrongProtocol,
} from "./tunnel_failure.ts";

/** How long a tunnel may take, in milliseconds: less than the answer to a `POST`. */
const LIMIT = 20_000;

/** The time limit for a connection to send the password, in milliseconds. */
const ADMISSION_LIMIT = 2_000;

/** The most connections that have not sent it yet. */
const MAX_STRANGERS = 16;

/** The pause after a connection that could not be accepted, in milliseconds. */
const ACCEPT_PAUSE = 20;

const MAX_HEAD_BYTES = 16 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** The reply code of SOCKS for a general failure: Deno does not report which one it is. */
const FAILED = 1;

/** The address 0.0.0.0:0 as SOCKS encodes it. Replies require one that nobody uses. */
const ANYWHERE = [1, 0, 0, 0, 0, 0, 0];

/**
 * A SOCKS5 proxy for one HTTP client with a random password, to one service. (Deno
 * sends the login of an HTTP proxy to the service.) Whatever other processes do at its
 * port changes nothing: a connection counts when it has shown the password. Dispose of
 * it to close its connections.
 */
export class Relay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #login = { username: "relay", password: crypto.randomUUID() };
  readonly #closing = new AbortController();
  readonly #proxy: Proxy;
  readonly #url: URL;
  /** The connections that have not sent the password, the oldest first. */
  readonly #strangers = new Set<Deno.Conn>();
  #failure: KnownFailure | undefined;
  #hasOpened = false;

  /** @param url The service's URL, with `https:`. */
  constructor(proxy: Proxy, url: URL) {
    this.#proxy = proxy;
    this.#url = url;
    this.#accept();
  }

  get proxy(): { readonly url: string; readonly basicAuth: Deno.BasicAuth } {
    const url = `socks5://127.0.0.1:${this.#listener.addr.port}`;
    return { url, basicAuth: this.#login };
  }

  /** Why the last tunnel was not opened; `undefined` if it was. */
  get failure(): KnownFailure | undefined {
    return this.#failure;
  }

  /** Whether a tunnel was ever opened, so that something may have been sent. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    close(this.#listener);
  }

  async #accept(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const client = await this.#listener.accept();
        // It rejects if the client closes or resets the connection, as it may.
        this.#serve(client).catch(() => {});
      } catch {
        // It is about this connection alone (a reset), or descriptors are short.
        await new Promise<void>((go) => startTimer(ACCEPT_PAUSE, go));
      }
    }
  }

  async #serve(client: Deno.Conn): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, over.signal]);
    signal.addEventListener("abort", () => close(client));
    let stop = startTimer(ADMISSION_LIMIT, () => over.abort());
    let isAsked = false;
    try {
      this.#strangers.add(client);
      const [oldest] = this.#strangers;
      if (this.#strangers.size > MAX_STRANGERS) close(oldest);
      const address = await this.#admit(client)
        .finally(() => this.#strangers.delete(client));
      stop();
      stop = startTimer(LIMIT, () => over.abort());
      isAsked = true;
      const reason = "it does not answer";
      this.#failure = new TunnelError(this.#proxy, { reason }).failure;
      const service = await this.#connect(signal);
      const isSocks = this.#proxy.scheme.startsWith("socks");
      await (isSocks
        ? this.#askSocks(service, address)
        : this.#askHttp(service));
      stop();
      isAsked = false;
      this.#failure = undefined;
      this.#hasOpened = true;
      await write(client, Uint8Array.of(5, 0, 0, ...ANYWHERE));
      await Promise.all([pump(client, service), pump(service, client)]);
    } catch (error) {
      if (!isAsked || signal.aborted) return;
      const isKnown = error instanceof TunnelError;
      const known = isKnown ? error : new TunnelError(this.#proxy);
      this.#failure = known.failure;
      await write(client, Uint8Array.of(5, FAILED, 0, ...ANYWHERE));
    } finally {
      stop();
      over.abort();
    }
  }

  /** Lets the HTTP client in, and returns the service's address (RFC 1928, 1929). */
  async #admit(client: Deno.Conn): Promise<Uint8Array> {
    const { username, password } = this.#login;
    const expected = [1, ...sized(username), ...sized(password)];
    const [, methods = 0] = await read(client, 2);
    await read(client, methods);
    await write(client, Uint8Array.of(5, 2));
    const login = await read(client, expected.length);
    if (login.join() !== expected.join()) throw new Error("Wrong password");
    await write(client, Uint8Array.of(1, 0));
    await read(client, 3);
    const address = await readAddress(client);
    if (hostOf(address) !== this.#url.host) throw new Error("Wrong service");
    return address;
  }

  async #connect(signal: AbortSignal): Promise<Deno.Conn> {
    const { scheme, hostname, port } = this.#proxy;
    let connection: Deno.Conn | undefined;
    signal.addEventListener("abort", () => close(connection));
    try {
      return await trusting(async () => {
        close(connection);
        const tcp = connection = await Deno.connect({ hostname, port, signal });
        tcp.setNoDelay();
        if (scheme !== "https") return tcp;
        const caCerts = [...trustedCertificates()];
        const tls = connection = await Deno.startTls(tcp, {
          hostname,
          caCerts,
        });
        await tls.handshake();
        return tls;
      });
    } catch (error) {
      close(connection);
      throw noConnection(this.#proxy, error);
    }
  }

  async #askHttp(connection: Deno.Conn): Promise<void> {
    const proxy = this.#proxy;
    const login = `${proxy.user}:${proxy.password}`;
    const host = `${this.#url.hostname}:${this.#url.port || 443}`;
    const head = `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n` +
      (login === ":" ? "" : `Proxy-Authorization: Basic ${btoa(login)}\r\n`) +
      `User-Agent: agent-gateway/${VERSION}\r\n\r\n`;
    await write(connection, new TextEncoder().encode(head));
    let left = MAX_HEAD_BYTES;
    for (let status = 100; status < 200;) { // 1xx come before the answer
      let head = "";
      // Read byte by byte: what comes after the head belongs to the service.
      for (; !head.endsWith("\r\n\r\n"); left--) {
        if (left === 0) throw wrongProtocol(proxy);
        head += String.fromCharCode(...await read(connection, 1));
        if (!"HTTP/1.".startsWith(head.slice(0, 7))) throw wrongProtocol(proxy);
      }
      status = Number(head.slice(9, 12)) || 0;
      if (status < 100) throw wrongProtocol(proxy);
      const isPage = /^content-type: *text\/html/im.test(head);
      if (status >= 200 && (status >= 300 || isPage)) {
        throw statusFailure(proxy, status, schemesIn(head));
      }
    }
  }

  async #askSocks(connection: Deno.Conn, address: Uint8Array): Promise<void> {
    const proxy = this.#proxy;
    const { user, password } = proxy;
    const methods = user + password === "" ? [0] : [0, 2];
    await write(connection, Uint8Array.of(5, methods.length, ...methods));
    const [version, method = 0] = await read(connection, 2);
    if (version !== 5) throw wrongProtocol(proxy);
    if (!methods.includes(method)) throw loginFailure(proxy);
    if (method === 2) {
      const login = [...sized(user), ...sized(password)];
      await write(connection, Uint8Array.of(1, ...login));
      const [, refusal] = await read(connection, 2);
      if (refusal !== 0) throw loginFailure(proxy);
    }
    await write(connection, Uint8Array.of(5, 1, 0, ...address));
    const [, code = 0] = await read(connection, 2);
    if (code !== 0) throw socksFailure(proxy, code);
    await read(connection, 1);
    await readAddress(connection);
  }
}

/** The schemes by which a proxy lets clients log in. Only known names are told. */
const SCHEMES = ["Basic", "Digest", "NTLM", "Negotiate", "Bearer"];

function schemesIn(head: string): readonly string[] {
  const offers = head.replaceAll(/"[^"]*"/g, "")
    .match(/(?<=^proxy-authenticate:).*$/gim)?.join().toLowerCase() ?? "";
  const offered = offers.split(",").map((offer) => offer.trim().split(" ")[0]);
  return SCHEMES.filter((name) => offered.includes(name.toLowerCase()));
}

/** Copies what arrives until the end, and the end. Reading waits for writing. */
async function pump(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const count = await from.read(chunk);
    if (count === null) return await to.closeWrite();
    await write(to, chunk.subarray(0, count));
  }
}

function sized(text: string): readonly number[] {
  return [text.length, ...Array.from(text, (byte) => byte.charCodeAt(0))];
}

/** Reads an address as SOCKS writes it: a type, the host, the port. */
async function readAddress(connection: Deno.Conn): Promise<Uint8Array> {
  const [type = 0, first = 0] = await read(connection, 2);
  const length = type === 1 ? 4 : type === 4 ? 16 : first + 1;
  return Uint8Array.of(type, first, ...await read(connection, length + 1));
}

/** The host and the port of an address, as a URL with `https:` has them. */
function hostOf(address: Uint8Array): string | undefined {
  const bytes = address.subarray(1, -2);
  const [high = 0, low = 0] = address.subarray(-2);
  const host = address[0] === 1
    ? bytes.join(".")
    : address[0] === 4
    ? `[${bytes.toHex().match(/.{4}/g)?.join(":")}]`
    : new TextDecoder().decode(bytes.subarray(1));
  return URL.parse(`https://${host}:${high * 256 + low}`)?.host;
}

async function read(
  connection: Deno.Conn,
  length: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length;) {
    const count = await connection.read(bytes.subarray(filled));
    if (count === null) throw new Error("The connection has ended");
    filled += count;
  }
  return bytes;
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += await connection.write(bytes.subarray(written));
  }
}

/** Closes a connection or a listener, if it is open. Pending calls on it fail. */
function close(open: { close(): void } | undefined): void {
  try {
    open?.close();
  } catch {
    // It is closed already.
  }
}
