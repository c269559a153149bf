/**
 * The standard streams, without web streams: loading those would take most of the
 * time in which an editor gets its first answer.
 *
 * @module
 */

import { shareEventLoop } from "./event_loop.ts";
import { pause } from "./timeout.ts";
import { readConsole } from "./windows_console.ts";

/** A destination for bytes. The writer of a web stream is one too. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** Standard input or standard output cannot be used. The message says why. */
export class StreamError extends Error {
  override readonly name = "StreamError";
}

function streamError(
  what: "read standard input" | "write standard output",
  cause: unknown,
): StreamError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StreamError(`Cannot ${what}: ${why}`, { cause });
}

const CHUNK_BYTES = 64 * 1024;

/** The longest pause before a stream that would block is tried again, in milliseconds. */
const MAX_DELAY = 32;

type StreamName = "stdin" | "stdout" | "stderr";

/**
 * What a standard stream is: a terminal, which sends each key or obeys escape codes; a
 * pipe to one, which takes lines; or anything else.
 */
export type StreamKind = "terminal" | "lines" | "data";

/** Whether a person is there. After a terminal has gone away, nobody is. */
export function isShown(name: StreamName): boolean {
  return Deno[name].isTerminal();
}

/**
 * Finds out by trying what a stream is: on Windows, `isTerminal()` is true for the pipes
 * of mintty (Git Bash), too. There, it also switches the escape codes of a console on.
 */
export async function kindOf(name: StreamName): Promise<StreamKind> {
  if (!isShown(name)) return "data";
  try {
    if (name === "stdin") {
      Deno.stdin.setRaw(true);
      Deno.stdin.setRaw(false);
    } else if (Deno.build.os === "windows") {
      const { WriteStream } = await import("node:tty");
      new WriteStream(name === "stdout" ? 1 : 2);
    }
    return "terminal";
  } catch {
    return "lines";
  }
}

/**
 * {@linkcode readChunks} of this process's standard input.
 *
 * @param isRaw Whether a terminal sends each key, and no lines.
 */
export function readStandardInput(isRaw = false): AsyncIterable<Uint8Array> {
  return Deno.build.os === "windows" && isShown("stdin")
    ? readWindowsConsole(isRaw)
    : readChunks(Deno.stdin);
}

/**
 * Reads a stream in chunks as they come, each valid until the next is requested. The
 * first read begins at once. A stream that would block is read again after a pause.
 *
 * @throws {StreamError} If it cannot be read.
 */
export function readChunks(
  input: { read(buffer: Uint8Array): Promise<number | null> },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  const read = () =>
    whenReady(() => input.read(buffer)).catch((cause) => {
      throw streamError("read standard input", cause);
    });
  let reading = read();
  reading.catch(() => {}); // The reader of the first chunk receives the error.
  return (async function* () {
    for (;;) {
      const length = await reading;
      if (length === null) return;
      await shareEventLoop();
      yield buffer.subarray(0, length);
      reading = read();
    }
  })();
}

/**
 * Reads the console through `node:tty`: `Deno.stdin` decodes in the console's code page
 * and loses all other characters (denoland/deno#18240).
 */
async function* readWindowsConsole(isRaw: boolean): AsyncGenerator<Uint8Array> {
  const givesLines = !isRaw && await kindOf("stdin") === "lines";
  if (givesLines) return yield* readChunks(Deno.stdin);
  const { ReadStream } = await import("node:tty");
  try {
    yield* readConsole(() => new ReadStream(0), isRaw);
  } catch (cause) {
    throw streamError("read standard input", cause);
  }
}

interface Output {
  write(bytes: Uint8Array): Promise<number>;
}

const NEWLINE = 0x0a;

/**
 * The largest write that a pipe accepts as a whole or not at all (`PIPE_BUF`), in bytes.
 */
const ATOMIC_BYTES = Deno.build.os === "linux" ? 4096 : 512;

/** The number of lines or pieces after which a way around the buffer is looked for. */
const MANY_PIECES = 256;

/** The buffer of Rust's `LineWriter`, through which Deno writes, in bytes. */
const LINE_BUFFER_BYTES = 1024;

interface OutputSinkOptions {
  readonly isTerminal?: boolean;
  /** Finds another sink for the same output that accepts any pieces. */
  readonly findDirectSink?: () => Promise<ByteSink | undefined>;
}

/**
 * Makes standard output a sink. If the stream is non-blocking, writes wait for room. If
 * the reader has closed its end, a write rejects with Deno's error, for which
 * {@linkcode isReaderGone} is true; any other failure is a {@linkcode StreamError}.
 *
 * Whole lines take ten times as long through `Deno.stdout` as they should (see
 * {@linkcode writeInPieces}), so many of them go through a direct sink if there is one.
 */
