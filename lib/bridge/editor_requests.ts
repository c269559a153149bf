/**
 * Requests from the bridge to the editor.
 *
 * @module
 */

import type { Outgoing, RpcResponse } from "./json_rpc.ts";

/**
 * The requests that one editor has not answered yet. Each request ends once, with
 * its first response or without one. All other responses are ignored.
 */
export class EditorRequests {
  readonly #send: (message: Outgoing) => void;
  readonly #pending = new Map<
    unknown,
    (response: RpcResponse | undefined) => void
  >();
  #lastId = 0;
  #closed = false;

  /** @param send Sends a message to the editor. */
  constructor(send: (message: Outgoing) => void) {
    this.#send = send;
  }

  /**
   * Sends a request.
   *
   * @returns Its response; `undefined` if the signal is aborted or the input ends
   * before there is one.
   */
  ask(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<RpcResponse | undefined> {
    if (this.#closed || signal.aborted) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<
      RpcResponse | undefined
    >();
    signal.addEventListener("abort", () => resolve(undefined));
    this.#pending.set(id, resolve);
    this.#send({ id, method, params });
    return promise.finally(() => this.#pending.delete(id));
  }

  /** Ends the request that a response of the editor belongs to. */
  receive(response: RpcResponse): void {
    this.#pending.get(response.id)?.(response);
  }

  /** Ends all requests without a response, because the input has ended. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#pending.values()) resolve(undefined);
  }
}
