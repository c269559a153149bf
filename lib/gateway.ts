/**
 * The remote agent service: the three operations of interface 4.1. The last two
 * make up a turn.
 *
 * Read it in this order:
 *
 * - `failure/failure.ts`: why something failed, from the socket to the caller;
 *   `call_state.ts` and `fate.ts` know what has become of the prompt, and
 *   `retry_policy.ts` decides what is repeated.
 * - `http/call.ts`: one prompt or thread on its way, request by request; `answer.ts` and
 *   `status_error.ts` read the answers.
 * - `stream/run_stream.ts`: follows a run over all of its connections; `run_events.ts`
 *   reads one of them, and `stream_cursor.ts` tells new events from old ones.
 * - `connection.ts`: how a request reaches the service.
 *
 * @module
 */

import type { Route } from "./gateway/connection.ts";
import { type CallEvents, callEvents } from "./gateway/call_events.ts";
import { CallState } from "./gateway/failure/call_state.ts";
import type { Call, CallOptions, GatewayOptions } from "./gateway/http/call.ts";
import {
  runRequest,
  streamRequest,
  THREAD_REQUEST,
} from "./gateway/http/requests.ts";
import type { CreationEvent, TurnEvent } from "./gateway/turn_event.ts";
import { turnOfEventLoop } from "./io.ts";
import type { Proxy } from "./settings.ts";
import { Redactor, type ServiceId, type Unchanged } from "./text.ts";

export { ServiceError } from "./gateway/failure/failure.ts";
export type { CallEvents, CallOptions };
export type { CallIds } from "./gateway/failure/call_state.ts";
export type { Fate } from "./gateway/failure/fate.ts";
export { pauseLabel, pauseSentence } from "./gateway/failure/retry_policy.ts";
export { AGENT_NAME } from "./gateway/http/requests.ts";
export { traceHeaders } from "./gateway/http/trace_context.ts";
export type {
  CreationEvent,
  ProgressEvent,
  ReplyEvent,
  StreamEvent,
  TurnEvent,
  WaitEvent,
} from "./gateway/turn_event.ts";

export interface TurnOptions extends CallOptions {
  /** Additional headers for the run's two requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface RemoteGatewayOptions extends GatewayOptions {
  readonly proxy?: Proxy | undefined;
  /** Whether connections may be opened ahead. The default is `true`. */
  readonly connectsAhead?: boolean | undefined;
}

/** The operations that front ends use. */
export type Gateway = Pick<
  RemoteGateway,
  "redactor" | "prepare" | "createThread" | "runTurn"
>;

/** The id of the thread that a call of `createThread()` creates. */
export async function threadIdFrom(
  creation: AsyncIterable<CreationEvent>,
): Promise<ServiceId> {
  for await (const event of creation) {
    if (event.type === "thread") return event.threadId;
  }
  throw new Error("no thread came");
}

/**
 * The service at a base URL. Disposing of it ends all calls, and waits until the last
 * streams are closed, at most 100 ms after their replies. The HTTP code is loaded at the
 * first call.
 */
export class RemoteGateway implements AsyncDisposable {
  /** Makes texts safe to show: it knows the key. */
  readonly redactor: Redactor;
  readonly #options: RemoteGatewayOptions;
  #route: Route | undefined;
  /** The calls whose connections are not closed. */
  readonly #open = new Set<Call>();
  #seeded: Promise<void> | undefined;

  constructor(options: RemoteGatewayOptions) {
    this.redactor = new Redactor(options.apiKey);
    this.#options = options;
    if (options.baseUrl.startsWith("https:")) this.#seeded = seedTls();
  }

  /**
   * Opens a connection ahead of a turn that is likely soon, unless there is one: it
   * saves the turn a round trip. One that is not used is closed after 45 s.
   */
  prepare(): void {
    // If a module cannot be loaded, the turn says so.
    this.#findRoute().then((route) => route.prepare(), () => {});
  }

  /**
   * Creates a thread.
   *
   * @yields `wait` any number of times, then `thread`.
   * @throws {ServiceError} If it cannot be created.
   * @throws The signal's reason, if it is aborted.
   */
  createThread(options: CallOptions = {}): CallEvents<CreationEvent> {
    const state = new CallState("create thread");
    return callEvents(state, this.#createThread(state, options));
  }

  /**
   * Triggers a run on a thread and follows it. The stream is read as the caller takes
   * its events: a slow caller slows the service down.
   *
   * @yields Everything that happens, in order: `run`, `progress`, `reply`, and
   * `wait` before each pause.
   * @throws {ServiceError} If the run cannot be started or followed, or if it
   * takes longer than the time limit.
   * @throws The signal's reason, if it is aborted.
   */
  runTurn(
    threadId: ServiceId,
    prompt: Unchanged,
    options: TurnOptions = {},
  ): CallEvents<TurnEvent> {
    const state = new CallState("create run", { threadId });
    const events = this.#runTurn(state, threadId, prompt, options);
    return callEvents(state, events);
  }

  async *#createThread(
    state: CallState,
    options: CallOptions,
  ): AsyncGenerator<readonly CreationEvent[]> {
    const call = await this.#call(state, options);
    try {
      // Loaded while the service creates the thread. If it fails, the first prompt does.
      import("./gateway/stream/run_stream.ts").catch(() => {});
      const threadId = yield* call.post(THREAD_REQUEST);
      state.complete();
      yield [{ type: "thread", threadId }];
    } finally {
      this.#close(call);
    }
  }

  async *#runTurn(
    state: CallState,
    threadId: ServiceId,
    prompt: Unchanged,
    options: TurnOptions,
  ): AsyncGenerator<readonly TurnEvent[]> {
    const call = await this.#call(state, options);
    try {
      // Before the prompt is sent: an update may have replaced the file.
      const { followRun } = await import("./gateway/stream/run_stream.ts");
      const runId = yield* call.post(runRequest(threadId, prompt, options));
      state.startRun(runId);
      yield [{ type: "run", runId }];
      // The connection of the answer is back in the pool after a turn of the event loop;
      // sooner, a second one would be made, and stay empty for the whole run.
      await turnOfEventLoop();
      const request = streamRequest(threadId, runId, options);
      yield* followRun(call, request);
    } finally {
      this.#close(call);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#route?.[Symbol.dispose]();
    // A caller that waits for its own reader has not left its call.
    await Promise.all(this.#open.values().map((call) => this.#close(call)));
    await this.#seeded;
  }

  async #call(state: CallState, options: CallOptions): Promise<Call> {
    const { Call } = await import("./gateway/http/call.ts");
    const route = await this.#findRoute();
    const call = new Call(state, { ...this.#options, route }, options);
    this.#open.add(call);
    return call;
  }

  async #findRoute(): Promise<Route> {
    const { baseUrl, proxy, connectsAhead } = this.#options;
    const { Route } = await import("./gateway/connection.ts");
    this.#route ??= new Route(proxy, new URL(baseUrl), {
      redactor: this.redactor,
      connectsAhead,
    });
    return this.#route;
  }

  async #close(call: Call): Promise<void> {
    await call.close();
    this.#open.delete(call);
  }
}

/**
 * Has Deno's TLS library gather entropy now, on another thread. It does so once in a
 * process, for 37 ms, and the first message to the service would wait for it. Making a
 * key needs the same entropy; this one is not used.
 */
async function seedTls(): Promise<void> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  try {
    await crypto.subtle.generateKey(algorithm, false, ["sign"]);
  } catch {
    // The first connection says why.
  }
}
