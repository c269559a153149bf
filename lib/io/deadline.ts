/** How late a timer may fire and still count as punctual, in milliseconds. */
const PUNCTUAL = 200;

/** The longest wait after a timeout that fires late, in milliseconds. */
const MAX_GRACE = 5_000;

/**
 * Calls a function after a time. A timer that falls due while the process is stopped
 * (SIGSTOP, a sleeping machine) or busy fires before the sockets are read. Then this
 * one waits for five times as long as it was late, and at most 5 s, so that what has
 * arrived is read first; once, because a peer may keep the process busy. A time of
 * `Infinity` never ends.
 *
 * @param now The clock that the time is measured with, in milliseconds. The default is
 * the clock of the process.
 * @returns A function that stops the timer.
 */
export function startTimeout(
  milliseconds: number,
  onExpired: () => void,
  now = () => performance.now(),
): () => void {
  if (milliseconds === Infinity) return () => {}; // `setTimeout()` takes it for 0.
  const due = now() + milliseconds;
  let timer: ReturnType<typeof setTimeout>;
  let hasGrace = true;
  const wait = (left: number) => {
    const planned = performance.now() + left;
    timer = setTimeout(() => {
      const late = performance.now() - planned;
      const isLate = late > PUNCTUAL;
      const least = isLate && hasGrace ? Math.min(5 * late, MAX_GRACE) : 0;
      if (isLate) hasGrace = false;
      const more = Math.max(due - now(), least);
      if (more > 0) wait(more);
      else onExpired();
    }, left);
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}

/** The reason of a signal that was aborted because the time was over. */
export class TimeIsOver extends Error {
  override readonly name = "TimeoutError";
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super("The time is over");
    this.milliseconds = milliseconds;
  }
}

// Shared: creating a DOMException per abort dominated the cost of a drop. Not made at
// the start, where the first error costs 1.5 ms.
let dropped: DOMException | undefined;

/**
 * A time limit for one or more steps. It aborts its {@linkcode signal} when the time is
 * over (with {@linkcode TimeIsOver}), and when the outer signal is aborted. Disposing of
 * it stops both.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #forward = () => this.#controller.abort(this.#outer?.reason);
  readonly #stopTimer: () => void;
  #isOver = false;

  /** @param outer Aborting it aborts the steps too. */
  constructor(milliseconds: number, outer?: AbortSignal) {
    this.#outer = outer;
    this.#stopTimer = startTimeout(milliseconds, () => {
      this.#isOver = true;
      this.#controller.abort(new TimeIsOver(milliseconds));
    });
    if (outer?.aborted) this.#forward();
    else outer?.addEventListener("abort", this.#forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time was over before the last step ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Stops the timer. The outer signal still counts. */
  meet(): void {
    this.#stopTimer();
  }

  /** Stops the timer and detaches from the outer signal. */
  [Symbol.dispose](): void {
    this.meet();
    this.#outer?.removeEventListener("abort", this.#forward);
  }

  /** Ends it, and aborts the steps if they are not over. */
  drop(): void {
    this[Symbol.dispose]();
    dropped ??= new DOMException("The request was dropped", "AbortError");
    this.#controller.abort(dropped);
  }
}

/** Waits. Throws the signal's reason as soon as it is aborted. */
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
