/**
 * Time and cancellation: a deadline for a request, and a pause between two
 * requests.
 *
 * @module
 */

import { Timeout } from "../../io.ts";

// Shared: creating a DOMException per abort dominated the cost of a drop.
const DROPPED = new DOMException("The request was dropped", "AbortError");

/**
 * The time limit for the answer to one request. Its {@linkcode signal} is aborted
 * when the time is over or the outer signal is aborted, until {@linkcode end}.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #forward = () => this.#controller.abort(this.#outer.reason);
  readonly #timeout: Timeout;
  #expired = false;

  /**
   * @param outer Aborting it aborts the request too.
   * @param milliseconds The time for the answer. With 0, it is over at once.
   */
  constructor(outer: AbortSignal, milliseconds: number) {
    this.#outer = outer;
    this.#timeout = new Timeout(milliseconds, () => this.#expire());
    if (outer.aborted) this.#forward();
    else outer.addEventListener("abort", this.#forward, { once: true });
    if (milliseconds <= 0) this.#expire();
  }

  /** The signal to pass to the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time ran out before the request was answered. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Stops the timer. */
  meet(): void {
    this.#timeout.clear();
  }

  /** Stops the timer and detaches from the outer signal. */
  end(): void {
    this.#timeout.clear();
    this.#outer.removeEventListener("abort", this.#forward);
  }

  /** Ends it, and aborts the request if it is not over. */
  drop(): void {
    this.end();
    this.#controller.abort(DROPPED);
  }

  #expire(): void {
    this.#expired = true;
    this.#controller.abort(new DOMException("Timed out", "TimeoutError"));
  }
}

/**
 * Waits.
 *
 * @throws The signal's reason, as soon as it is aborted.
 */
export async function pause(
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  const timer = setTimeout(stop, milliseconds);
  signal.addEventListener("abort", stop);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
}
