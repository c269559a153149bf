/** Reads, writes, copies and closes connections. @module */

/** Reads exactly so many bytes; fails if the connection ends before. */
export async function readBytes(
  connection: Deno.Conn,
  length: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = await connection.read(bytes.subarray(filled));
    if (count === null) throw new Error("The connection has ended");
    filled += count;
  }
  return bytes;
}

/** Writes all of the bytes: `write()` of a connection may take a part of them. */
export async function writeBytes(
  connection: Deno.Conn,
  bytes: Uint8Array,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += await connection.write(bytes.subarray(written));
  }
}

/** Closes a connection or a listener, if it is open. Pending calls on it fail. */
export function closeQuietly(open: { close(): void } | undefined): void {
  try {
    open?.close();
  } catch {
    // It is closed already.
  }
}
