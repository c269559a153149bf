/**
 * The interface between the prompt loop and its environment, which supplies
 * prompts and shows what happens. Each implementation is a file of its own.
 *
 * @module
 */

import type { CreationEvent, TurnEvent } from "../gateway.ts";
import type { ByteSink } from "../io.ts";

/** The sign before the text that the user types. */
export const PROMPT_SIGN = "> ";

/** The line that a first Ctrl-C at an empty prompt shows. */
export const LEAVE_HINT = "Ctrl-C again leaves";

/**
 * The answer to a request for a prompt: its text, which may have several lines; a
 * prompt that cannot be taken, and why; the end of the input; or Ctrl-C.
 */
export type Input =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" };

/** What happens in the prompt loop, in the order in which it happens. */
export type ViewEvent =
  | CreationEvent
  | TurnEvent
  /** A line of the banner. */
  | { readonly type: "banner"; readonly text: string }
  /** An operation was dropped by the user, or a reply while it was being written. */
  | { readonly type: "dropped"; readonly what: "thread" | "run" | "reply" }
  /** A prompt failed, or the creation of the thread. */
  | {
    readonly type: "error";
    readonly message: string;
    /** The remote operation that failed. */
    readonly operation?: string | undefined;
    /** The HTTP status, if the service answered. */
    readonly status?: number | undefined;
  };

/** Supplies prompts, and shows what happens. */
export interface View extends Disposable {
  /**
   * Shows an event, or ignores it. If it returns a promise, callers wait for it
   * before they show the next one.
   *
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  show(event: ViewEvent): void | Promise<void>;
  /**
   * Asks for the next prompt.
   *
   * @throws {InputError} If standard input cannot be read.
   */
  readPrompt(): Promise<Input>;
  /**
   * An operation begins, which ends with `thread`, `reply`, `dropped` or `error`.
   *
   * @param operation Aborted by the view when the user drops the operation.
   */
  begin?(operation: AbortController): void;
  /**
   * Handles a Ctrl-C.
   *
   * @returns Whether there was anything to drop, to clear or to leave.
   */
  interrupt?(): boolean;
}

/** The standard streams that a view uses, and how it writes to them. */
export interface ViewOptions {
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly stdout: ByteSink;
  /** Writes to standard error; progress may be dropped if nobody reads it. */
  readonly stderr: (text: string, kind?: "progress") => void;
  /** Whether replies are made safe to show. */
  readonly cleansReplies: boolean;
  /** Whether replies and errors are styled. */
  readonly hasColour: boolean;
  /** Whether banner and progress are left out. */
  readonly isQuiet: boolean;
}
