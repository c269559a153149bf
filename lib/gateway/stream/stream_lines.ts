import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import {
  type Line,
  readWholeLines,
  Turnstile,
  UnreadableLine,
} from "../../io.ts";

/** Ten replies of 15 MB at once, decoded and parsed together, took 1.1 GiB. */
const turnstile = new Turnstile();

/** The most bytes of UTF-8 that a line of a stream may hold, a reply in it: 16 MiB. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Splits a stream into lines at `\n` and `\r\n`. A `TextLineStream` splits it, but for
 * short texts. It gets whole lines only: release 1.1.1 and older scan all of an
 * unfinished line again for each chunk, which is quadratic.
 *
 * Of all streams, one at a time has the text of a large line. (This is no generator: a
 * suspended one would keep that text while its event is shown.)
 */
export class StreamLines {
  readonly #splitter = new Splitter();
  readonly #batches: AsyncGenerator<readonly Line[], Line | undefined>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#batches = readWholeLines(source, {
      maxBytes: MAX_LINE_BYTES,
      turnstile,
    });
  }

  /**
   * The lines that end in the next chunk, without line ends; possibly none. At the end,
   * the last line, if the stream does not end with a line end.
   */
  async next(): Promise<IteratorResult<readonly Line[], Line | undefined>> {
    const batch = await this.#batches.next();
    if (batch.done) return batch;
    const lines: Line[] = [];
    for (const text of batch.value) {
      if (text instanceof UnreadableLine) lines.push(text);
      else await this.#splitter.split(text, lines);
    }
    return { value: lines };
  }

  /** Reads no further. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batches.return(undefined);
  }
}

/**
 * Shorter texts are split without a `TextLineStream`, in UTF-16 code units: awaiting each
 * line takes a tenth of the CPU of a stream in chunks of 64 KiB, and 12 us of the 75 us
 * of an event that comes alone.
 */
const SHORT = 128 * 1024;

class Splitter {
  readonly #input: WritableStreamDefaultWriter<string>;
  readonly #output: ReadableStreamDefaultReader<string>;

  constructor() {
    const { writable, readable } = new TextLineStream();
    this.#input = writable.getWriter();
    this.#output = readable.getReader();
  }

  /** Adds the lines of a text that ends with a line end. */
  async split(text: string, lines: Line[]): Promise<void> {
    if (text.length < SHORT) {
      for (const line of text.split("\n").slice(0, -1)) {
        lines.push(line.endsWith("\r") ? line.slice(0, -1) : line);
      }
      return;
    }

    // If this fails, the read below fails.
    this.#input.write(text).catch(() => {});
    // Counted, because reading one line too many would wait for the next text.
    let end = text.indexOf("\n");
    while (end >= 0) {
      const { value = "" } = await this.#output.read();
      lines.push(value);
      end = text.indexOf("\n", end + 1);
    }
  }
}
