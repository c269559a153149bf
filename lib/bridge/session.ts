/**
 * A session of the editor.
 *
 * @module
 */

import { ErrorCode, type RequestId, RpcError } from "./json_rpc.ts";

/** A prompt that has not been answered yet. */
export interface Turn {
  readonly requestId: RequestId;
  /** Aborted when the prompt is cancelled. */
  readonly signal: AbortSignal;
  /** Resolves when the cancelled prompt before this one is answered, if there was one. */
  readonly previous: Promise<void> | undefined;
}

/** A conversation: its thread at the service, and the prompt that is running. */
export class Session {
  readonly id: string;
  readonly threadId: string;
  /** The last prompt, until it has been answered. */
  #last:
    | Turn & {
      readonly controller: AbortController;
      readonly answered: Promise<void>;
    }
    | undefined;

  constructor(id: string, threadId: string) {
    this.id = id;
    this.threadId = threadId;
  }

  /**
   * Begins a prompt.
   *
   * @param answered Resolves when the prompt has been answered.
   * @throws {RpcError} Invalid request, if another one is running.
   */
  begin(requestId: RequestId, answered: Promise<void>): Turn {
    if (this.#last?.signal.aborted === false) {
      throw new RpcError(
        ErrorCode.invalidRequest,
        "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
      );
    }
    const controller = new AbortController();
    const turn = {
      requestId,
      controller,
      signal: controller.signal,
      answered,
      previous: this.#last?.answered,
    };
    this.#last = turn;
    answered.then(() => {
      if (this.#last === turn) this.#last = undefined;
    });
    return turn;
  }

  /** Cancels the prompt that is running; with an id, only the one of that request. */
  cancel(requestId?: unknown): void {
    if (requestId === undefined || this.#last?.requestId === requestId) {
      this.#last?.controller.abort();
    }
  }

  /** Cancels the prompt that is running, and waits until it has been answered. */
  async close(): Promise<void> {
    this.cancel();
    await this.#last?.answered;
  }
}
