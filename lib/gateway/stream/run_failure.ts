import type { Redactor } from "../../text.ts";
import { ServiceError } from "../failure/service_error.ts";

/** Names of events, in lower case: real services send one of them when a run failed. */
const FAILURES: ReadonlySet<string> = new Set([
  ...["error", "failed", "run_failed", "run.failed"],
  "run_error", // AG-UI
]);

export function isFailureName(name: unknown): boolean {
  return typeof name === "string" && FAILURES.has(name.toLowerCase());
}

export function runFailure(
  words: string,
  redactor: Redactor,
): ServiceError {
  return new ServiceError({
    ...{ operation: "stream run", stage: "failed" },
    reason: "The run failed",
    detail: redactor.show(words),
  });
}

export function failureInRun(
  { failure, cause }: ServiceError,
  { known, unknown, earlierFailure: words }: {
    readonly known: number;
    readonly unknown: number;
    readonly earlierFailure: string | undefined;
  },
  redactor: Redactor,
): ServiceError {
  const foreign = known > 0 || unknown === 0
    ? ""
    : unknown === 1
    ? ": its only JSON object is not a known event"
    : `: none of its ${unknown} JSON objects is a known event`;
  return new ServiceError({
    ...failure,
    hasEvents: known + unknown > 0,
    reason: failure.reason + foreign,
    detail: words === undefined
      ? failure.detail
      : `the service had said: ${redactor.show(words)}`,
  }, { cause });
}
