import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { type Line, WholeLines } from "../../io.ts";

/** The most bytes of UTF-8 in a line of a stream, and so in a reply: 16 MiB. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Splits a stream into lines at `\n` and `\r\n`. */
export class StreamLines {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #whole = new WholeLines({ maxBytes: MAX_LINE_BYTES });
  readonly #text: WritableStreamDefaultWriter<string>;
  readonly #lines: ReadableStreamDefaultReader<string>;

  /** @param source The stream, cut anywhere. */
  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
    const splitter = new TextLineStream();
    this.#text = splitter.writable.getWriter();
    this.#lines = splitter.readable.getReader();
  }

  /**
   * Reads chunks until a line has ended, and returns all lines that end in that chunk,
   * without line ends. At the end of the stream, the last line, if it has no line end.
   */
  async next(): Promise<IteratorResult<readonly Line[], Line | undefined>> {
    const lines: Line[] = [];
    while (lines.length === 0) {
      const { done, value: chunk } = await this.#chunks.next();
      if (done) return { done, value: this.#whole.atEnd() };
      for (const text of this.#whole.endingIn(chunk)) {
        if (typeof text !== "string") lines.push(text);
        else await this.#split(text, lines);
      }
    }
    return { value: lines };
  }

  /**
   * Adds the lines of a text that ends with a newline: as many as it has newlines. The
   * splitter gets whole lines only, because `TextLineStream` 1.1.1 and older scan all of
   * an unfinished line again for each chunk, which is quadratic.
   */
  async #split(text: string, lines: Line[]): Promise<void> {
    // The write ends when all of its lines are read, so nothing waits for it here.
    this.#text.write(text).catch(() => {});
    for (let end = text.indexOf("\n"); end >= 0;) {
      const { value } = await this.#lines.read();
      if (value !== undefined) lines.push(value);
      end = text.indexOf("\n", end + 1);
    }
  }
}
