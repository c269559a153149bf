/**
 * The remote agent service: the three operations of interface 4.1, and the turn
 * made of the last two.
 *
 * @module
 */

import type { RunEvent } from "./gateway/run_events.ts";
import type {
  ServiceClient,
  ServiceClientOptions,
} from "./gateway/service_client.ts";
import { type Operation, ServiceError } from "./gateway/service_error.ts";

export type { ProgressEvent, RunEvent } from "./gateway/run_events.ts";
export type { Exchange } from "./gateway/service_client.ts";
export { ServiceError } from "./gateway/service_error.ts";

/** The single agent of the service (interface 1.4). */
export const AGENT_NAME = "the-brain";

const NEVER = new AbortController().signal;

/** Options of one call. */
export interface CallOptions {
  /** Drops the call when it is aborted. The service goes on with a run that it has begun. */
  readonly signal?: AbortSignal;
  /** Called before each pause after which a request is repeated. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Named in each {@linkcode Exchange} of the call. */
  readonly sessionId?: string | undefined;
}

/** A pause before a request is repeated. */
export interface Wait {
  readonly operation: Operation;
  /** Why, in a few words for a status line: "service busy", "connection lost". */
  readonly reason: string;
  readonly milliseconds: number;
}

/** Options of {@linkcode Gateway.runTurn}. */
export interface TurnOptions extends CallOptions {
  /** Further headers for the run's two requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called once with the run's id, when the run was started and before its first event. */
  readonly onRunStarted?: ((runId: string) => void) | undefined;
}

/** What the front ends need of the service. */
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
   * then `complete` once. No more than 64 KiB of the stream are read ahead of who
   * asks for the events.
   *
   * @returns The events, those together that came together, never none.
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
 * The service behind a base URL. Dispose of it to close its connections.
 *
 * What speaks HTTP is loaded when it is needed: an editor need not wait for it at
 * the start.
 */
export class RemoteGateway implements Gateway, AsyncDisposable {
  readonly #options: ServiceClientOptions;
  readonly #draining = new Set<Promise<void>>();
  #client: Promise<ServiceClient> | undefined;
  #runStream: Promise<typeof import("./gateway/run_stream.ts")> | undefined;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  async createThread(options: CallOptions = {}): Promise<string> {
    const { signal = NEVER } = options;
    const request = {
      operation: "create thread",
      path: "/threads",
      signal,
    } as const;
    const client = await this.#connect();
    const answer = await client.post(request);
    return idIn(answer, "thread_id", request.operation);
  }

  async *runTurn(
    threadId: string,
    prompt: string,
    options: TurnOptions = {},
  ): AsyncGenerator<readonly RunEvent[]> {
    const { headers, signal = NEVER } = options;
    // The thread's id was checked when the thread was created.
    const runs = `/threads/${encodeURIComponent(threadId)}/runs`;
    const run = {
      operation: "create run",
      path: runs,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ agentName: AGENT_NAME, prompt, wait: false }),
      signal,
    } as const;
    const client = await this.#connect();
    const answer = await client.post(run);
    const runId = idIn(answer, "run_id", run.operation);
    options.onRunStarted?.(runId);
    const stream = {
      operation: "stream run",
      path: `${runs}/${encodeURIComponent(runId)}/stream`,
      headers: { ...headers, "accept": "text/event-stream" },
      signal,
    } as const;
    this.#runStream ??= import("./gateway/run_stream.ts");
    const { followRun } = await this.#runStream;
    yield* followRun(client, stream, (end) => this.#drain(end));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#draining);
    (await this.#client)?.close();
  }

  #connect(): Promise<ServiceClient> {
    this.#client ??= import("./gateway/service_client.ts")
      .then(({ ServiceClient }) => new ServiceClient(this.#options));
    return this.#client;
  }

  #drain(end: Promise<void>): void {
    const done = end.finally(() => this.#draining.delete(done));
    this.#draining.add(done);
  }
}

/**
 * Tells whether a text can be the id of a thread or a run: 1 to 1,024 bytes of
 * UTF-8 that can stand in a path, so neither `.` nor `..`, which no encoding
 * protects.
 */
export function isServiceId(id: string): boolean {
  return id.length <= 1024 && id.isWellFormed() && !/^\.{0,2}$/.test(id) &&
    new TextEncoder().encode(id).length <= 1024;
}

/**
 * An id that can stand in a path: not empty, and neither `.` nor `..`, which no
 * encoding protects.
 */
function idIn(
  answer: Readonly<Record<string, unknown>>,
  field: "thread_id" | "run_id",
  operation: Operation,
): string {
  const id = answer[field];
  if (typeof id === "string" && isServiceId(id)) return id;
  const what = id === undefined ? "no" : id === "" ? "an empty" : "a malformed";
  throw new ServiceError(`the answer holds ${what} ${field}`, { operation });
}
