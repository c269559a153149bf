import type { Fate, RemoteOperation } from "../fate.ts";

/** What became of the prompt, in a sentence; empty if users need not know it. */
export function fateInWords(operation: RemoteOperation, fate: Fate): string {
  switch (fate) {
    case "not run":
      return operation === "create run" ? "The prompt did not run" : "";
    case "may have run":
      return operation === "create run"
        ? "The run may have started, so the prompt was not retried"
        : "The prompt may have run";
    case "may go on":
      return "The run may still continue";
    case "refused":
    case "failed":
      return "";
    default:
      return fate satisfies never;
  }
}
