import type { Failure } from "../gateway.ts";

/** How prompts ended. */
export type Ending =
  /** All runs were completed. */
  | { readonly kind: "done" }
  /** A prompt failed. Without a `failure`, it was dropped or could not be taken. */
  | { readonly kind: "failed"; readonly failure: Failure | undefined }
  /** No thread could be created. */
  | { readonly kind: "not started"; readonly failure: Failure }
  /** The user left with Ctrl-C. */
  | { readonly kind: "interrupted" };

/**
 * The exit code (docs/command-line.md has the table). The fate of the prompt sets it,
 * unless a person types prompts and so has seen the error.
 */
export function exitCode(ending: Ending, isTyped: boolean): number {
  switch (ending.kind) {
    case "done":
      return 0;
    case "failed":
      return isTyped ? 0 : failureCode(ending.failure);
    case "not started":
      return isTyped ? 1 : failureCode(ending.failure);
    case "interrupted":
      return 130;
    default:
      return ending satisfies never;
  }
}

/** What a script may do next. */
function failureCode(failure: Failure | undefined): number {
  const { fate, status } = failure ?? {};
  switch (fate) {
    case "not run":
      return 3;
    case "refused":
      return status === 401 || status === 403 ? 4 : 1;
    case "may have run":
    case "may go on":
      return 5;
    case "failed":
    case undefined:
      return 1;
    default:
      return fate satisfies never;
  }
}
