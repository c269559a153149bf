/**
 * Makes standard output blocking, so that it can be written in large pieces.
 *
 * @module
 */

/** What Node.js calls the handle of a socket, as far as it is used here. */
interface Handle {
  setBlocking?(isBlocking: boolean): number;
}

/** Kept: a handle that is collected as garbage would close standard output. */
let handle: Handle | undefined;

/**
 * Makes a standard output that is a pipe or a Unix socket blocking, for all
 * processes that share it. Nothing may be written meanwhile.
 *
 * @returns Whether it is blocking now for certain. (Deno before 2.9 cannot do it.)
 */
export async function makeOutputBlocking(): Promise<boolean> {
  if (Deno.build.os === "windows") return true; // It never is non-blocking there.
  try {
    const { Socket } = await import("node:net");
    const socket = new Socket({ fd: 1, readable: false, writable: true });
    handle = (socket as unknown as { readonly _handle: Handle })._handle;
    return handle.setBlocking?.(true) === 0;
  } catch {
    return false; // It is no pipe, or this Deno does not know how.
  }
}
