/**
 * The only timers: nothing else in `lib/` waits for a time.
 *
 * @module
 */

/** Shorter timeouts draw a frame or separate keys, in milliseconds. */
const SHORT = 500;

/** How late a timer may fire and still count as punctual, in milliseconds. */
export const PUNCTUAL = 200;

/** The longest wait after a timeout that fires late, in milliseconds. */
const MAX_GRACE = 5_000;

/**
 * The longest alarm of a timeout, in milliseconds. One that was stopped takes 1.3 KiB
 * until it is due, and most timeouts of minutes are stopped within a second.
 */
const LONGEST = 2_000;

/**
 * Calls a function after a time in milliseconds, also if the process was stopped
 * meanwhile. Other folders use {@linkcode startTimeout} or {@linkcode pause}.
 *
 * It is an `AbortSignal.timeout()` of its own: the first `setTimeout()` of a process
 * makes Deno load the timers of Node.js, which takes 7 ms of CPU. Without its listener,
 * a signal neither calls anything nor keeps the process alive.
 *
 * @returns A function that stops it.
 */
export function startAlarm(
  milliseconds: number,
  onDue: () => void,
): () => void {
  const alarm = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
  alarm.addEventListener("abort", onDue);
  return () => alarm.removeEventListener("abort", onDue);
}

/**
 * Calls a function after a time. A timer that falls due while the process is stopped
 * (SIGSTOP, a sleeping machine) or busy fires before the sockets are read. Then a limit
 * waits for five times as long as it was late, and at most 5 s, so that what has arrived
 * is read first; once, because a peer may keep the process busy.
 *
 * @param milliseconds The time: `Infinity` never ends, a negative one is 0.
 * @param isLimit Whether it limits a peer. The default is yes, from half a second on.
 * @returns A function that stops the timer.
 */
export function startTimeout(
  milliseconds: number,
  onExpired: () => void,
  { isLimit = milliseconds >= SHORT }: { readonly isLimit?: boolean } = {},
): () => void {
  if (milliseconds === Infinity) return () => {};
  let stop: () => void;
  let hasGrace = isLimit;
  const wait = (left: number) => {
    const length = Math.min(Math.max(0, left), LONGEST);
    const planned = performance.now() + length;
    stop = startAlarm(length, () => {
      const late = performance.now() - planned;
      const rest = Math.round(left - length - late);
      if (rest > 0) return wait(rest);
      const isLate = late > PUNCTUAL;
      const least = isLate && hasGrace ? Math.min(5 * late, MAX_GRACE) : 0;
      if (isLate) hasGrace = false;
      if (least > 0) wait(least);
      else onExpired();
    });
  };
  wait(milliseconds);
  return () => stop();
}

/** Waits. Throws the signal's reason as soon as it is aborted. */
export async function pause(
  milliseconds: number,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const stop = startAlarm(milliseconds, end);
  signal?.addEventListener("abort", end);
  await promise;
  stop();
  signal?.removeEventListener("abort", end);
  signal?.throwIfAborted();
}

/**
 * Waits for a promise; after a number of milliseconds the result is that of `late`. It is
 * no limit: what else the caller can do is begun at once, also after a stop.
 */
export async function within<T>(
  milliseconds: number,
  promise: Promise<T>,
  late: () => T,
): Promise<T> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = startTimeout(milliseconds, resolve, { isLimit: false });
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    stop();
  }
}
