/**
 * What became of a prompt whose remote operation failed: whether it has run, and
 * whether it may be sent again.
 *
 * @module
 */

/** The three remote operations (interface 4.1). */
export type Operation = "create thread" | "create run" | "stream run";

/**
 * What became of the prompt, or of a thread that was to be created. It decides the
 * words of a message, the exit code, and what a script may do next.
 *
 * - `not run`: nothing was started, and asking again may help.
 * - `refused`: nothing was started, and asking again would be refused again.
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

/** The fate of an operation whose request was sent and got no usable answer. */
export const UNKNOWN_FATE: Readonly<Record<Operation, Fate>> = {
  "create thread": "not run",
  "create run": "may have run",
  "stream run": "may go on",
};

/** The fate if the service did not take a request. A run that is followed goes on. */
export function untakenFate(
  operation: Operation,
  fate: "not run" | "refused",
): Fate {
  return operation === "stream run" ? "may go on" : fate;
}

/** The fate of a request that was answered with a status outside 2xx. */
export function fateOfStatus(operation: Operation, status: number): Fate {
  if (operation === "stream run") {
    return status === 404 || status === 410 ? "may have run" : "may go on";
  }
  if (status === 429) return "not run";
  const isUnknown = status < 300 || status >= 500 || status === 408 ||
    status === 425 ||
    status === 499 && operation === "create run";
  return isUnknown ? UNKNOWN_FATE[operation] : "refused";
}

/** The fate of a run whose stream failed with `fate` after a number of events. */
export function fateOfStream(fate: Fate, events: number): Fate {
  // After events of the run, 404 or 410 says that the run has ended.
  return fate === "may have run" && events > 0 ? "failed" : fate;
}

/**
 * The fate in words; empty if there is nothing that the user has to know.
 *
 * @param advice What to do besides, if there is anything.
 */
export function fateInWords(
  { operation, fate }: { readonly operation: Operation; readonly fate: Fate },
  advice: string,
): string {
  switch (fate) {
    case "not run":
      if (operation === "create run") return "the run was not started";
      return advice === "" ? "try again later" : "";
    case "may have run":
      return operation === "create run"
        ? "the run may have started, so it is not tried again"
        : "it may have run";
    case "may go on":
      return "the run may still go on at the service";
    case "refused":
    case "failed":
      return "";
    default:
      return fate satisfies never;
  }
}
