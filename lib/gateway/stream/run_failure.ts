import { joinSafe, type Redacted, safe } from "../../text.ts";
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

/** The failure of a run about which the service said so. */
export function runFailure(detail: Redacted): Failure {
  return { stage: "failed", reason: safe`The run failed`, detail };
}

/** A failure to follow a run, with what its stream has held, unless the run failed. */
export function failureInRun(
  failure: Failure,
  record: Pick<StreamRecord, "notUnderstood" | "failure">,
): Failure {
  if (failure.stage === "failed") return failure;
  const said = record.failure === undefined
    ? failure.detail
    : safe`the service had said: ${record.failure.words}`;
  const details = [said, record.notUnderstood?.words];
  const detail = joinSafe(details, "; ");
  return { ...failure, detail };
}
