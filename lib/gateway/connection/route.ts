import { startTimeout, within } from "../../io.ts";
import { mayReadProxyVariables, type Proxy } from "../../settings.ts";
import { connectDirectly } from "./direct_connection.ts";
import { connectThrough } from "./proxy_connection.ts";
import {
  type AnsweredConnection,
  UnusedConnection,
} from "./unused_connection.ts";
import type { Redactor } from "../../text.ts";

/** How long a connection stays open ahead of a turn, in milliseconds. */
export const AHEAD_LIMIT = 45_000;

/** How long one that was opened ahead may leave a message unanswered, in milliseconds. */
const AHEAD_SILENCE = 1_000;

/**
 * The way to the service, directly or through the user's proxy, and at most one
 * connection that is opened ahead: a turn that takes it saves a round trip. It carries
 * nothing, so losing it loses nothing.
 */
export class Route implements Disposable {
  readonly proxy: Proxy | undefined;
  readonly url: URL;
  readonly redactor: Redactor;
  readonly #connectsAhead: boolean;
  #isSkipped: boolean;
  #ahead: UnusedConnection | undefined;
  /** Whether the service was reached when it was last tried. */
  #isReachable = true;

  /**
   * @param url The service's URL. `fetch` connects to one with `http:` by itself.
   * @param options.connectsAhead Whether connections may be opened ahead.
   */
  constructor(
    proxy: Proxy | undefined,
    url: URL,
    { redactor, connectsAhead = true }: {
      readonly redactor: Redactor;
      readonly connectsAhead?: boolean | undefined;
    },
  ) {
    this.proxy = proxy;
    this.url = url;
    this.redactor = redactor;
    this.#connectsAhead = connectsAhead;
    this.#isSkipped = url.protocol === "http:";
  }

  /** Whether `fetch` may connect by itself: no proxy is set, and it would find none. */
  get mayBeSkipped(): boolean {
    return this.proxy === undefined && mayReadProxyVariables();
  }

  /** Whether `fetch` connects by itself. */
  get isSkipped(): boolean {
    return this.#isSkipped;
  }

  /** From now on, `fetch` connects by itself: the program cannot connect to itself. */
  skip(): void {
    this.#isSkipped = true;
  }

  /** Opens a connection for a turn that is likely soon, unless there is one. */
  prepare(): void {
    if (!this.#connectsAhead || this.#isSkipped) return;
    if (this.#ahead !== undefined || !this.#isReachable) return;
    const ahead = this.#connect();
    this.#ahead = ahead;
    const stop = startTimeout(AHEAD_LIMIT, () => this.#drop(ahead), {
      isLimit: false,
    });
    const drop = () => {
      stop();
      this.#drop(ahead);
    };
    // It has ended, or does not wait for a ClientHello.
    ahead.firstBytes.then(drop, drop);
    ahead.opened.catch(() => {
      if (this.#ahead === ahead) this.dropAhead();
    });
  }

  /** Drops the connection ahead. None is opened until the service was reached. */
  dropAhead(): void {
    this.#isReachable = false;
    if (this.#ahead !== undefined) this.#drop(this.#ahead);
  }

  [Symbol.dispose](): void {
    this.dropAhead();
  }

  /**
   * Sends a message on a connection on which nothing was sent, and waits for the first
   * bytes of an answer. If the connection ahead fails, or does not answer in a second,
   * the message is also sent on a new one, and the first answer is used. If the new one
   * fails, the one ahead has another second. The service may get the message twice, so it
   * must not start anything: the ClientHello of TLS does not.
   *
   * @param signal Aborting it closes the connections, also after the answer.
   */
  async ask(
    message: Uint8Array,
    signal: AbortSignal,
  ): Promise<AnsweredConnection> {
    const ahead = this.#takeAhead();
    const answered = ahead === undefined
      ? await this.#connect().ask(message, signal)
      : await this.#askTwice(ahead, message, signal);
    this.#isReachable = true;
    return answered;
  }

  async #askTwice(
    ahead: UnusedConnection,
    message: Uint8Array,
    signal: AbortSignal,
  ): Promise<AnsweredConnection> {
    const early = ahead.ask(message, signal);
    const hasAnswer = early.then(() => true, () => false);
    const answersSoon = () => within(AHEAD_SILENCE, hasAnswer, () => false);
    if (await answersSoon()) return await early;

    signal.throwIfAborted();
    const fresh = this.#connect();
    const late = fresh.ask(message, signal).catch(async (error) => {
      // Why the new one failed says more than silence.
      if (!await answersSoon()) throw error;
      return await early;
    });
    const first = await Promise.race([early.catch(() => late), late]);
    const loser = first.source === ahead ? fresh : ahead;
    loser.close();
    return first;
  }

  #connect(): UnusedConnection {
    const { proxy, url, redactor } = this;
    return new UnusedConnection((signal) =>
      proxy === undefined
        ? connectDirectly(url, signal)
        : connectThrough(proxy, url, { signal, redactor })
    );
  }

  /** Takes the connection ahead, unless it is too old: after a sleep, timers are late. */
  #takeAhead(): UnusedConnection | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead === undefined) return undefined;
    if (performance.now() - ahead.openedAt < AHEAD_LIMIT) return ahead;
    ahead.close();
    return undefined;
  }

  #drop(ahead: UnusedConnection): void {
    if (this.#ahead !== ahead) return; // A turn has taken it.
    this.#ahead = undefined;
    ahead.close();
  }
}
