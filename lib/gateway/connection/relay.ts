import { startTimeout } from "../../io.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { CONNECTING } from "./connection_rows.ts";
import { failureIn, isOutOfFiles } from "./known_failures.ts";
import {
  closeQuietly,
  copyBytes,
  dropBytes,
  readBytes,
  writeBytes,
} from "./bytes.ts";
import { LoginListener } from "./login_listener.ts";
import { findObstacle, type Obstacle } from "./loopback.ts";
import type { Route } from "./route.ts";
import type { AnsweredConnection } from "./unused_connection.ts";

/**
 * How long connecting may take, until the first bytes of the service, in milliseconds. It
 * is shorter than `TIMEOUTS.answer`, so that a `POST` fails with the reason of the relay
 * and not with that limit.
 */
export const CONNECT_LIMIT = 20_000;

/** How long a client that was used may send nothing of a request, in milliseconds. */
const REQUEST_LIMIT = 5_000;

/**
 * The connection of one HTTP client of `fetch` to the service. `fetch` connects to this
 * relay on loopback, by SOCKS, and the relay connects to the service; `connection.ts`
 * says why.
 *
 * TLS is between `fetch` and the service. Dispose of the relay to close its connections.
 *
 * @throws If it cannot listen on loopback.
 */
export class Relay implements Disposable {
  readonly #listener = new LoginListener();
  readonly #route: Route;
  readonly #onAnswer: () => void;
  readonly #closing = new AbortController();
  readonly #givenUp = new AbortController();
  #hasClient = false;
  #isOver = false;
  /** Whether nothing has come from the client since a request was expected. */
  #isSilent = false;
  #failure: Failure | undefined;
  #obstacle: Obstacle | undefined;

  /**
   * @param onAnswer Called when the service has answered the ClientHello. Before, nothing
   * of a request was sent: TLS waits for that answer.
   */
  constructor(route: Route, onAnswer: () => void) {
    this.#route = route;
    this.#onAnswer = onAnswer;
    this.#serve();
  }

  get proxy(): LoginListener["proxy"] {
    return this.#listener.proxy;
  }

  /**
   * Aborted if the HTTP client is not waited for any longer. It may wait for loopback, or
   * for another process that has the port by now.
   */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Whether the HTTP client has connected. */
  get hasClient(): boolean {
    return this.#hasClient;
  }

  /** Whether a side has ended its connection, so that no other request can use it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Why the service has not answered; `undefined` before it was asked, and after. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** What this machine lacks, as far as that is known. */
  get obstacle(): Obstacle | undefined {
    return this.#obstacle;
  }

  /** Finds out what this machine lacks, unless the HTTP client has connected. */
  async findObstacle(signal: AbortSignal): Promise<Obstacle | undefined> {
    if (!this.#hasClient) this.#obstacle ??= await findObstacle(signal);
    return this.#obstacle;
  }

  /**
   * Call it before another request is sent on the client, and dispose of the result when
   * it is answered. If nothing of the request comes within 5 s, the client is given up:
   * it needed another connection, and another process may have this relay's port by now.
   */
  expectRequest(): Disposable {
    this.#isSilent = true;
    const stop = startTimeout(REQUEST_LIMIT, () => {
      // What came may have been the end of TLS.
      if (this.#isSilent || this.#isOver) this.#givenUp.abort();
    });
    return { [Symbol.dispose]: stop };
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  async #serve(): Promise<void> {
    const { signal } = this.#closing;
    const expire = () => this.#closing.abort(new Deno.errors.TimedOut());
    const stopLimit = startTimeout(CONNECT_LIMIT, expire);
    signal.addEventListener("abort", () => {
      stopLimit();
      this.#listener[Symbol.dispose]();
    });
    try {
      const client = await this.#listener.client;
      signal.addEventListener("abort", () => closeQuietly(client));
      this.#hasClient = true;
      client.setNoDelay();
      const service = await this.#reach(await readHello(client));
      stopLimit();
      await writeBytes(client, service.firstBytes);
      await this.#copy(client, service.connection);
    } catch (error) {
      // Otherwise a side has ended its connection.
      if (isOutOfFiles(error)) this.#obstacle = "descriptors";
      // From now on, another process can have the port.
      if (!this.#hasClient) this.#givenUp.abort();
    } finally {
      this.#isOver = true;
      this.#closing.abort();
    }
  }

  /** Sends the ClientHello to the service, and waits until it has answered. */
  async #reach(hello: Uint8Array): Promise<AnsweredConnection> {
    const { signal } = this.#closing;
    // A call can end before this does.
    this.#failure = this.#failureOf(new Deno.errors.TimedOut());
    try {
      const answered = await this.#route.ask(hello, signal);
      this.#failure = undefined;
      this.#onAnswer();
      return answered;
    } catch (error) {
      const isLate = signal.reason instanceof Deno.errors.TimedOut;
      const isDisposed = signal.aborted && !isLate;
      if (!isDisposed) {
        this.#failure = this.#failureOf(isLate ? signal.reason : error);
        this.#route.dropAhead();
      }
      throw error;
    }
  }

  /**
   * Copies in both directions until both have ended. A service may answer before it has
   * read everything, and close: then writing to it fails, but its answer is used.
   */
  async #copy(client: Deno.Conn, service: Deno.Conn): Promise<void> {
    const end = () => this.#isOver = true;
    const noteBytes = () => this.#isSilent = false;
    await Promise.all([
      copyBytes(client, service, noteBytes).finally(end)
        .catch(() => dropBytes(client)),
      copyBytes(service, client).finally(end)
        .catch(() => client.closeWrite()),
    ]);
  }

  #failureOf(error: unknown): Failure {
    const { url, redactor } = this.#route;
    return error instanceof RequestError
      ? error.failure
      : failureIn(CONNECTING, error, url, redactor);
  }
}

/** Reads the first record of TLS, the ClientHello: type, version and length first. */
async function readHello(client: Deno.Conn): Promise<Uint8Array> {
  const head = await readBytes(client, 5);
  const [, , , high = 0, low = 0] = head;
  const body = await readBytes(client, high * 256 + low);
  return Uint8Array.of(...head, ...body);
}
