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
  type RunIds,
  runRequest,
  streamRequest,
  THREAD_REQUEST,
} from "./gateway/http/requests.ts";
import type { FollowOptions } from "./gateway/stream/run_stream.ts";
import type { CreationEvent, TurnEvent } from "./gateway/turn_event.ts";

export { systemCertificates } from "./gateway/http/certificates.ts";
export type { CallOptions, Exchange } from "./gateway/http/service_client.ts";
export type { Fate } from "./gateway/failure/fate.ts";
export {
  explain,
  type Failure,
  ServiceError,
} from "./gateway/failure/service_error.ts";
export { AGENT_NAME, type RunIds } from "./gateway/http/requests.ts";
export type { Reply } from "./gateway/stream/reply_text.ts";
export type {
  ParsedData,
  StreamObserver,
} from "./gateway/stream/run_events.ts";
export { traceHeaders } from "./gateway/trace_context.ts";
export type {
  CreationEvent,
  ProgressEvent,
  StreamEvent,
  TurnEvent,
  WaitEvent,
} from "./gateway/turn_event.ts";

export interface TurnOptions extends CallOptions, FollowOptions {
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
  createThread(options?: CallOptions): AsyncGenerator<readonly CreationEvent[]>;
  /**
   * Triggers a run on a thread and follows it. At most 64 KiB of the stream are
   * read ahead of the caller.
   *
   * @yields Everything that happens, in order: `run`, `progress`, `reply`, and
   * `wait` before each pause. One non-empty batch per network chunk, because an
   * asynchronous step for each event would cost more than the event.
   * @throws {ServiceError} If the run cannot be started or followed, or if it
   * takes longer than the time limit.
   * @throws The signal's reason, if it is aborted.
   */
  runTurn(
    threadId: string,
    prompt: string,
    options?: TurnOptions,
  ): AsyncGenerator<readonly TurnEvent[]>;
}

/**
 * The service at a base URL. Disposing of it waits until the last streams are
 * closed, at most 100 ms after their replies.
 *
 * The HTTP code is loaded at the first call, so that an editor does not wait for
 * it at the start.
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
  ): AsyncGenerator<readonly CreationEvent[]> {
    const client = await this.#connect(options);
    try {
      const threadId = yield* client.post(THREAD_REQUEST);
      yield [{ type: "thread", threadId }];
    } catch (error) {
      throw client.explain(error, {});
    } finally {
      this.#close(client);
    }
  }

  runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly TurnEvent[]> {
    return this.#turn({ threadId, runId: undefined, prompt }, options);
  }

  /**
   * Follows a run that was started before.
   *
   * @yields What {@linkcode runTurn} yields, without `run`.
   * @throws {ServiceError} If it cannot be followed.
   */
  followRun(
    run: RunIds,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly TurnEvent[]> {
    return this.#turn({ ...run, prompt: "" }, options);
  }

  /** Triggers the run of a turn, unless there is one, and follows it. */
  async *#turn(
    { threadId, runId, prompt }: {
      readonly threadId: string;
      readonly runId: string | undefined;
      readonly prompt: string;
    },
    options: TurnOptions,
  ): AsyncGenerator<readonly TurnEvent[]> {
    const client = await this.#connect(options);
    try {
      // Loaded while the service starts the run.
      const loading = import("./gateway/stream/run_stream.ts");
      if (runId === undefined) {
        const request = runRequest(threadId, prompt, options);
        runId = yield* client.post(request);
        yield [{ type: "run", runId }];
      }
      const { followRun } = await loading;
      const run = { threadId, runId };
      const request = streamRequest(run, options);
      const { apiKey } = this.#options;
      yield* followRun(client, { ...run, request, apiKey }, options);
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
