import type { Fate } from "./failure/fate.ts";

/**
 * The events of one call, in their order. The call begins when the first one is
 * requested, and ends with the last one, or when the loop over them is left.
 *
 * @example
 * ```ts
 * const turn = gateway.runTurn(threadId, "2 + 2");
 * for await (const event of turn) {
 *   if (event.type === "reply") console.log(event.text);
 * }
 * ```
 */
export interface CallEvents<E> extends AsyncIterable<E> {
  /**
   * What has become of the prompt, or of the thread, as far as is known at this moment:
   * `undefined` as soon as the reply, or the thread, has come. Callers that drop a call,
   * or stop reading it, use this.
   */
  readonly fate: Fate | undefined;

  [Symbol.asyncIterator](): AsyncGenerator<E>;
}

/** Joins the events of a call with its state. */
export function callEvents<E>(
  state: Pick<CallEvents<E>, "fate">,
  events: AsyncGenerator<E>,
): CallEvents<E> {
  return {
    get fate() {
      return state.fate;
    },
    [Symbol.asyncIterator]: () => events,
  };
}
