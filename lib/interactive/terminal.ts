/**
 * The interface between the prompt loop and its environment, which supplies
 * prompts and shows their events. Each implementation is a file of its own.
 *
 * @module
 */

import type { ProgressEvent, Wait } from "../gateway.ts";
import type { ByteSink } from "../standard_streams.ts";

/** The sign before the text that the user types. */
export const PROMPT_SIGN = "> ";

/**
 * The answer to a request for a prompt: its text, which may have several lines; a
 * prompt longer than `MAX_LINE_BYTES`; the end of the input; or Ctrl-C.
 */
export type Input =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "too long" }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" };

/** Details of a failure. */
export interface FailureDetails {
  /** The remote operation that failed. */
  readonly operation?: string | undefined;
  /** The HTTP status, if the service answered. */
  readonly status?: number | undefined;
}

/** The result of showing something: a promise if it is not finished yet. */
export type Shown = void | Promise<void>;

/**
 * Shows the events of prompts. After a method returned a promise, callers wait
 * for it before they show anything else.
 */
export interface Display {
  /** Shows a line of the banner, unless quiet. */
  banner(text: string): void;
  /** Shows the thread of the prompts. Called once, before the first prompt. */
  thread(threadId: string): Shown;
  /**
   * Shows that a longer operation begins.
   *
   * @param onInterrupt Called when the user drops the operation.
   */
  begin(onInterrupt: () => void): void;
  /** Shows that a request is retried after a pause. */
  wait(wait: Wait): void;
  /** Shows that the service has started a run. */
  run(runId: string): Shown;
  /** Shows a progress event of a run, unless quiet. */
  progress(event: ProgressEvent): Shown;
  /** Shows that the operation ended, and whether it completed. */
  end(completed: boolean): void;
  /** Writes a reply to standard output. */
  reply(text: string): Promise<void>;
  /** Shows a line that is neither progress nor an error. */
  note(text: string): void;
  /** Shows an error. */
  error(text: string, details?: FailureDetails): Shown;
}

/** A terminal or a replacement for one. */
export interface Terminal extends Display, Disposable {
  /** Asks for the next prompt. */
  readPrompt(): Promise<Input>;
  /**
   * Handles a Ctrl-C: drops the current operation or ends the request for a prompt.
   *
   * @returns Whether there was either.
   */
  interrupt(): boolean;
}

/** Options of a terminal on standard streams. */
export interface TerminalOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether standard output is a terminal: then replies are made safe to show. */
  readonly stdoutIsTerminal: boolean;
  /** Whether text may be styled. The default is `false`. */
  readonly colour?: boolean;
  /** Whether banner and progress are left out. */
  readonly quiet: boolean;
  /** Whether a person types: then a sign shows where. */
  readonly promptSign: boolean;
}
