import type { Redactor } from "../../text.ts";
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
export function runFailure(words: string, redactor: Redactor): Failure {
  return {
    stage: "failed",
    reason: "The run failed",
    detail: redactor.show(words),
  };
}

/** A failure to follow a run, with what its stream has held, unless the run failed. */
export function failureInRun(
  failure: Failure,
  record: Pick<StreamRecord, "known" | "unknown" | "failure">,
  redactor: Redactor,
): Failure {
  if (failure.stage === "failed") return failure;
  const detail = record.failure === undefined
    ? failure.detail
    : `the service had said: ${redactor.show(record.failure.words)}`;
  const reason = failure.reason + foreignObjects(record);
  return { ...failure, reason, detail };
}

/** A hint if the stream held JSON objects, and none was known. */
function foreignObjects(
  { known, unknown }: Pick<StreamRecord, "known" | "unknown">,
): string {
  if (known > 0 || unknown === 0) return "";
  return unknown === 1
    ? ": its only JSON object is not a known event"
    : `: none of its ${unknown} JSON objects is a known event`;
}
