/** How long the event loop may be blocked for, in milliseconds. */
const SHARE = 50;

/** When the last turn of the event loop ended that {@linkcode shareEventLoop} took. */
let turnedAt: number | undefined;
let turn: Promise<void> | undefined;

/**
 * Gives the event loop a turn every 50 ms, and not more often. Call it for each chunk of
 * data, and await a promise that it returns: data that has already arrived is read on
 * microtasks only, and until they end, no timer, signal or other session gets its turn.
 */
export function shareEventLoop(): Promise<void> | undefined {
  // The time before the first call is the start of the program, which shared nothing.
  turnedAt ??= performance.now();
  if (performance.now() - turnedAt < SHARE) return undefined;
  turn ??= takeTurn();
  return turn;
}

async function takeTurn(): Promise<void> {
  await turnOfEventLoop();
  turn = undefined;
  turnedAt = performance.now();
}

/**
 * Resolves after a turn of the event loop. The first message of a process takes 2 ms,
 * a later one 0.02; a timer of 0 ms takes 2.
 */
export async function turnOfEventLoop(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<void>();
  port1.onmessage = () => resolve();
  port2.postMessage(undefined);
  await promise;
  port1.close();
  port2.close();
}
