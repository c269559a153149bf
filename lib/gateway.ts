/**
 * The remote agent service: the three operations of interface 4.1. The last two
 * make up a turn.
 *
 * @module
 */

import type { CallOptions } from "./gateway/call_options.ts";
import type { RunEvent } from "./gateway/run_events.ts";
import type {
  ServiceClient,
  ServiceClientOptions,
} from "./gateway/service_client.ts";
import { ServiceError, UNKNOWN_OUTCOME } from "./gateway/service_error.ts";

export type { CallOptions, Wait } from "./gateway/call_options.ts";
export type { ProgressEvent, RunEvent } from "./gateway/run_events.ts";
export type { Exchange } from "./gateway/service_client.ts";
export { ServiceError } from "./gateway/service_error.ts";

/** The single agent of the service (interface 1.4). */
export const AGENT_NAME = "the-brain";

/** Options of {@linkcode Gateway.runTurn}. */
export interface TurnOptions extends CallOptions {
  /** Additional headers for the run's two requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called once with the run's id, after the run was started and before its first event. */
  readonly onRunStarted?: ((runId: string) => void) | undefined;
}

/** The operations that front ends use. */
export interface Gateway {
  /**
   * Creates a thread.
   *
   * @returns Its id.
   * @throws {ServiceError} If it cannot be created.
   */
  createThread(options?: CallOptions): Promise<string>;
  /**
   * Triggers a run on a thread and follows it: `progress` any number of times,
   * then `complete` once. At most 64 KiB of the stream are read ahead of the
   * caller.
   *
   * @returns The events, one non-empty batch per network chunk.
   * @throws {ServiceError} If the run cannot be started or followed.
   * @throws The signal's reason, if it is aborted.
   */
  runTurn(
    threadId: string,
    prompt: string,
    options?: TurnOptions,
  ): AsyncGenerator<readonly RunEvent[]>;
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
  readonly #draining = new Set<Promise<void>>();
  #serviceClient:
    | Promise<typeof import("./gateway/service_client.ts")>
    | undefined;
  #runStream: Promise<typeof import("./gateway/run_stream.ts")> | undefined;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  async createThread(options: CallOptions = {}): Promise<string> {
    const operation = "create thread";
    const client = await this.#connect(options);
    try {
      const answer = await client.post({ operation, path: "/threads" });
      return idIn(answer, "thread_id", operation);
    } finally {
      client.close();
    }
  }

  async *runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly RunEvent[]> {
    // The thread's id is valid: callers check it, or get it from createThread().
    const runs = `/threads/${encodeURIComponent(threadId)}/runs`;
    const operation = "create run";
    const client = await this.#connect(options);
    let end: Promise<void> | undefined;
    try {
      const answer = await client.post({
        operation,
        path: runs,
        headers: { ...options.headers, "content-type": "application/json" },
        body: JSON.stringify({ agentName: AGENT_NAME, prompt, wait: false }),
      });
      const runId = idIn(answer, "run_id", operation);
      options.onRunStarted?.(runId);
      const request = {
        operation: "stream run",
        path: `${runs}/${encodeURIComponent(runId)}/stream`,
        headers: {
          ...options.headers,
          "accept": "text/event-stream",
          "accept-encoding": "identity", // compressing proxies delay events
        },
        runId,
      } as const;
      this.#runStream ??= import("./gateway/run_stream.ts");
      const { followRun } = await this.#runStream;
      const run = { threadId, runId, request };
      yield* followRun(client, run, (draining) => end = draining);
    } finally {
      if (end === undefined) client.close();
      else this.#closeAfter(end, client);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#draining);
  }

  async #connect(options: CallOptions): Promise<ServiceClient> {
    this.#serviceClient ??= import("./gateway/service_client.ts");
    const { ServiceClient } = await this.#serviceClient;
    return new ServiceClient(this.#options, options);
  }

  #closeAfter(end: Promise<void>, client: ServiceClient): void {
    const closed = end.finally(() => {
      client.close();
      this.#draining.delete(closed);
    });
    this.#draining.add(closed);
  }
}

/**
 * Whether a text can be the id of a thread or a run: 1 to 1,024 bytes of UTF-8.
 * `.` and `..` cannot, because no encoding protects them in a path.
 */
export function isServiceId(id: string): boolean {
  return id.length <= 1024 && id.isWellFormed() && !/^\.{0,2}$/.test(id) &&
    new TextEncoder().encode(id).length <= 1024;
}

/** The id in an answer. */
function idIn(
  answer: Readonly<Record<string, unknown>>,
  field: "thread_id" | "run_id",
  operation: "create thread" | "create run",
): string {
  const id = answer[field];
  if (typeof id === "string" && isServiceId(id)) return id;
  const what = id === undefined ? "no" : id === "" ? "an empty" : "a malformed";
  const reason = `the answer holds ${what} ${field}`;
  throw new ServiceError(
    operation === "create run"
      ? `${reason}; ${UNKNOWN_OUTCOME[operation]}`
      : reason,
    { operation },
  );
}
