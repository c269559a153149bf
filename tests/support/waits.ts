import { setImmediate } from "node:timers/promises";

/** The real clock: tests replace it. */
const { setTimeout, clearTimeout } = globalThis;
const now = performance.now.bind(performance);

/**
 * Resolves with what a promise resolves with; fails if that takes longer than a limit.
 *
 * @param seen Says what did not come, and what was there instead.
 * @param limit In milliseconds: many times what it takes on a machine under load.
 */
export async function soon<T>(
  promise: Promise<T>,
  seen: () => string,
  limit = 30_000,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const fail = () =>
    late.reject(new Error(`Not within ${limit / 1_000} s: ${seen()}`));
  const timer = setTimeout(fail, limit);
  // Where nothing else can happen any more, Deno fails the test at once.
  Deno.unrefTimer(timer);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Lets turns of the event loop pass until something is true, and fails after a limit
 * in milliseconds.
 */
export async function until(
  isTrue: () => boolean,
  limit = 20_000,
): Promise<void> {
  const end = now() + limit;
  while (!isTrue()) {
    if (now() > end) {
      throw new Error(`Not within ${limit / 1_000} s: ${isTrue}`);
    }
    await setImmediate();
  }
}
