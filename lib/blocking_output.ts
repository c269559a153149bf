/**
 * Makes standard output blocking, so that it can be written in large pieces.
 *
 * @module
 */

/** The part of Node.js's socket handle that is used here. */
interface Handle {
  setBlocking?(isBlocking: boolean): number;
}

/** Kept, because a garbage-collected handle would close standard output. */
let handle: Handle | undefined;

/**
 * Makes a standard output that is a pipe or a Unix socket blocking, for all
 * processes that share it. Nothing may be written while this is called.
 *
 * @returns Whether it is certainly blocking now. (Deno before 2.9 cannot do it.)
 */
export async function makeOutputBlocking(): Promise<boolean> {
  if (Deno.build.os === "windows") return true; // Standard output is always blocking there.
  try {
    const { Socket } = await import("node:net");
    const socket = new Socket({ fd: 1, readable: false, writable: true });
    handle = (socket as unknown as { readonly _handle: Handle })._handle;
    return handle.setBlocking?.(true) === 0;
  } catch {
    return false; // It is not a pipe, or this version of Deno has no such handle.
  }
}
