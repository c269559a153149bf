/**
 * One request on its way and its answer, as far as a `fetch` can tell, and how the two
 * break.
 *
 * @module
 */

import {
  AMBIGUOUS,
  BROKEN_BODY,
  NOT_HEARD,
  type Operation,
  type StreamEnd,
  UNREACHABLE,
} from "./plans.ts";
import type { HttpClient, Network } from "./network.ts";
import type { Socket } from "./sockets.ts";
import { KnownBlob, type World } from "./world.ts";

/** What the program gives to `fetch`. */
export type Request = RequestInit & { readonly client: HttpClient };

/** How a request ends; `dropped`: by the program. */
type Ending = "whole" | "broken" | "dropped";

/** One request: what became of it, and what the service can do with it. */
export class Exchange {
  readonly operation: Operation;
  readonly askedAt: number;
  readonly url: string;
  readonly headers: Headers;
  readonly prompt: string | undefined;
  readonly response: Promise<Response>;
  /** Whether it goes through the program's relay. */
  readonly isRelayed: boolean;
  /** Whether the relay has let it in. */
  hasPort = false;
  /** Whether the service has answered the first bytes of its connection. */
  wasHeard = false;
  /** Whether it asked for another connection while its client had one that lived. */
  wasNeedless = false;
  status: number | undefined;
  /** How long the answer asks to wait, in seconds. */
  retryAfter = 0;
  /** Why `fetch` failed. */
  failure: string | undefined;
  openedAt: number | undefined;
  /** When something came last on it, or it was asked for. */
  lastSign: number;
  /** How many events came for the user that no connection had brought before. */
  news = 0;
  /** When the last of them came. */
  newestAt: number | undefined;
  /** Whether a field `retry:` came on it. */
  hasRetry = false;
  /** Whether a whole line `data:` was sent on it. */
  hasData = false;
  ending: Ending | undefined;
  endedAt = Infinity;
  /** How many events it has sent, and the most that it will send. */
  sent = 0;
  limit = Infinity;
  /** What happens after that. */
  how: StreamEnd = "closed";
  /** The service's end of the connection, when the request has come. */
  far: Socket | undefined;
  onEnded: (how: Ending) => void = () => {};
  readonly #world: World;
  readonly #network: Network;
  readonly #answered = Promise.withResolvers<Response>();
  #body: ReadableByteStreamController | undefined;

  constructor(
    world: World,
    network: Network,
    url: string,
    { headers, body, signal, client }: Request,
  ) {
    this.#world = world;
    this.#network = network;
    this.operation = url.endsWith("/threads")
      ? "create thread"
      : url.endsWith("/runs")
      ? "create run"
      : "stream run";
    this.askedAt = world.now;
    this.lastSign = world.now;
    this.url = url;
    this.headers = new Headers(headers);
    const isKnown = body instanceof KnownBlob;
    this.prompt = isKnown ? JSON.parse(body.known).prompt : undefined;
    this.isRelayed = client.proxy !== undefined;
    this.response = this.#answered.promise;
    const drop = () => {
      if (this.isOver) return;
      this.#end("dropped");
      this.#answered.reject(signal?.reason);
      this.#body?.error(signal?.reason);
    };
    signal?.addEventListener("abort", drop);
    if (signal?.aborted) drop();
  }

  get isOver(): boolean {
    return this.ending !== undefined;
  }

  /** Sends the headers of an answer and, if a body is given, that and the end. */
  answer(
    status: number,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    this.arrive(() => {
      this.status = status;
      this.retryAfter = Number(headers["retry-after"] ?? 0);
      this.openedAt = this.#world.now;
      this.lastSign = this.openedAt;
      const stream = new ReadableStream({
        type: "bytes",
        start: (controller) => void (this.#body = controller),
        cancel: () => this.#end("dropped"),
      });
      this.#answered.resolve(new Response(stream, { status, headers }));
    });
    if (body === undefined) return;
    this.send(body);
    this.close();
  }

  /** Lets `fetch` or its body fail, in the words of Deno 2.9.6. */
  fail(text: string, kind: "Connect" | "SendRequest" = "SendRequest"): void {
    if (this.isOver) return;
    this.failure = this.#body === undefined ? text : BROKEN_BODY;
    this.#end("broken");
    this.#body?.error(new TypeError(BROKEN_BODY));
    const about = kind === "Connect"
      ? `error sending request for url (${this.url})`
      : `error sending request from 127.0.0.1:1 for ${this.url} (127.0.0.1:8000)`;
    const cause = new Error(`${about}: client error (${kind}): ${text}`);
    this.#answered.reject(new TypeError("fetch failed", { cause }));
  }

  /** Sends text in chunks that are cut anywhere. Returns when the last one arrives. */
  send(text: string): number | undefined {
    const bytes = new TextEncoder().encode(text);
    const cut = this.#world.below(bytes.length);
    if (cut > 0) this.#sendBytes(bytes.slice(0, cut));
    return this.#sendBytes(bytes.slice(cut));
  }

  /** Ends the answer as a whole. */
  close(): void {
    this.arrive(() => {
      this.#end("whole");
      this.#body?.close();
      this.#body?.byobRequest?.respond(0); // ends a read that waits
    });
    if (!this.#network.plan.keepsAlive) this.far?.drop();
  }

  /** Ends the stream as the plan says. */
  finish(): void {
    if (this.how === "closed") this.close();
    else if (this.how === "vanished") this.far?.vanish();
    else this.far?.reset(5);
  }

  #sendBytes(bytes: Uint8Array<ArrayBuffer>): number | undefined {
    return this.arrive(() => {
      this.lastSign = this.#world.now;
      if (bytes.length > 0) this.#body?.enqueue(bytes);
    });
  }

  /**
   * Lets something reach the program, in order, unless the request is over by then.
   * Returns when it is at the program's socket; `undefined` if it never is.
   */
  arrive(act: () => void): number | undefined {
    const record = this.#network.record(() => {
      if (!this.isOver) act();
    });
    return this.far?.send(record);
  }

  #end(how: Ending): void {
    if (this.isOver) return;
    this.ending = how;
    this.endedAt = this.#world.now;
    this.onEnded(how);
    const { operation, status = "", failure = "" } = this;
    this.#world.tell(`  ${operation}: ${status} ${how} ${failure}`);
  }
}

/** Whether `fetch` failed before a connection was made. */
export function isUnreachable({ failure = "" }: Exchange): boolean {
  return [...UNREACHABLE, NOT_HEARD, AMBIGUOUS].includes(failure);
}

/** Whether nothing of a request can have been sent, and the program has to know it. */
export function isUnsent(exchange: Exchange): boolean {
  return isUnreachable(exchange) || exchange.isRelayed && !exchange.wasHeard;
}
