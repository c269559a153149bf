/**
 * Stops this process, as SIGSTOP or a machine that sleeps would: timers fall due,
 * and arriving data waits in the socket.
 */
export function stopFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
