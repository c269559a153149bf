import { type ByteSink, LineWriter, pause } from "../io.ts";
import { jsonLine } from "../text.ts";
import { type ClientFeatures, NO_FEATURES } from "./capabilities.ts";
import {
  ErrorCode,
  type ErrorObject,
  type RequestId,
  type RpcError,
} from "./json_rpc.ts";
import type { SessionUpdate } from "./session_updates.ts";

/**
 * How long a response keeps its distance from the updates before it, in milliseconds:
 * this, and a part for each of them. The response resolves a promise in some client
 * libraries before they have handled the updates that came just before it, so that users
 * miss the reply. Measured with 10 ms: 19 of 30 replies after 5,000 updates (the Python
 * library, 0.7.0), 6 of 990 after three (acp-factory); with 30 ms there, 0 of 690.
 */
export const DISTANCE = 30;
export const DISTANCE_PER_UPDATE = 0.05;
export const MAX_DISTANCE = 1000;

/** The version of JSON-RPC, a member of every message. */
const jsonrpc = "2.0";

/**
 * Everything that the bridge writes to standard output goes through here: one message a
 * line, in a form that the client can take.
 */
export class ClientOutput {
  readonly #lines: LineWriter;
  /** The client's last `initialize`. */
  client: ClientFeatures = NO_FEATURES;

  constructor(stdout: ByteSink) {
    this.#lines = new LineWriter(stdout);
  }

  /** Rejects with whatever standard output rejects with. */
  get failed(): Promise<never> {
    return this.#lines.failed;
  }

  respond(id: RequestId, result: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, id, result }));
  }

  fail(id: RequestId, error: RpcError): void {
    const line = jsonLine({ jsonrpc, id, error: this.#errorFor(error) });
    this.#lines.write(line);
  }

  request(id: number, method: string, params: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, id, method, params }));
  }

  notify(method: string, params: unknown): void {
    this.#lines.write(jsonLine({ jsonrpc, method, params }));
  }

  /** Sends an update. A caller that can wait does so while the output is full. */
  update(sessionId: string, update: SessionUpdate): void {
    this.notify("session/update", { sessionId, update });
  }

  /** Whether 256 KiB or more waits to be written. */
  get isFull(): boolean {
    return this.#lines.isFull;
  }

  /** Resolves when more is written. */
  get progress(): Promise<void> {
    return this.#lines.progress;
  }

  /** Resolves when a response may follow this many updates, which have been sent. */
  async keepDistance(updates: number): Promise<void> {
    if (updates === 0) return;
    await this.#lines.written();
    const distance = DISTANCE + updates * DISTANCE_PER_UPDATE;
    await pause(Math.min(distance, MAX_DISTANCE));
  }

  /** Whether everything is written. */
  get isIdle(): boolean {
    return this.#lines.isIdle;
  }

  /** Resolves when at most 1 MiB waits to be written. */
  room(): Promise<void> {
    return this.#lines.room();
  }

  /** Resolves when everything is written; rejects if it cannot be. */
  flush(): Promise<void> {
    return this.#lines.flush();
  }

  /** Zed shows `data` of these errors as JSON, after the same words. */
  #errorFor(error: RpcError): ErrorObject {
    const { code, message, data } = error.toObject();
    const isShownTwice = this.client.isZed &&
      code === ErrorCode.cannotOpenSession;
    return isShownTwice || data === undefined
      ? { code, message }
      : { code, message, data };
  }
}
