/**
 * Where a person types prompts and reads replies: with editing, history and a
 * status line on a terminal, as plain lines elsewhere.
 *
 * @module
 */

import { readLines } from "./lines.ts";
import { plainLine, plainText } from "./plain_text.ts";
import type { ProgressEvent } from "./run_events.ts";

/** What came of asking for a line: its text, the end of the input, or Ctrl-C. */
export type Input =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" };

/** A terminal, or what stands in for one. */
export interface Terminal extends Disposable {
  /** Asks for the next line. */
  readLine(): Promise<Input>;
  /**
   * Says that a run begins.
   *
   * @param onInterrupt Called when the user wants the run dropped.
   */
  beginRun(onInterrupt: () => void): void;
  /** Shows a progress event of the run. */
  progress(event: ProgressEvent): void;
  /** Says that the run is over; erases what was shown of its progress. */
  endRun(): void;
  /** Writes a reply to standard output. */
  reply(text: string): Promise<void>;
  /** Writes a line to standard error. */
  note(text: string): void;
  /** Writes an error to standard error. */
  error(text: string): void;
}

/** The three standard streams. */
export interface StandardStreams {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: WritableStream<Uint8Array>;
  /** Takes all of a text at once. */
  readonly stderr: (text: string) => void;
  /** Whether standard output is a terminal: then replies are made safe to show. */
  readonly stdoutIsTerminal: boolean;
}

/** Lines in, lines out: no prompt sign, no escape codes. */
export class PlainTerminal implements Terminal {
  readonly #streams: StandardStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(streams: StandardStreams) {
    this.#streams = streams;
    this.#lines = readLines(streams.stdin)[Symbol.asyncIterator]();
  }

  async readLine(): Promise<Input> {
    const line = await this.#lines.next();
    return line.done ? { kind: "end" } : { kind: "line", text: line.value };
  }

  beginRun(): void {}

  progress({ node, status }: ProgressEvent): void {
    this.note(`${node}: ${status}`);
  }

  endRun(): void {}

  async reply(text: string): Promise<void> {
    await writeReply(this.#streams, text);
  }

  note(text: string): void {
    this.#streams.stderr(plainLine(text) + "\n");
  }

  error(text: string): void {
    this.note(`Error: ${text}`);
  }

  [Symbol.dispose](): void {}
}

async function writeReply(
  { stdout, stdoutIsTerminal }: StandardStreams,
  text: string,
): Promise<void> {
  const shown = stdoutIsTerminal ? plainText(text) : text;
  const writer = stdout.getWriter();
  try {
    await writer.write(new TextEncoder().encode(shown + "\n"));
  } finally {
    writer.releaseLock();
  }
}
