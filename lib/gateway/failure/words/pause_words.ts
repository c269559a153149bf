import { wholeDuration } from "../../../text.ts";
import type { RetryReason } from "../failure.ts";

const SENTENCES: Readonly<Record<RetryReason, string>> = {
  "service busy": "The service is busy",
  "service unreachable": "The service is unreachable",
  "connection refused": "The connection was refused",
  "connection closed": "The connection was closed",
  "connection lost": "The connection was lost",
  "stream ended": "The stream has ended",
  "stream silent": "The stream is silent",
  "too many open files": "Too many files are open",
};

/** A pause before a retry, for a status line: "service busy, again in 6 s". */
export function pauseLabel(reason: RetryReason, milliseconds: number): string {
  return `${reason}, ${againIn(milliseconds)}`;
}

/** The same as a sentence: "The service is busy; again in 6 s". */
export function pauseSentence(
  reason: RetryReason,
  milliseconds: number,
): string {
  return `${SENTENCES[reason]}; ${againIn(milliseconds)}`;
}

function againIn(milliseconds: number): string {
  return `again in ${wholeDuration(milliseconds)}`;
}
