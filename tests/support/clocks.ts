/**
 * When a fake clock starts: long before all timers of the real clock. An alarm that
 * is left from those would otherwise hide that of a timer of the fake clock.
 */
const START = -1e9;

/**
 * Replaces the clock of the process, and the timers of `startTimer()`, until it is
 * disposed of.
 */
export class FakeClock implements Disposable {
  readonly #now = performance.now;
  readonly #timeout = AbortSignal.timeout;
  readonly #alarms: { controller: AbortController; due: number }[] = [];
  /** Milliseconds since the start of this clock. */
  time = 0;

  constructor() {
    performance.now = () => START + this.time;
    AbortSignal.timeout = (milliseconds) => {
      const controller = new AbortController();
      this.#alarms.push({ controller, due: this.time + milliseconds });
      return controller.signal;
    };
  }

  /** Fires the next timer. If it is not due yet, the clock first moves to its time. */
  pass(): void {
    const alarm = this.#alarms.shift();
    this.time = Math.max(this.time, alarm?.due ?? 0);
    alarm?.controller.abort();
  }

  /** Moves the clock to a time, and fires the timers that are due then. */
  passTo(time: number): void {
    this.time = time;
    for (const { controller, due } of this.#alarms) {
      if (due <= time) controller.abort();
    }
  }

  [Symbol.dispose](): void {
    // A few times, because timers may start others.
    for (let i = 0; i < 100; i++) this.pass();
    performance.now = this.#now;
    AbortSignal.timeout = this.#timeout;
  }
}

const now = performance.now.bind(performance);
let skipped = 0;

/**
 * Lets `performance.now()` jump, to test limits of minutes. Timers are not changed.
 * The clock never goes back: timers that were started would come late.
 */
export function skipTime(milliseconds: number): void {
  if (skipped === 0) performance.now = () => now() + skipped;
  skipped += milliseconds;
}
