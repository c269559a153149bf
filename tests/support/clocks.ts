const setRealTimeout = globalThis.setTimeout;
const clearRealTimeout = globalThis.clearTimeout;

/**
 * When a fake clock starts: before all times of the real clock, so that a time that is
 * kept after the fake clock was disposed of never lies in the future.
 */
const START = -1e9;

/** Timers of fake clocks have larger numbers than real ones. */
let lastId = 1e9;

/**
 * A signal that is aborted once, like that of `AbortSignal.timeout()`, and counts as
 * pending only while it has its listener.
 *
 * @param start Starts a timer. Returns how to stop it.
 */
export function abortSignal(
  start: (abort: () => void) => () => void,
): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = start(() => controller.abort());
  const remove = signal.removeEventListener.bind(signal);
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    remove(...args);
    stop();
  };
  return signal;
}

interface Timer {
  readonly due: number;
  readonly onDue: () => void;
}

/**
 * Replaces `performance.now()`, `setTimeout()`, `clearTimeout()` and
 * `AbortSignal.timeout()`, until it is disposed of. Timers that have not fired by then
 * never do. A timer of 0 ms is a turn of the event loop, as it is without a fake clock.
 */
export class FakeClock implements Disposable {
  readonly #now = performance.now;
  readonly #timeout = AbortSignal.timeout;
  readonly #timers = new Map<number, Timer>();
  #running: ReturnType<typeof setInterval> | undefined;
  /** Milliseconds since the start of this clock. */
  time = 0;

  constructor() {
    performance.now = () => START + this.time;
    const setTimeout = (
      onDue: (...args: unknown[]) => void,
      milliseconds = 0,
      ...args: unknown[]
    ) => {
      if (milliseconds <= 0) return setRealTimeout(onDue, 0, ...args);
      const due = this.time + milliseconds;
      lastId++;
      this.#timers.set(lastId, { due, onDue: () => onDue(...args) });
      return lastId;
    };
    const clearTimeout = (id: number | undefined) => {
      if (!this.#timers.delete(id ?? 0)) clearRealTimeout(id);
    };
    Object.assign(globalThis, { setTimeout, clearTimeout });
    AbortSignal.timeout = (milliseconds) =>
      abortSignal((abort) => {
        const timer = setTimeout(abort, milliseconds);
        return () => clearTimeout(Number(timer));
      });
  }

  /** The number of timers that have neither fired nor been stopped. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Fires the next timer. If it is not due yet, the clock first moves to its time. */
  pass(): void {
    this.#fireNext(Infinity);
  }

  /** Lets time pass as in a process that runs: each timer fires when it is due. */
  elapse(milliseconds: number): void {
    const end = this.time + milliseconds;
    while (this.#fireNext(end));
    this.time = Math.max(this.time, end); // A timer may have taken time.
  }

  /** Lets time pass by itself from now on, a thousand times as fast. */
  run(): void {
    this.#running = setInterval(() => this.elapse(1_000), 1);
  }

  /**
   * Moves the clock to a time at once, as if the process had been stopped, and fires the
   * timers that are due then.
   */
  passTo(time: number): void {
    this.time = time;
    while (this.#fireNext(time));
  }

  /** Fires the earliest timer, if it is due at a time. Returns whether it was. */
  #fireNext(time: number): boolean {
    const [earliest] = [...this.#timers]
      .sort(([, a], [, b]) => a.due - b.due);
    if (earliest === undefined) return false;
    const [id, { due, onDue }] = earliest;
    if (due > time) return false;
    this.#timers.delete(id);
    this.time = Math.max(this.time, due);
    onDue();
    return true;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#running);
    performance.now = this.#now;
    AbortSignal.timeout = this.#timeout;
    Object.assign(globalThis, {
      setTimeout: setRealTimeout,
      clearTimeout: clearRealTimeout,
    });
  }
}