export function outputSink(
  output: Output = Deno.stdout,
  {
    isTerminal = isShown("stdout"),
    findDirectSink = isTerminal ? standardErrorSink : blockingSink,
  }: OutputSinkOptions = {},
): ByteSink {
  let pieces = 0;
  let direct: Promise<ByteSink | undefined> | undefined;
  const write = async (bytes: Uint8Array) => {
    if (pieces > MANY_PIECES) direct ??= findDirectSink();
    const sink = await direct;
    if (sink !== undefined) return await sink.write(bytes);

    const lines = await writeInPieces(output, bytes, isTerminal);
    // On a pipe, the check costs more than a small write.
    if (isTerminal || bytes.length >= CHUNK_BYTES) pieces += lines;
  };
  return {
    write: (bytes) =>
      write(bytes).catch((cause) => {
        if (isReaderGone(cause)) throw cause;
        throw streamError("write standard output", cause);
      }),
  };
}

/**
 * Writes to `Deno.stdout`, which writes to Rust's `LineWriter` and flushes it. If the
 * flush would block, it throws and does not say how many bytes were written. So bytes
 * are written in pieces of which nothing is written if a flush throws: whole lines that
 * a pipe accepts atomically, a single newline on a terminal, or bytes without a newline,
 * which bypass the buffer, or fit into it if they are few.
 *
 * @returns The number of pieces that were whole lines.
 */
async function writeInPieces(
  output: Output,
  bytes: Uint8Array,
  isTerminal: boolean,
): Promise<number> {
  const atomicBytes = isTerminal ? 1 : ATOMIC_BYTES;
  const flush = () => output.write(new Uint8Array());
  let lines = 0;
  for (let start = 0; start < bytes.length;) {
    const end = endOfPiece(bytes, start, atomicBytes);
    const piece = bytes.subarray(start, end);
    const isLines = piece.at(-1) === NEWLINE;
    if (!isLines && piece.length < LINE_BUFFER_BYTES) {
      start = end;
      await output.write(piece).catch(async (error) => {
        if (!wouldBlock(error)) throw error;
        await whenReady(flush);
      });
    } else {
      start += await whenReady(() => output.write(piece));
      if (isLines) lines++;
    }
  }
  return lines;
}

/** After whole lines of at most `atomicBytes`, else before the next newline. */
function endOfPiece(
  bytes: Uint8Array,
  start: number,
  atomicBytes: number,
): number {
  const lines = bytes.subarray(start, start + atomicBytes);
  const lastNewline = lines.lastIndexOf(NEWLINE);
  if (lastNewline >= 0) return start + lastNewline + 1;
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 ? bytes.length : newline;
}

/** Kept, because a garbage-collected handle would close standard output. */
let handle: { setBlocking?(isBlocking: boolean): number };

/**
 * Makes a standard output that is a pipe or a Unix socket blocking, for all processes
 * that share it, and returns a sink that relies on it. Deno 2.6 cannot do it.
 */
async function blockingSink(): Promise<ByteSink | undefined> {
  const sink = errorSink(Deno.stdout);
  if (Deno.build.os === "windows") return sink; // It always is.
  try {
    const { Socket } = await import("node:net");
    const socket = new Socket({ fd: 1, readable: false, writable: true });
    handle = (socket as unknown as { _handle: typeof handle })._handle;
    return handle.setBlocking?.(true) === 0 ? sink : undefined;
  } catch {
    return undefined; // It is a file.
  }
}

/** Standard error if it is the terminal of standard output: Deno does not buffer it. */
async function standardErrorSink(): Promise<ByteSink | undefined> {
  if (Deno.build.os === "windows" || !isShown("stderr")) return undefined;
  const { fstatSync } = await import("node:fs");
  return fstatSync(1).rdev === fstatSync(2).rdev ? errorSink() : undefined;
}

/**
 * Makes standard error a sink. Other outputs that never block work, too: `write()` of
 * both says how many bytes were written.
 */
export function errorSink(output: Output = Deno.stderr): ByteSink {
  return {
    async write(bytes) {
      for (let start = 0; start < bytes.length;) {
        start += await whenReady(() => output.write(bytes.subarray(start)));
      }
    },
  };
}

/**
 * Whether a write failed because the reader is gone: a broken pipe or a reset
 * connection. (Windows error 233 is a plain `Error` with the code `EPIPE`.)
 */
export function isReaderGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionReset ||
    code === "EPIPE" || code === "ECONNRESET";
}

/**
 * Repeats a read or a write that fails with `WouldBlock`, as on a stream that another
 * process made non-blocking: a parent on Node.js, or any program on the same terminal.
 * Deno cannot poll a standard stream, so it pauses 1, 2, 4, ... ms.
 */
async function whenReady<T>(transfer: () => Promise<T>): Promise<T> {
  for (let delay = 1;; delay = Math.min(2 * delay, MAX_DELAY)) {
    try {
      return await transfer();
    } catch (error) {
      if (!wouldBlock(error)) throw error;
    }
    await pause(delay);
  }
}

function wouldBlock(error: unknown): boolean {
  return error instanceof Deno.errors.WouldBlock;
}
