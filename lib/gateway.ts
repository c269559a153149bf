/**
 * The remote agent service: the three operations of interface 4.1. The last two
 * make up a turn.
 *
 * @module
 */

import type {
  CallOptions,
  ServiceClient,
  ServiceClientOptions,
} from "./gateway/http/service_client.ts";
import {
  runRequest,
  streamRequest,
  THREAD_REQUEST,
} from "./gateway/http/requests.ts";
import { ServiceError } from "./gateway/failure/service_error.ts";
import { turnOfEventLoop } from "./io.ts";
import type { CreationEvent, TurnEvent } from "./gateway/turn_event.ts";

export type { CallOptions } from "./gateway/http/service_client.ts";
export type { Fate } from "./gateway/failure/fate.ts";
export { type Failure, wordsOf } from "./gateway/failure/service_error.ts";
export { ServiceError };
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

/** The operations that front ends use. */
export interface Gateway {
  /**
   * Creates a thread.
   *
   * @yields `wait` any number of times, then `thread`.
   * @throws {ServiceError} If it cannot be created.
   * @throws The signal's reason, if it is aborted.
   */
  createThread(options?: CallOptions): AsyncGenerator<CreationEvent>;
  /**
   * Triggers a run on a thread and follows it. At most 64 KiB of the stream are
   * read ahead of the caller.
   *
   * @yields Everything that happens, in order: `run`, `progress`, `reply`, and
   * `wait` before each pause.
   * @throws {ServiceError} If the run cannot be started or followed, or if it
   * takes longer than the time limit.
   * @throws The signal's reason, if it is aborted.
   */
  runTurn(
    threadId: string,
    prompt: string,
    options?: TurnOptions,
  ): AsyncGenerator<TurnEvent>;
}

/** The id of the thread that a call of `createThread()` creates. */
export async function threadIdFrom(
  creation: AsyncIterable<CreationEvent>,
): Promise<string> {
  for await (const event of creation) {
    if (event.type === "thread") return event.threadId;
  }
  throw new Error("no thread came");
}

/**
 * The service at a base URL. Disposing of it waits until the last streams are closed,
 * at most 100 ms after their replies. The HTTP code is loaded at the first call.
 */
export class RemoteGateway implements Gateway, AsyncDisposable {
  readonly #options: ServiceClientOptions;
  /** Resolved when the connections of all calls that have ended are closed. */
  #closed: Promise<void> = Promise.resolve();

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  async *createThread(
    options: CallOptions = {},
  ): AsyncGenerator<CreationEvent> {
    const client = await this.#connect(options);
    try {
      // Loaded while the service creates the thread. If it fails, the first prompt does.
      import("./gateway/stream/run_stream.ts").catch(() => {});
      const threadId = yield* client.post(THREAD_REQUEST);
      yield { type: "thread", threadId };
    } catch (error) {
      throw client.explain(error, {});
    } finally {
      this.#close(client);
    }
  }

  async *runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<TurnEvent> {
    const client = await this.#connect(options);
    let runId: string | undefined;
    try {
      // Before the prompt is sent: an update may have replaced the file.
      const { followRun } = await import("./gateway/stream/run_stream.ts");
      runId = yield* client.post(runRequest(threadId, prompt, options));
      yield { type: "run", runId };
      // The connection of the answer is back in the pool after a turn of the event loop;
      // sooner, a second one would be made, and stay empty for the whole run.
      await turnOfEventLoop();
      const request = streamRequest({ threadId, runId }, options);
      yield* followRun(client, request);
    } catch (error) {
      throw client.explain(error, { threadId, runId });
    } finally {
      this.#close(client);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closed;
  }

  async #connect(options: CallOptions): Promise<ServiceClient> {
    const { ServiceClient } = await import("./gateway/http/service_client.ts");
    return new ServiceClient(this.#options, options);
  }

  #close(client: ServiceClient): void {
    const earlier = this.#closed;
    this.#closed = client.close().then(() => earlier);
  }
}
