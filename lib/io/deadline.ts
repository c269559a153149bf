/**
 * Time and cancellation: timeouts, deadlines and pauses.
 *
 * @module
 */

import { startTimer } from "./timer.ts";

/** How late a timer may fire and still count as punctual, in milliseconds. */
const PUNCTUAL = 200;

/** How much longer a {@linkcode Timeout} waits if it fires late, in milliseconds. */
const GRACE = 5_000;

/**
 * A timeout that allows for time in which the process was stopped.
 *
 * A timer that falls due while the process is stopped (SIGSTOP, a sleeping machine)
 * or busy fires before the sockets are read. This timeout then waits for another 5 s,
 * so that the data that has arrived is read first. It does so once: a peer that keeps
 * the process busy cannot put the timeout off for ever.
 */
export class Timeout {
  #stop: () => void;

  /**
   * @param milliseconds From now until the timeout expires.
   * @param onExpired Called once when it expires, unless it was cleared.
   */
  constructor(milliseconds: number, onExpired: () => void) {
    const due = performance.now() + milliseconds;
    this.#stop = startTimer(milliseconds, () => {
      if (performance.now() - due <= PUNCTUAL) onExpired();
      else this.#stop = startTimer(GRACE, onExpired);
    });
  }

  /** Stops the timer. */
  clear(): void {
    this.#stop();
  }
}

// Shared: creating a DOMException per abort dominated the cost of a drop. Not made at
// the start, where the first error costs 1.5 ms.
let dropped: DOMException | undefined;

/**
 * A time limit for one or more requests. Its {@linkcode signal} is aborted when the time
 * is over or the outer signal is aborted, until {@linkcode end}.
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
    dropped ??= new DOMException("The request was dropped", "AbortError");
    this.#controller.abort(dropped);
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
