export type Operation = "create thread" | "create run" | "stream run";

/**
 * How far a request got that failed:
 *
 * - `not sent`: no connection was made, so nothing was sent.
 * - `not taken`: the service certainly did not accept it.
 * - `refused`: the same, and it would be refused again.
 * - `open`: it may have been accepted.
 * - `unknown run`: the service knows no such run.
 * - `failed`: the service said that the run failed.
 */
export type Stage =
  | ("not sent" | "not taken" | "refused")
  | ("open" | "unknown run" | "failed");

/**
 * What became of the prompt, or of a thread that was to be created. It decides the
 * words of a message, the exit code, and what a script may do next.
 *
 * - `not run`: nothing was started, and a retry may help.
 * - `refused`: nothing was started, and a retry would be refused again.
 * - `may have run`: it is unknown whether the run was started.
 * - `may go on`: the run was started, and could not be followed to its end.
 * - `failed`: the run has ended, and the service says so.
 */
export type Fate =
  | "not run"
  | "refused"
  | "may have run"
  | "may go on"
  | "failed";

/**
 * The fate of a prompt, or of a thread: it follows from the operation that failed, how
 * far its request got, and whether events of the run came before.
 */
export function fateOf(
  operation: Operation,
  stage: Stage,
  hasEvents = false,
): Fate {
  switch (stage) {
    case "failed":
      return "failed";
    case "unknown run":
      // After events of the run, the service says that it has ended.
      return hasEvents ? "failed" : "may have run";
    case "refused":
    case "not sent":
    case "not taken":
      if (operation === "stream run") return "may go on";
      return stage === "refused" ? "refused" : "not run";
    case "open":
      if (operation === "stream run") return "may go on";
      return operation === "create run" ? "may have run" : "not run";
    default:
      return stage satisfies never;
  }
}

/** How far a request got that was answered with a status outside 2xx. */
export function stageOfStatus(operation: Operation, status: number): Stage {
  if (operation === "stream run") {
    return status === 404 || status === 410 ? "unknown run" : "open";
  }
  if (status === 429) return "not taken";
  const isOpen = status < 300 || status >= 500 || status === 408 ||
    status === 425 ||
    status === 499 && operation === "create run";
  return isOpen ? "open" : "refused";
}

/** What became of the prompt, in a sentence; empty if users need not know it. */
export function fateInWords(operation: Operation, fate: Fate): string {
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
