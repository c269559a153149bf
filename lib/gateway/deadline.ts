/**
 * Time and cancellation: a timer that knows when it is late, a deadline for a
 * request, and a pause between two requests.
 *
 * @module
 */

/** How late a timer may fire and still count as punctual, in milliseconds. */
const PUNCTUAL = 200;

// Shared: creating a DOMException per abort dominated the cost of a drop.
const DROPPED = new DOMException("The request was dropped", "AbortError");

/**
 * A timeout that does not count the time in which the process was stopped.
 *
 * A timer that is due while the process is stopped (SIGSTOP, a machine that
 * sleeps) or busy fires before the sockets are read. Such a timer is set again,
 * for the grace period: what has arrived is read first.
 */
export class Timeout {
  readonly #grace: number;
  readonly #onExpired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param milliseconds From now until the timeout expires.
   * @param grace Milliseconds that a late timeout gets in addition.
   * @param onExpired Called once when it expires, unless it is cleared before.
   */
  constructor(milliseconds: number, grace: number, onExpired: () => void) {
    this.#grace = grace;
    this.#onExpired = onExpired;
    this.#start(milliseconds);
  }

  /** Stops the clock. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  #start(milliseconds: number): void {
    const due = performance.now() + milliseconds;
    this.#timer = setTimeout(() => {
      if (performance.now() - due > PUNCTUAL) this.#start(this.#grace);
      else this.#onExpired();
    }, milliseconds);
  }
}

/**
 * The time in which one request has to be answered. Its {@linkcode signal} is
 * aborted when the time is over, or when the outer signal is.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #forward = () => this.#controller.abort(this.#outer.reason);
  readonly #timeout: Timeout;
  #expired = false;
  #met = false;

  /**
   * @param outer Aborts the request, too.
   * @param milliseconds The time for the answer.
   * @param grace As for a {@linkcode Timeout}.
   */
  constructor(outer: AbortSignal, milliseconds: number, grace: number) {
    this.#outer = outer;
    this.#timeout = new Timeout(milliseconds, grace, () => {
      this.#expired = true;
      this.#controller.abort(new DOMException("Timed out", "TimeoutError"));
    });
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

  /** Stops the clock. The outer signal still aborts the request until {@linkcode drop}. */
  meet(): void {
    this.#met = true;
    this.#timeout.clear();
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
    this.#timeout.clear();
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

/** A time up to a quarter shorter or longer, so that many clients do not come at once. */
export function jitter(milliseconds: number): number {
  return milliseconds * (0.75 + Math.random() / 2);
}
