/**
 * The errors of a run: one that failed, as the service said, and one that cannot be
 * followed to its end.
 *
 * @module
 */

import { shownText } from "../../text.ts";
import type { RunIds } from "../http/requests.ts";
import { fateOfStream } from "./fate.ts";
import { ServiceError } from "./service_error.ts";

/** Names of events, in lower case: real services send one of them when a run failed. */
const FAILURES: ReadonlySet<string> = new Set([
  ...["error", "failed", "run_failed", "run.failed"],
  "run_error", // AG-UI
]);

/** Whether the name of an event says that the run failed. */
export function isFailureName(name: unknown): boolean {
  return typeof name === "string" && FAILURES.has(name.toLowerCase());
}

/** The error of a run that failed, as the service said. */
export function runFailure(
  words: string,
  { threadId, runId, apiKey }: RunIds & { readonly apiKey: string },
): ServiceError {
  const detail = shownText(words, { apiKey });
  return new ServiceError({
    operation: "stream run",
    reason: "the run failed",
    ...{ detail, fate: "failed", threadId, runId },
  });
}

/**
 * The final error of a run that cannot be followed, with the ids of thread and run.
 *
 * @param events The numbers of events that came before it.
 */
export function failureInRun(
  { failure, cause }: ServiceError,
  { threadId, runId }: RunIds,
  events: { readonly known: number; readonly unknown: number },
): ServiceError {
  const { known, unknown } = events;
  const objects = unknown === 1 ? "JSON object" : "JSON objects";
  const foreign = known === 0 && unknown > 0
    ? `; ${unknown} ${objects} came, and none is an event that this client knows`
    : "";
  return new ServiceError({
    ...failure,
    fate: fateOfStream(failure.fate, known + unknown),
    reason: failure.reason + foreign,
    ...{ threadId, runId },
  }, { cause });
}
