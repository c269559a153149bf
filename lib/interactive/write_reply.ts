import { plainText } from "../text.ts";
import type { ViewOptions } from "./view.ts";

/** The size of one write of a reply to a terminal, in UTF-16 code units. */
const PIECE_LENGTH = 4 * 1024;

/** The same for other outputs, which take large pieces faster. */
const LARGE_PIECE_LENGTH = 128 * 1024;

const RESET = "\x1b[m";

export type ReplyOptions = Pick<
  ViewOptions,
  "stdout" | "cleansReplies" | "hasColour"
>;

/**
 * Writes a reply and a newline to standard output: unchanged, or for a terminal
 * without control characters and with its Markdown styled.
 * Aborting the signal stops the writing: the rest is left out but for a line end.
 */
export async function writeReply(
  { stdout, cleansReplies, hasColour }: ReplyOptions,
  text: string,
  signal?: AbortSignal,
): Promise<void> {
  const encoder = new TextEncoder();
  const write = (text: string) => stdout.write(encoder.encode(text));
  const shown = `${cleansReplies ? plainText(text) : text}\n`;
  const isStyled = hasColour && cleansReplies;
  // Loaded with the first reply: the first prompt does not wait for it.
  const parts = isStyled
    ? (await import("../markdown.ts")).styleMarkdown(shown)
    : [shown];
  const length = cleansReplies ? PIECE_LENGTH : LARGE_PIECE_LENGTH;
  let last = "";
  for (const piece of pieces(parts, length)) {
    if (signal?.aborted) {
      const isInLine = last !== "" && !last.endsWith("\n");
      return await write((isStyled ? RESET : "") + (isInLine ? "\n" : ""));
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
    const piece = text.slice(start, start + length);
    const newline = piece.length < length ? -1 : piece.lastIndexOf("\n");
    const isInPair = (piece.charCodeAt(length - 1) & 0xfc00) === 0xd800;
    const end = newline >= 0 ? newline + 1 : length - (isInPair ? 1 : 0);
    yield piece.slice(0, end);
    start += end;
  }
}
