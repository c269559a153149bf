import type { ByteSink } from "../io.ts";
import { styleMarkdown } from "../markdown.ts";
import { shorten, shown, shownReply, type Unchanged } from "../text.ts";
import type { Terminal } from "./terminal.ts";

/** The size of one write of a reply to a terminal, in UTF-16 code units. */
const PIECE_LENGTH = 4 * 1024;

/** The same for other outputs, which take large pieces faster. */
const LARGE_PIECE_LENGTH = 128 * 1024;

const RESET = "\x1b[m";

export interface ReplyOptions {
  readonly stdout: ByteSink;
  readonly form: Terminal["replies"];
}

/**
 * Writes a reply and a newline to standard output. Aborting the signal stops the writing:
 * the rest is left out but for a newline.
 */
export async function writeReply(
  { stdout, form }: ReplyOptions,
  text: Unchanged,
  signal?: AbortSignal,
): Promise<void> {
  const encoder = new TextEncoder();
  const write = (piece: string) => stdout.write(encoder.encode(piece));
  const isShown = form !== "unchanged";
  const clean = isShown ? shown`${shownReply(text)}\n` : "";
  const parts = form === "styled"
    ? styleMarkdown(clean)
    : [isShown ? clean : `${text}\n`];
  const length = isShown ? PIECE_LENGTH : LARGE_PIECE_LENGTH;
  let last = "";
  for (const piece of pieces(parts, length)) {
    if (signal?.aborted) {
      const isInLine = last !== "" && !last.endsWith("\n");
      const reset = form === "styled" ? RESET : "";
      return await write(reset + (isInLine ? "\n" : ""));
    }
    await write(piece);
    last = piece;
  }
}

/** The parts of a text, joined and cut so that each write has about one size. */
function* pieces(parts: Iterable<string>, length: number): Generator<string> {
  let gathered = "";
  for (const part of parts) {
    gathered += part;
    if (gathered.length < length) continue;
    yield* cut(gathered, length);
    gathered = "";
  }
  yield* cut(gathered, length);
}

/** Cuts a text at line ends, and longer lines between characters. */
function* cut(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    // Searched in a slice: lastIndexOf() would search back to the start of the text.
    const piece = shorten(text.slice(start, start + length + 1), length);
    const newline = start + piece.length === text.length
      ? -1
      : piece.lastIndexOf("\n");
    const cutPiece = newline < 0 ? piece : piece.slice(0, newline + 1);
    yield cutPiece;
    start += cutPiece.length;
  }
}
