/**
 * Where a person types prompts and reads replies: with editing, history and a
 * status line on a terminal, as plain lines elsewhere.
 *
 * @module
 */

import { readInputLines } from "../input_lines.ts";
import { plainLine, plainText } from "../plain_text.ts";
import type { ProgressEvent } from "../gateway.ts";
import type { ByteSink } from "../standard_streams.ts";

/** What a terminal shows where the user is to type. */
export const PROMPT_SIGN = "> ";

/**
 * What came of asking for a line: its text, a line of more than
 * `MAX_LINE_BYTES`, the end of the input, or Ctrl-C.
 */
export type Input =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too long" }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" };

/** A terminal, or what stands in for one. */
export interface Terminal extends Disposable {
  /** Asks for the next line. */
  readLine(): Promise<Input>;
  /**
   * Says that something begins that takes a while.
   *
   * @param onInterrupt Called when the user wants it dropped.
   */
  begin(onInterrupt: () => void): void;
  /** Shows a progress event of a run, unless told to be quiet. */
  progress(event: ProgressEvent): void;
  /** Says that what began is over, and whether it came to its end. */
  end(completed: boolean): void;
  /** Writes a reply to standard output. */
  reply(text: string): Promise<void>;
  /** Writes a line of the banner to standard error, unless told to be quiet. */
  banner(text: string): void;
  /** Writes a line to standard error. */
  note(text: string): void;
  /** Writes an error to standard error. */
  error(text: string): void;
  /**
   * Takes a Ctrl-C for what has begun, or for the line that is asked for.
   *
   * @returns Whether there was either.
   */
  interrupt(): boolean;
}

/** Options of a {@linkcode Terminal}. */
export interface TerminalOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether standard output is a terminal: then replies are made safe to show. */
  readonly stdoutIsTerminal: boolean;
  /** Whether banner and progress are left out. */
  readonly quiet: boolean;
  /** Whether a person types: then it is shown where. */
  readonly promptSign: boolean;
}

/** Lines in, lines out, without escape codes. */
export class PlainTerminal implements Terminal {
  readonly #options: TerminalOptions;
  readonly #lines: AsyncIterator<string | undefined>;
  #onInterrupt: (() => void) | undefined;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#lines = readInputLines(options.stdin);
  }

  async readLine(): Promise<Input> {
    const { promptSign, stderr } = this.#options;
    if (promptSign) stderr(PROMPT_SIGN);
    const { promise, resolve } = Promise.withResolvers<Input>();
    this.#onInterrupt = () => resolve({ kind: "interrupt" });
    const next = this.#lines.next().then(({ done, value }): Input => {
      if (done) return { kind: "end" };
      return value === undefined
        ? { kind: "too long" }
        : { kind: "line", text: value };
    });
    const input = await Promise.race([next, promise]);
    this.#onInterrupt = undefined;
    const isLeft = input.kind === "end" || input.kind === "interrupt";
    if (promptSign && isLeft) stderr("\n");
    return input;
  }

  begin(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
  }

  progress({ node, status }: ProgressEvent): void {
    if (this.#options.quiet) return;
    this.#options.stderr(plainLine(`${node}: ${status}`) + "\n", "progress");
  }

  end(): void {
    this.#onInterrupt = undefined;
  }

  async reply(text: string): Promise<void> {
    await writeReply(this.#options, text);
  }

  banner(text: string): void {
    if (!this.#options.quiet) this.note(text);
  }

  note(text: string): void {
    this.#options.stderr(plainLine(text) + "\n");
  }

  error(text: string): void {
    this.note(`Error: ${text}`);
  }

  interrupt(): boolean {
    this.#onInterrupt?.();
    return this.#onInterrupt !== undefined;
  }

  [Symbol.dispose](): void {}
}

/** Writes a reply and a newline to standard output. */
export async function writeReply(
  { stdout, stdoutIsTerminal }: Pick<
    TerminalOptions,
    "stdout" | "stdoutIsTerminal"
  >,
  text: string,
): Promise<void> {
  const shown = stdoutIsTerminal ? plainText(text) : text;
  await stdout.write(new TextEncoder().encode(shown + "\n"));
}
