/**
 * Why a run that was started has not completed.
 *
 * @module
 */

import { shownText } from "../../text.ts";
import type { RunIds } from "../http/requests.ts";
import { fateOfStream } from "./fate.ts";
import { ServiceError } from "./service_error.ts";

/** The error of a run that failed, as the service said. */
export function runFailure(
  words: string,
  { threadId, runId }: RunIds,
  apiKey: string,
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
