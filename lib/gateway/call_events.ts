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
export interface CallEvents<Event> extends AsyncIterable<Event> {
  /**
   * What has become of the prompt, or of the thread, as far as is known at this moment:
   * `undefined` as soon as the reply, or the thread, has come. Callers that drop a call,
   * or stop reading it, use this.
   */
  readonly fate: Fate | undefined;

  [Symbol.asyncIterator](): AsyncGenerator<Event>;
}

/** Joins the events of a call with its state. */
export function callEvents<Event>(
  state: Pick<CallEvents<Event>, "fate">,
  events: AsyncGenerator<Event>,
): CallEvents<Event> {
  return {
    get fate() {
      return state.fate;
    },
    [Symbol.asyncIterator]: () => events,
  };
}
