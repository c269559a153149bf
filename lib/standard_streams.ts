/**
 * The standard streams, without web streams around them: loading those would
 * take most of the time in which an editor gets its first answer.
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

/** Standard output cannot be written. The message says why. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

const CHUNK_BYTES = 64 * 1024;

/** The longest wait for a stream that would block, in milliseconds. */
const MAX_DELAY = 32;

/**
 * Reads this process's standard input as UTF-8. The first read begins at once.
 *
 * @returns The bytes as they come, each chunk valid until the next is requested.
 * @throws {InputError} If it cannot be read.
 */
export function readStandardInput(): AsyncIterable<Uint8Array> {
  return Deno.build.os === "windows" && Deno.stdin.isTerminal()
    ? readWindowsConsole()
    : readChunks(Deno.stdin);
}

/**
 * Reads a stream in chunks. The first read begins at once.
 *
 * @param input The stream. One that would block is read again after a wait.
 * @returns The bytes as they come, each chunk valid until the next is requested.
 * @throws {InputError} If it cannot be read.
 */
export function readChunks(
  input: { read(buffer: Uint8Array): Promise<number | null> },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  const read = () =>
    whenReady(() => input.read(buffer)).catch((cause) => {
      throw inputError(cause);
    });
  let reading = read();
  reading.catch(() => {}); // The consumer of the first chunk receives the error.
  return (async function* () {
    for (;;) {
      const length = await reading;
      if (length === null) return;
      yield buffer.subarray(0, length);
      reading = read();
    }
  })();
}

/**
 * Reads the console through `node:process`: `Deno.stdin` decodes in the
 * console's code page and loses what is not in it (denoland/deno#18240).
 */
async function* readWindowsConsole(): AsyncGenerator<Uint8Array> {
  const { default: process } = await import("node:process");
  try {
    for await (const chunk of process.stdin) yield chunk;
  } catch (cause) {
    throw inputError(cause);
  }
}

function inputError(cause: unknown): InputError {
  return new InputError(`Cannot read standard input: ${messageOf(cause)}`, {
    cause,
  });
}

/**
 * Makes standard output or standard error a sink.
 *
 * @param output The stream. One that would block is written again after a wait.
 * @returns A sink. Its `write` rejects with the stream's own error if nobody
 * reads the stream any more ({@linkcode isReaderGone}), else with an
 * {@linkcode OutputError}.
 */
export function sink(
  output: { write(bytes: Uint8Array): Promise<number> },
): ByteSink {
  return {
    async write(bytes) {
      try {
        for (let start = 0; start < bytes.length;) {
          start += await whenReady(() => output.write(bytes.subarray(start)));
        }
      } catch (cause) {
        if (isReaderGone(cause)) throw cause;
        throw new OutputError(
          `Cannot write standard output: ${messageOf(cause)}`,
          { cause },
        );
      }
    },
  };
}

/**
 * Tells whether a write failed because nobody reads the stream any more: a
 * broken pipe or a reset connection.
 *
 * Decided by the error's code as well as its class: Windows error 233 ("no
 * process is on the other end of the pipe") is an `Error` with the code `EPIPE`.
 */
export function isReaderGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionReset ||
    code === "EPIPE" || code === "ECONNRESET";
}

/**
 * Repeats a read or a write until the stream does not refuse it with
 * `WouldBlock`, as a stream does that another process made non-blocking: a
 * parent on Node.js, or any program on the same terminal. Deno cannot poll a
 * standard stream, so it waits 1, 2, 4, ... up to {@linkcode MAX_DELAY} ms.
 */
async function whenReady<T>(transfer: () => Promise<T>): Promise<T> {
  for (let delay = 1;; delay = Math.min(2 * delay, MAX_DELAY)) {
    try {
      return await transfer();
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
