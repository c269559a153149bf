/**
 * Time and cancellation: a deadline on a request, and a pause between two.
 *
 * @module
 */

// Not made for each drop: it would cost more than all the rest of it.
const DROPPED = new DOMException("The request was dropped", "AbortError");

/**
 * The time in which one request has to be answered. Its {@linkcode signal} is
 * aborted when the time is over, or when the outer signal is.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #forward = () => this.#controller.abort(this.#outer.reason);
  readonly #timer: ReturnType<typeof setTimeout>;
  #expired = false;
  #met = false;

  constructor(outer: AbortSignal, milliseconds: number) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort(new DOMException("Timed out", "TimeoutError"));
    }, milliseconds);
    if (outer.aborted) this.#forward();
    else outer.addEventListener("abort", this.#forward, { once: true });
  }

  /** What the request listens to. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time was over before the request was answered. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Stops the clock. The outer signal keeps its hold until {@linkcode drop}. */
  meet(): void {
    this.#met = true;
    clearTimeout(this.#timer);
  }

  /** Lets go of the clock and the outer signal, unless the deadline was met. */
  end(): void {
    if (!this.#met) this.#release();
  }

  /** Aborts the request, if it is not over, and lets go of the outer signal. */
  drop(): void {
    this.#controller.abort(DROPPED);
    this.#release();
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#forward);
  }
}

/**
 * Waits.
 *
 * @throws The signal's reason, as soon as it is aborted.
 */
export function pause(
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  const stop = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", stop);
    resolve();
  }, milliseconds);
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}
