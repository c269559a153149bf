import { joinSafe, safe } from "../../text.ts";
import type { Failure } from "../failure/failure.ts";
import type { StreamRecord } from "./stream_record.ts";

/** Names of events, in lower case: real services send one of them when a run failed. */
const FAILURES: ReadonlySet<string> = new Set([
  "error",
  "failed",
  "run_failed",
  "run.failed",
  "run_error", // AG-UI
]);

export function isFailureName(name: unknown): boolean {
  return typeof name === "string" && FAILURES.has(name.toLowerCase());
}

/**
 * Why a run cannot be followed any more, from why its stream ended and what it has held:
 * the run has failed, if the service's last words say so.
 *
 * @param isLate Whether the call takes too long: then nobody has heard the end of the run.
 */
export function failureInRun(
  failure: Failure,
  { failure: said, notUnderstood }: StreamRecord,
  isLate: boolean,
): Failure {
  if (failure.stage === "failed") return failure;
  if (said?.isOutdated === false && !isLate) {
    const reason = safe`The run failed`;
    return { stage: "failed", reason, detail: said.words };
  }
  const words = said === undefined
    ? failure.detail
    : safe`the service had said: ${said.words}`;
  const detail = joinSafe([words, notUnderstood?.words], "; ");
  return { ...failure, detail };
}
