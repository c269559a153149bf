/**
 * What the prompt loop needs of its surroundings: prompts come in, and what
 * happens to them is shown. Each implementation is a file of its own.
 *
 * @module
 */

import type { ProgressEvent, Wait } from "../gateway.ts";
import { plainText } from "../plain_text.ts";
import type { ByteSink } from "../standard_streams.ts";

/** What a terminal shows where the user is to type. */
export const PROMPT_SIGN = "> ";

/**
 * What came of asking for a prompt: its text, which may have several lines, one of
 * more than `MAX_LINE_BYTES`, the end of the input, or Ctrl-C.
 */
export type Input =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "too long" }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" };

/** What is known about a failure besides its message. */
export interface FailureDetails {
  /** The remote operation that failed. */
  readonly operation?: string | undefined;
  /** The HTTP status, if the service answered. */
  readonly status?: number | undefined;
}

/** What comes of showing something: a promise if it takes a while. */
export type Shown = void | Promise<void>;

/**
 * Shows what happens to prompts. Nothing more is shown before a promise that one
 * of these returned has resolved.
 */
export interface Display {
  /** Shows a line of the banner, unless told to be quiet. */
  banner(text: string): void;
  /** Says on which thread the prompts run: once, before the first of them. */
  thread(threadId: string): Shown;
  /**
   * Says that something begins that takes a while.
   *
   * @param onInterrupt Called when the user wants it dropped.
   */
  begin(onInterrupt: () => void): void;
  /** Says that a request is repeated after a pause. */
  wait(wait: Wait): void;
  /** Says that the service has started a run. */
  run(runId: string): Shown;
  /** Shows a progress event of a run, unless told to be quiet. */
  progress(event: ProgressEvent): Shown;
  /** Says that what began is over, and whether it came to its end. */
  end(completed: boolean): void;
  /** Writes a reply to standard output. */
  reply(text: string): Promise<void>;
  /** Shows a line that is neither progress nor an error. */
  note(text: string): void;
  /** Shows an error. */
  error(text: string, details?: FailureDetails): Shown;
}

/** A terminal, or what stands in for one. */
export interface Terminal extends Display, Disposable {
  /** Asks for the next prompt. */
  readPrompt(): Promise<Input>;
  /**
   * Takes a Ctrl-C for what has begun, or for the prompt that is asked for.
   *
   * @returns Whether there was either.
   */
  interrupt(): boolean;
}

/** Options of a terminal on standard streams. */
export interface TerminalOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  /** Takes all of a text at once. Progress may be dropped when nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether standard output is a terminal: then replies are made safe to show. */
  readonly stdoutIsTerminal: boolean;
  /** Whether banner and progress are left out. */
  readonly quiet: boolean;
  /** Whether a person types: then it is shown where. */
  readonly promptSign: boolean;
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
