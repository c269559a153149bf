import type { ClientOutput } from "./client_output.ts";
import type { RpcResponse } from "./json_rpc.ts";
import type { Session } from "./session.ts";

/**
 * The requests that one client has not answered yet. Each request ends once, with
 * its first response or without one. All other responses are ignored.
 */
export class ClientRequests {
  readonly #output: ClientOutput;
  readonly #pending = new Map<
    unknown,
    (response: RpcResponse | undefined) => void
  >();
  #lastId = 0;
  #closed = false;

  constructor(output: ClientOutput) {
    this.#output = output;
  }

  /**
   * Asks for a file. A request that is still open when the signal is aborted is taken
   * back.
   *
   * @param params The params of `fs/read_text_file`, with an absolute path.
   * @returns The response; `undefined` if the signal is aborted or the input ends
   * before there is one.
   */
  async readFile(
    params: { readonly sessionId: Session["id"]; readonly path: string },
    signal: AbortSignal,
  ): Promise<RpcResponse | undefined> {
    if (this.#closed || signal.aborted) return undefined;
    const method = "fs/read_text_file";
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<
      RpcResponse | undefined
    >();
    const withdraw = () => {
      if (!this.#pending.delete(id)) return;
      const cancelled = { requestId: id };
      this.#output.send({ method: "$/cancel_request", params: cancelled });
      resolve(undefined);
    };
    signal.addEventListener("abort", withdraw);
    this.#pending.set(id, resolve);
    this.#output.send({ id, method, params });
    const response = await promise;
    signal.removeEventListener("abort", withdraw);
    return response;
  }

  receive(response: RpcResponse): void {
    const resolve = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    resolve?.(response);
  }

  /** Ends all requests without a response, because the input has ended. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }
}
