import type { CallIds, CallState } from "./failure/call_state.ts";
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
  /** The ids that the service's operator finds it by, as far as they are known. */
  readonly ids: CallIds;
}

/**
 * Joins the events of a call with its state. Within the gateway they come in batches,
 * because each generator that passes an event on costs more than the event. Here they
 * are handed on one by one: without a generator, which would await each one twice more.
 */
export function callEvents<E>(
  state: CallState,
  batches: AsyncGenerator<readonly E[]>,
): CallEvents<E> {
  let batch: Iterator<E> = [].values();
  const next = async (): Promise<IteratorResult<E>> => {
    for (;;) {
      const event = batch.next();
      if (!event.done) return event;
      const more = await batches.next();
      if (more.done) return more;
      batch = more.value.values();
    }
  };
  const leave = async (): Promise<IteratorResult<E>> => {
    await batches.return(undefined);
    return { done: true, value: undefined };
  };
  return {
    get fate() {
      return state.fate;
    },
    get ids() {
      return state.ids;
    },
    [Symbol.asyncIterator]: () => ({ next, return: leave }),
  };
}
