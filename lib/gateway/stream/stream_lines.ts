import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { type Line, Turnstile, UnreadableLine, WholeLines } from "../../io.ts";

/** The most bytes of UTF-8 that a line of a stream may hold, a reply in it: 16 MiB. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Lines of more bytes are decoded one at a time, of all streams. */
const LARGE_BYTES = 1024 * 1024;

const NOTHING = new Uint8Array();

/** Ten replies of 15 MB at once, decoded and parsed together, took 1.1 GiB. */
const turnstile = new Turnstile();

/**
 * Splits a stream into lines at `\n` and `\r\n`. Of all streams, one at a time has the
 * text of a large line, from when it is decoded until the next lines are requested.
 */
export class StreamLines implements Disposable {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #whole = new WholeLines({ maxBytes: MAX_LINE_BYTES });
  #turn: Disposable | undefined;

  /** @param source The stream, cut anywhere. Disposing of the lines does not close it. */
  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /**
   * The lines that end in the next chunk, without line ends; possibly none. At the end,
   * the last line, if the stream does not end with a line end.
   */
  async next(): Promise<IteratorResult<readonly Line[], Line | undefined>> {
    this[Symbol.dispose]();
    const { done, value: chunk = NOTHING } = await this.#chunks.next();
    if (this.#whole.length + chunk.length > LARGE_BYTES) {
      this.#turn = await turnstile.enter();
    }
    if (done) return { done, value: this.#whole.atEnd() };
    const lines: Line[] = [];
    for (const text of this.#whole.endingIn(chunk)) {
      if (text instanceof UnreadableLine) lines.push(text);
      else if (text.length < SHORT) addLines(text, lines);
      else await addLongLines(text, lines);
    }
    return { value: lines };
  }

  /** Lets other streams have the text of a large line. */
  [Symbol.dispose](): void {
    this.#turn?.[Symbol.dispose]();
    this.#turn = undefined;
  }
}

/**
 * Shorter texts are split without a `TextLineStream`, in UTF-16 code units: awaiting each
 * line takes a tenth of the CPU of a stream in chunks of 64 KiB, and 12 us of the 75 us
 * of an event that comes alone.
 */
const SHORT = 128 * 1024;

/** Adds the lines of a text that ends with a line end. */
function addLines(text: string, lines: Line[]): void {
  for (const line of text.split("\n").slice(0, -1)) {
    lines.push(line.endsWith("\r") ? line.slice(0, -1) : line);
  }
}

/**
 * The same with a `TextLineStream`. It gets whole lines only: release 1.1.1 and older
 * scan all of an unfinished line again for each chunk, which is quadratic.
 */
async function addLongLines(text: string, lines: Line[]): Promise<void> {
  const source = ReadableStream.from([text]);
  for await (const line of source.pipeThrough(new TextLineStream())) {
    lines.push(line);
  }
}
