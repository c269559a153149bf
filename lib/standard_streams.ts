/**
 * The standard streams, without web streams around them.
 *
 * @module
 */

/** Where bytes go. The writer of a web stream is one, too. */
export interface ByteSink {
  /** Resolves when all of the bytes are written. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Standard input cannot be read. The message says why. */
export class InputError extends Error {
  override readonly name = "InputError";
}

const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of standard input as they come, each chunk valid until the next one
 * is asked for. The first read begins at once.
 *
 * @throws {InputError} If it cannot be read.
 */
export function readChunks(
  input: { read(buffer: Uint8Array): Promise<number | null> },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  const read = () =>
    input.read(buffer).catch((cause: Error) => {
      throw new InputError(`Cannot read standard input: ${cause.message}`, {
        cause,
      });
    });
  let reading = read();
  reading.catch(() => {}); // who takes the first chunk is told
  return (async function* () {
    for (;;) {
      const length = await reading;
      if (length === null) return;
      yield buffer.subarray(0, length);
      reading = read();
    }
  })();
}

/** Standard output or standard error as a place where bytes go. */
export function sink(
  output: { write(bytes: Uint8Array): Promise<number> },
): ByteSink {
  return {
    async write(bytes) {
      for (let start = 0; start < bytes.length;) {
        start += await output.write(bytes.subarray(start));
      }
    },
  };
}
