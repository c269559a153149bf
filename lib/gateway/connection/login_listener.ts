import { pause, turnOfEventLoop } from "../../io.ts";
import { isOutOfFiles } from "./known_failures.ts";
import { closeQuietly, readBytes, writeBytes } from "./bytes.ts";
import {
  ANYWHERE,
  dropAddress,
  LOGIN_VERSION,
  PASSWORD,
  sizedText,
  SOCKS_VERSION,
  SUCCEEDED,
} from "./socks.ts";

/** The most connections that are kept while they have sent nothing. */
const MAX_SILENT = 16;

/**
 * How long a connection is kept while it has sent nothing, in milliseconds. The client
 * sends at once, but `fetch` and this listener take turns in one thread. Sixteen at a
 * time, a queue of the system (511 connections) is through in 2 s.
 */
const SILENCE_LIMIT = 50;

/** The pause after a connection that could not be accepted, in milliseconds. */
const ACCEPT_PAUSE = 20;

/**
 * Listens on loopback as a SOCKS5 proxy, until one connection has logged in. The login is
 * random, so only the HTTP client knows it, but other processes can connect, too. If many
 * connections send nothing, the oldest ones are closed. One that has begun as the client
 * does is not closed, because it may be the client.
 *
 * @throws If it cannot listen.
 */
export class LoginListener implements Disposable {
  /** The connection that has logged in; rejects if there is none. */
  readonly client: Promise<Deno.TcpConn>;
  readonly #login = { username: "relay", password: crypto.randomUUID() };
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  /**
   * Connections that have not logged in, the oldest first, and when they were accepted;
   * `undefined` for those that have begun as the client does.
   */
  readonly #pending = new Map<Deno.TcpConn, number | undefined>();
  readonly #client = Promise.withResolvers<Deno.TcpConn>();
  #isClosed = false;

  constructor() {
    this.client = this.#client.promise;
    this.client.catch(() => {}); // Callers may not have asked for it yet.
    this.#accept();
  }

  /** For the HTTP client. */
  get proxy(): { readonly url: string; readonly basicAuth: Deno.BasicAuth } {
    const url = `socks5://127.0.0.1:${this.#listener.addr.port}`;
    return { url, basicAuth: this.#login };
  }

  [Symbol.dispose](): void {
    this.#close(new Error("Closed before a login"));
  }

  #close(reason: unknown): void {
    this.#isClosed = true;
    this.#client.reject(reason);
    closeQuietly(this.#listener);
    for (const connection of this.#pending.keys()) closeQuietly(connection);
  }

  async #accept(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#receive(await this.#listener.accept());
      } catch (error) {
        if (this.#isClosed) return;
        if (isOutOfFiles(error)) return this.#close(error);
        // Only this connection is affected: it was reset.
        await pause(ACCEPT_PAUSE);
      }
      await this.#closeSilent();
    }
  }

  /** Closes the oldest silent connection if there are many. */
  async #closeSilent(): Promise<void> {
    const silent = [...this.#pending]
      .filter(([, since]) => since !== undefined);
    const [oldest] = silent;
    if (oldest === undefined || silent.length <= MAX_SILENT) return;
    // It may be the client: what that has sent is read first.
    const [connection, since = 0] = oldest;
    await pause(since + SILENCE_LIMIT - performance.now());
    await turnOfEventLoop();
    if (this.#pending.get(connection) !== since) return;
    this.#pending.delete(connection);
    closeQuietly(connection);
  }

  async #receive(connection: Deno.TcpConn): Promise<void> {
    this.#pending.set(connection, performance.now());
    try {
      await this.#logIn(connection);
      this.#pending.delete(connection);
      this.#client.resolve(connection);
      this.#close(undefined);
    } catch {
      this.#pending.delete(connection);
      closeQuietly(connection);
    }
  }

  async #logIn(connection: Deno.TcpConn): Promise<void> {
    const [version, count = 0] = await readBytes(connection, 2);
    if (version !== SOCKS_VERSION) throw new Error("Not SOCKS5");
    const methods = await readBytes(connection, count);
    if (!methods.includes(PASSWORD)) throw new Error("No password is offered");
    this.#pending.set(connection, undefined);
    await writeBytes(connection, Uint8Array.of(SOCKS_VERSION, PASSWORD));

    const { username, password } = this.#login;
    const expected = Uint8Array.of(
      LOGIN_VERSION,
      ...sizedText(username),
      ...sizedText(password),
    );
    const login = await readBytes(connection, expected.length);
    if (login.join() !== expected.join()) throw new Error("Wrong login");
    await writeBytes(connection, Uint8Array.of(LOGIN_VERSION, SUCCEEDED));

    // It asks for the service, whatever the address: there is nothing else.
    await readBytes(connection, 3);
    await dropAddress(connection);
    const reply = [SOCKS_VERSION, SUCCEEDED, 0, ...ANYWHERE];
    await writeBytes(connection, Uint8Array.from(reply));
  }
}
