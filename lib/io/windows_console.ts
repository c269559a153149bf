import type { Buffer } from "node:buffer";
import { pause } from "./timeout.ts";

const NEWLINE = 0x0a;
const CTRL_D = 0x04;
const CTRL_Z = 0x1a;

/** How long after an empty read a Ctrl-C explains it, in milliseconds. */
const INTERRUPTION = 200;

/**
 * Reads a Windows console. Unless each key is sent, Ctrl-Z or Ctrl-D at the start of a
 * line ends the input; an end that Ctrl-C causes is none. Half a character, where a read
 * was cut, becomes bytes that are not UTF-8, so that no prompt is sent without it.
 */
export async function* readConsole(
  open: () => AsyncIterable<Buffer>,
  isRaw: boolean,
): AsyncGenerator<Uint8Array> {
  let isInterrupted = true;
  let isLineStart = true;
  Deno.addSignalListener("SIGINT", () => isInterrupted = true);
  while (isInterrupted) {
    isInterrupted = false;
    for await (const chunk of open()) {
      const end = isRaw ? -1 : endOfInput(chunk, isLineStart);
      markLost(chunk);
      yield end < 0 ? chunk : chunk.subarray(0, end);
      if (end >= 0) return;
      isLineStart = chunk.at(-1) === NEWLINE;
    }
    await pause(INTERRUPTION);
  }
}

/** The index of a Ctrl-D or Ctrl-Z that begins a line; -1 if there is none. */
function endOfInput(chunk: Buffer, isLineStart: boolean): number {
  return chunk.findIndex((byte, i) => {
    const beginsLine = i === 0 ? isLineStart : chunk[i - 1] === NEWLINE;
    return beginsLine && (byte === CTRL_D || byte === CTRL_Z);
  });
}

/** Replaces each U+FFFD, of which half a character was made, by bytes of its length. */
function markLost(chunk: Buffer): void {
  let at = chunk.indexOf("\ufffd");
  while (at >= 0) {
    chunk.fill(0xff, at, at + 3);
    at = chunk.indexOf("\ufffd", at + 3);
  }
}
