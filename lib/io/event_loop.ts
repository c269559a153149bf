import { startTimer } from "./timer.ts";

/**
 * Half of the time that the event loop may be blocked for, in milliseconds. After the
 * first half, a turn is requested; if it has not begun after the second, callers await
 * it.
 */
const SHARE = 25;

/** When the last turn of the event loop began; the first call counts as a turn. */
let turnedAt: number | undefined;
let turn: Promise<void> | undefined;
let requestedAt = 0;

/**
 * Gives the event loop a turn at least every 50 ms. Call it for each chunk of data, and
 * await a promise that it returns: data that has already arrived is read on microtasks
 * alone, and until they end, no timer, signal or other session gets its turn.
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

/** The shortest WebAssembly module: its mark and its version. */
const EMPTY_MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/** Whether nothing has loaded what a `MessageChannel` needs. */
let isFirst = "WebAssembly" in globalThis; // V8 without a compiler has none.

/**
 * Resolves after a turn of the event loop, without the 2 ms of a timer. The first message
 * of a process takes 1 ms: a compilation in the background takes a fifth of that.
 */
export async function turnOfEventLoop(): Promise<void> {
  if (isFirst) {
    isFirst = false;
    await WebAssembly.compile(EMPTY_MODULE);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<void>();
  port1.onmessage = () => resolve();
  port2.postMessage(undefined);
  await promise;
  port1.close();
  port2.close();
}
