/**
 * Timers that are quick to load: Deno takes 5 ms to load what the first
 * `setTimeout()` of a process needs, while a user waits for the first answer.
 *
 * @module
 */

interface Timer {
  /** When it is due, on the clock of `performance.now()`. */
  readonly due: number;
  readonly onDue: () => void;
}

const pending = new Set<Timer>();

/** The alarms that are set. A reference keeps each from being garbage-collected. */
const alarms = new Set<AbortSignal>();

let nextAlarm = Infinity;

/**
 * Calls a function after a time of at most 2^53 ms. Unlike `setTimeout()`, it does not
 * keep the process alive. Returns a function that stops the timer.
 */
export function startTimer(
  milliseconds: number,
  onDue: () => void,
): () => void {
  const timer = { due: performance.now() + milliseconds, onDue };
  pending.add(timer);
  setAlarm(timer.due);
  return () => pending.delete(timer);
}

/** Sets an alarm, unless an earlier one is set: nothing can stop an `AbortSignal`. */
function setAlarm(time: number): void {
  if (time >= nextAlarm) return;
  nextAlarm = time;
  const milliseconds = Math.ceil(time - performance.now());
  const alarm = AbortSignal.timeout(Math.max(milliseconds, 0));
  alarms.add(alarm);
  alarm.addEventListener("abort", () => {
    alarms.delete(alarm);
    nextAlarm = Infinity;
    try {
      callDue();
    } finally {
      const times = pending.values().map(({ due }) => due);
      setAlarm(times.reduce((a, b) => Math.min(a, b), Infinity));
    }
  });
}

function callDue(): void {
  const now = performance.now();
  const due = [...pending].filter((timer) => timer.due <= now)
    .sort((a, b) => a.due - b.due);
  for (const timer of due) {
    // The function before it may have stopped it.
    if (pending.delete(timer)) timer.onDue();
  }
}

/** Waits for a promise; after a number of milliseconds the result is that of `late`. */
export async function within<T>(
  milliseconds: number,
  promise: Promise<T>,
  late: () => T,
): Promise<T> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = startTimer(milliseconds, resolve);
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    stop();
  }
}
