/**
 * The network, as far as a `fetch` can tell: one request on its way, its answer, and how
 * the two break.
 *
 * @module
 */

import {
  AMBIGUOUS,
  BROKEN_BODY,
  NOT_HEARD,
  NOT_TAKEN,
  type Operation,
  RESET,
  type StreamEnd,
  UNREACHABLE,
} from "./plans.ts";
import type { HttpClient } from "./relayed.ts";
import type { Run } from "./service.ts";
import { KnownBlob, type World } from "./world.ts";

/** What the program gives to `fetch`. */
export type Request = RequestInit & { readonly client: HttpClient };

/** How a request ends; `dropped`: by the program. */
export type Ending = "whole" | "broken" | "dropped";

/** The service's end of what carries an answer through the program's relay. */
export interface Carrier {
  /** Lets `fetch` do something, not before a time. */
  send(arrival: number, act: () => void): void;
  /** The answer is whole. */
  finish(): void;
  reset(): void;
}

/** One request: what became of it, and what the service and the network can do with it. */
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
  /** Whether the service has answered the ClientHello of its connection. */
  wasHeard = false;
  /** Whether it asked for another connection while its client had one that lived. */
  wasNeedless = false;
  /** The run that it created, or follows. */
  run: Run | undefined;
  status: number | undefined;
  /** Seconds. */
  retryAfter: number | undefined;
  /** Why `fetch` failed. */
  failure: string | undefined;
  openedAt: number | undefined;
  /** When the last byte came, or waited, at the program's socket. */
  lastByteAt: number | undefined;
  /** How many events came for the user that no connection had brought before. */
  news = 0;
  /** When the last of them came. */
  newestAt: number | undefined;
  /** Whether a field `retry:` came on it. */
  hasRetry = false;
  /** Whether a whole line `data:` was sent on it. */
  hasData = false;
  /** When the end of the reply came on it. */
  completeAt: number | undefined;
  ending: Ending | undefined;
  endedAt = Infinity;
  /** How many events it has sent, and the most that it will send. */
  sent = 0;
  limit = Infinity;
  /** What happens after that. */
  how: StreamEnd = "closed";
  isVanished = false;
  carrier: Carrier | undefined;
  onEnded: (how: Ending) => void = () => {};
  readonly #world: World;
  readonly #heldUntil: () => number;
  readonly #answered = Promise.withResolvers<Response>();
  #body: ReadableByteStreamController | undefined;
  #arrival = 0;

  constructor(
    world: World,
    url: string,
    { headers, body, signal, client }: Request,
    heldUntil: () => number,
  ) {
    this.#world = world;
    this.#heldUntil = heldUntil;
    this.operation = url.endsWith("/threads")
      ? "create thread"
      : url.endsWith("/runs")
      ? "create run"
      : "stream run";
    this.askedAt = world.now;
    this.url = url;
    this.headers = new Headers(headers);
    const isKnown = body instanceof KnownBlob;
    this.prompt = isKnown ? JSON.parse(body.known).prompt : undefined;
    this.isRelayed = client.proxy !== undefined;
    this.response = this.#answered.promise;
    const drop = () => {
      if (!this.#end("dropped")) return;
      this.#answered.reject(signal?.reason);
      this.#body?.error(signal?.reason);
    };
    signal?.addEventListener("abort", drop);
    if (signal?.aborted) drop();
  }

  /** When something came last on it, or it was asked for. */
  get lastSign(): number {
    return this.lastByteAt ?? this.openedAt ?? this.askedAt;
  }

  get isOver(): boolean {
    return this.ending !== undefined;
  }

  /** Lets headers arrive, and the body if it is known. */
  answer(
    ms: number,
    status: number,
    { headers = {}, body }: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | undefined;
    } = {},
  ): void {
    this.#arrive(ms, () => {
      this.status = status;
      this.openedAt = this.#world.now;
      const hasBody = status !== 204;
      const stream = new ReadableStream({
        type: "bytes",
        start: (controller) => void (this.#body = controller),
        cancel: () => void this.#end("dropped"),
      });
      const init = { status, headers };
      this.#answered.resolve(new Response(hasBody ? stream : null, init));
      if (!hasBody) this.#end("whole");
    });
    if (body === undefined || status === 204) return;
    this.send(body);
    this.close();
  }

  /** Lets `fetch` fail. */
  fail(ms: number, kind: "Connect" | "SendRequest", text: string): void {
    this.#arrive(ms, () => this.failNow(kind, text));
  }

  failNow(kind: "Connect" | "SendRequest", text: string): void {
    this.failure = text;
    this.#end("broken");
    this.#answered.reject(this.#rejection(kind, text));
  }

  /** An error of `fetch`, in the words of Deno 2.9.6. */
  #rejection(kind: "Connect" | "SendRequest", text: string): TypeError {
    const { url } = this;
    const about = kind === "Connect"
      ? `error sending request for url (${url})`
      : `error sending request from 127.0.0.1:1 for ${url} (127.0.0.1:8000)`;
    const cause = new Error(`${about}: client error (${kind}): ${text}`);
    return new TypeError("fetch failed", { cause });
  }

  /** Sends text in chunks that are cut anywhere. */
  send(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const cut = this.#world.below(3) === 0
      ? this.#world.below(bytes.length)
      : 0;
    if (cut > 0) this.#sendBytes(bytes.slice(0, cut));
    return this.#sendBytes(bytes.slice(cut));
  }

  /** Ends the answer as a whole. */
  close(): void {
    this.#arrive(0, () => {
      if (!this.#end("whole")) return;
      this.#body?.close();
      this.#body?.byobRequest?.respond(0); // ends a read that waits
    });
    this.carrier?.finish();
  }

  /**
   * Breaks the connection, before or after the headers, a moment after the program has
   * got what came before: a reset would throw that away.
   */
  reset(): void {
    if (this.carrier !== undefined) this.carrier.reset();
    else {
      this.#arrive(0, () => this.#world.after(5, "socket", () => this.lose()));
    }
    this.isVanished = true; // Nothing follows.
  }

  /** Breaks it at once. */
  lose(): void {
    if (this.isOver) return;
    const hasHeaders = this.openedAt !== undefined;
    this.failure = hasHeaders ? BROKEN_BODY : RESET;
    this.#end("broken");
    if (hasHeaders) this.#body?.error(new TypeError(BROKEN_BODY));
    else this.#answered.reject(this.#rejection("SendRequest", RESET));
  }

  /** Ends the stream as the plan says. */
  finish(): void {
    if (this.how === "closed") this.close();
    else if (this.how === "vanished") this.isVanished = true;
    else this.reset();
  }

  #sendBytes(bytes: Uint8Array): number {
    const arrival = this.#arrive(0, () => {
      this.lastByteAt = arrival;
      if (bytes.length > 0) this.#body?.enqueue(new Uint8Array(bytes));
    });
    return arrival;
  }

  /**
   * Lets something reach the program, in order; returns when it is at its socket. What is
   * under way arrives, whatever happens meanwhile: a service waits before it answers.
   */
  #arrive(ms: number, act: () => void): number {
    const { now } = this.#world;
    this.#arrival = Math.max(
      this.#arrival + this.#world.below(2),
      now + ms + 1 + this.#world.below(3),
      this.#heldUntil(),
    );
    if (this.isVanished) return this.#arrival;
    const arrive = () => {
      if (!this.isOver) act();
    };
    if (this.carrier !== undefined) this.carrier.send(this.#arrival, arrive);
    else this.#world.after(this.#arrival - now, "socket", arrive);
    return this.#arrival;
  }

  #end(how: Ending): boolean {
    if (this.isOver) return false;
    this.ending = how;
    this.endedAt = this.#world.now;
    this.onEnded(how);
    const { operation, status } = this;
    const isUsual = operation !== "stream run" && how === "whole" &&
      status === 200;
    const reason = how === "broken" ? ` (${this.failure})` : "";
    if (!isUsual) {
      this.#world.tell(`  ${operation}: ${status ?? ""} ${how}${reason}`);
    }
    return true;
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

/** Whether a request was certainly not taken, by why `fetch` failed. */
export function isNotTaken({ failure = "" }: Exchange): boolean {
  return NOT_TAKEN.includes(failure);
}
