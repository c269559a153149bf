import { plainText } from "../plain_text.ts";
import type { ByteSink } from "../standard_streams.ts";

/** The size of one write to a terminal, in UTF-16 code units. */
const PIECE_LENGTH = 16 * 1024;

/** Options of {@linkcode writeReply}. */
export interface ReplyOptions {
  readonly stdout: ByteSink;
  /** Whether standard output is a terminal: then the text is made safe to show. */
  readonly stdoutIsTerminal: boolean;
  /** Whether Markdown is styled on a terminal. The default is `false`. */
  readonly colour?: boolean;
}

/**
 * Writes a reply and a newline to standard output: unchanged, or on a terminal without
 * control characters and with its Markdown styled.
 *
 * @throws If standard output cannot be written.
 */
export async function writeReply(
  { stdout, stdoutIsTerminal, colour = false }: ReplyOptions,
  text: string,
): Promise<void> {
  const write = (text: string) => stdout.write(new TextEncoder().encode(text));
  const shown = `${stdoutIsTerminal ? plainText(text) : text}\n`;
  if (!stdoutIsTerminal || !colour) return await write(shown);
  // Loaded with the first reply: the first prompt does not wait for it.
  const { styleMarkdown } = await import("./markdown.ts");
  let piece = "";
  for (const line of styleMarkdown(shown)) {
    piece += line;
    if (piece.length < PIECE_LENGTH) continue;
    await write(piece);
    piece = "";
  }
  await write(piece);
}
