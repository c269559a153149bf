import { type Redacted, safe } from "../../text.ts";

export type RemoteOperation = "create thread" | "create run" | "stream run";

/**
 * What is known of a request:
 *
 * - `not sent`: no connection was made, so nothing was sent.
 * - `not taken`: the service certainly did not accept it.
 * - `refused`: the same, and it would be refused again.
 * - `perhaps taken`: it may have been accepted.
 * - `unknown run`: the service knows no such run.
 * - `failed`: the service said that the run failed.
 */
export type Stage =
  | "not sent"
  | "not taken"
  | "refused"
  | "perhaps taken"
  | "unknown run"
  | "failed";

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

/** The fate that follows from what is known of the last request of a call. */
export function fateOf(
  operation: RemoteOperation,
  stage: Stage,
  hasEvents: boolean,
): Fate {
  if (operation === "stream run") return fateOfRun(stage, hasEvents);
  switch (stage) {
    case "not sent":
    case "not taken":
      return "not run";
    case "refused":
      return "refused";
    case "perhaps taken":
      // A thread that nobody uses does no harm.
      return operation === "create run" ? "may have run" : "not run";
    case "unknown run":
      return "may have run";
    case "failed":
      return "failed";
    default:
      return stage satisfies never;
  }
}

/** The fate of a run that the service has started. */
function fateOfRun(stage: Stage, hasEvents: boolean): Fate {
  if (stage === "failed") return "failed";
  if (stage !== "unknown run") return "may go on";
  // After events of the run, the service says that it has ended.
  return hasEvents ? "failed" : "may have run";
}

/** What is known of a request that was answered with a status outside 2xx. */
export function stageOfStatus(
  operation: RemoteOperation,
  status: number,
): Stage {
  if (operation === "stream run") {
    return status === 404 || status === 410 ? "unknown run" : "perhaps taken";
  }
  if (status === 429) return "not taken";
  const isUnclear = status < 300 || status >= 500 || status === 408 ||
    status === 425 ||
    status === 499 && operation === "create run";
  return isUnclear ? "perhaps taken" : "refused";
}

/** What became of the prompt, in a sentence; empty if users need not know it. */
export function fateInWords(operation: RemoteOperation, fate: Fate): Redacted {
  switch (fate) {
    case "not run":
      return operation === "create run" ? safe`The prompt did not run` : "";
    case "may have run":
      return operation === "create run"
        ? safe`The run may have started, so the prompt was not retried`
        : safe`The prompt may have run`;
    case "may go on":
      return safe`The run may still continue`;
    case "refused":
    case "failed":
      return "";
    default:
      return fate satisfies never;
  }
}
