// What supplies prompts and shows what happens: each implementation is a file of its own.

import type { CreationEvent, ServiceError, TurnEvent } from "../gateway.ts";
import type { Input } from "../io.ts";
import type { Redacted, ServiceId } from "../text.ts";

/** What happens in the prompt loop, in the order in which it happens. */
export type ViewEvent =
  | CreationEvent
  | TurnEvent
  | { readonly type: "banner"; readonly text: Redacted }
  | { readonly type: "begin" }
  /** The operation has ended. Its `thread`, `reply`, `dropped` or `error` follows. */
  | {
    readonly type: "end";
    readonly completed: boolean;
    /** How long a run took, in milliseconds; none if there was no run. */
    readonly total?: number | undefined;
  }
  | Dropped
  /** A prompt failed, or the creation of the thread. */
  | {
    readonly type: "error";
    readonly message: Redacted;
    /** The failure of a remote operation; none for a prompt that cannot be taken. */
    readonly failure?: ServiceError | undefined;
  }
  /** Ctrl-C at an empty prompt: the first of two that leave, or one without effect. */
  | { readonly type: "ctrl-c"; readonly isFirst: boolean }
  /** The program leaves. The view shows nothing after this. */
  | {
    readonly type: "farewell";
    /** The thread to continue another time; `undefined` if it has no run. */
    readonly threadId: ServiceId | undefined;
  };

/** The user dropped an operation, or a reply while it was being written. */
export interface Dropped {
  readonly type: "dropped";
  /** A `prompt` did not run, an `unanswered prompt` may have; a `run` may go on. */
  readonly what: "thread" | "prompt" | "unanswered prompt" | "run" | "reply";
  /** The number of waiting prompts that were dropped with it. */
  readonly prompts: number;
}

/** The events that say how far an operation is. */
export type Step = Extract<
  ViewEvent,
  { readonly type: "begin" | "run" | "wait" | "progress" | "end" }
>;

/** Supplies prompts, and shows what happens. */
export interface View {
  /** Rejects when standard output cannot be written, if {@linkcode show} does not. */
  readonly failed?: Promise<never>;
  /** What a person types; `undefined` if nobody types the prompts. */
  readonly typing?: Typing | undefined;
  /**
   * Asks for the next prompt.
   *
   * @throws {StreamError} If standard input cannot be read.
   */
  readPrompt(): Promise<Input>;
  /**
   * Shows an event, or ignores it. If it returns a promise, callers wait for it
   * before they show the next one.
   *
   * @param signal Aborted if the rest of a reply is not to be written.
   * @throws Whatever standard output rejects with: see `isReaderGone()`.
   */
  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void>;
}

/** What a person has typed: the prompts that wait, and the text at the prompt. */
export interface Typing {
  dropWaiting(): number;
  /** Clears the text at the prompt, and returns whether there was any. */
  clear?(): boolean;
  /** Returns whether the terminal takes what is written, which may take a moment. */
  takesOutput?(): Promise<boolean>;
}
