import { shareEventLoop, startTimeout } from "../../io.ts";
import type { Silences } from "./silences.ts";

/** The size of the read buffer, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** An event stream whose headers have arrived. */
export interface OpenStream {
  readonly chunks: AsyncGenerator<Uint8Array>;
  /** Closes the connection, unless everything was read. A pending read fails. */
  drop(): void;
}

/**
 * The bytes of an answer's body as they arrive. Each chunk is valid until the next one
 * is requested. Leaving the generator drops the rest. An abort ends the body here, and
 * not only through `fetch`: the link from the signal of a `fetch` to its body can be
 * garbage-collected.
 *
 * @param signal Belongs to this answer: a listener stays on it.
 * @param silences Begins and ends one with each wait for the body.
 * @throws The signal's reason, if it is aborted.
 */
export function readBody(
  response: Pick<Response, "body">,
  signal: AbortSignal,
  silences?: Silences,
): AsyncGenerator<Uint8Array> {
  const reader = (response.body ?? new Blob().stream())
    .getReader({ mode: "byob" });
  // It rejects if the body has failed, which the read below reports.
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  return (async function* () {
    // Without a buffer, fetch allocates 64 KiB for each chunk, however small.
    let buffer = new Uint8Array(BUFFER_BYTES);
    try {
      for (;;) {
        silences?.begin();
        const { done, value } = await reader.read(buffer);
        silences?.end();
        signal.throwIfAborted();
        if (done) return;
        const turn = shareEventLoop();
        if (turn !== undefined) await turn;
        yield value;
        buffer = new Uint8Array(value.buffer);
      }
    } finally {
      silences?.end(); // If the read failed.
      cancel();
    }
  })();
}

/**
 * Reads a body on for at most `limit` milliseconds, and drops the rest, so that a
 * service that is about to end its stream does not see a broken connection.
 */
export async function drainBody(
  { chunks, drop }: OpenStream,
  limit: number,
): Promise<void> {
  const stop = startTimeout(limit, drop);
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The reply has been received: errors after it do not matter.
  }
  stop();
  drop();
}
