/**
 * Lets timers, signals and other tasks run while much data arrives.
 *
 * @module
 */

import { startTimer } from "./timer.ts";

/**
 * Half of the longest time, in milliseconds, in which the event loop may stand
 * still: once until its next turn is requested, once until it is waited for.
 */
const SHARE = 25;

let requestedAt = 0;
/** When the event loop last turned; the first call counts as a turn. */
let turnedAt: number | undefined;
let turn: Promise<void> | undefined;

/**
 * Gives the event loop a turn at least every 50 ms. Call it for each chunk of data:
 * reading data that has already arrived runs on microtasks alone, which keep
 * timers, signals and other sessions waiting.
 *
 * @returns A promise to await, or `undefined` if there is no need to.
 */
export function shareEventLoop(): Promise<void> | undefined {
  const now = performance.now();
  turnedAt ??= now;
  if (turn !== undefined) return now - requestedAt > SHARE ? turn : undefined;
  if (now - turnedAt > SHARE) {
    requestedAt = now;
    const { promise, resolve } = Promise.withResolvers<void>();
    turn = promise;
    startTimer(0, () => {
      turn = undefined;
      turnedAt = performance.now();
      resolve();
    });
  }
  return undefined;
}
