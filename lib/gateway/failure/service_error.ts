import {
  type Fate,
  fateInWords,
  fateOf,
  type Operation,
  type Stage,
} from "./fate.ts";

export interface RunIds {
  readonly threadId: string;
  readonly runId: string;
}

export interface FailureParts {
  readonly operation: Operation;
  readonly stage: Stage;
  /** What happened, as a sentence without a full stop. */
  readonly reason: string;
  readonly hasEvents?: boolean;
  /** What to do, as a sentence without a full stop. */
  readonly advice?: string | undefined;
  /** The service's own words, safe to show, if the reason does not have them. */
  readonly detail?: string | undefined;
  /** Why the request is retried, in a few words; not set if the failure is final. */
  readonly retry?: string | undefined;
  /** Whether the service seems not to know the thread any more. */
  readonly isThreadGone?: boolean;
  /** Whether the answer was a JSON object: a proxy that does not know a path sends none. */
  readonly isJson?: boolean;
  readonly status?: number | undefined;
  /** The milliseconds that `Retry-After` asks for, if it does. */
  readonly retryAfter?: number | undefined;
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** A failure, from which {@linkcode wordsOf} makes messages. */
export interface Failure extends FailureParts {
  readonly fate: Fate;
}

/** A remote operation failed. The message is a sentence for a person, without the key. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly failure: Failure;

  constructor(parts: FailureParts, options?: ErrorOptions) {
    const { operation, stage, hasEvents } = parts;
    const failure = { ...parts, fate: fateOf(operation, stage, hasEvents) };
    super(wordsOf(failure, "terminal"), options);
    this.failure = failure;
  }
}

/**
 * A failure in words:
 *
 * - `terminal`: what happened, what became of the prompt, and what to do, each in a
 *   sentence; then the ids of a run that was or may have been started.
 * - `editor`: the same, without ids. A thread is a chat there.
 * - `log`: operation, ids and status, without the service's own words, which
 *   may quote a prompt.
 */
export function wordsOf(
  failure: Failure,
  audience: "terminal" | "editor" | "log",
): string {
  const { operation, status, reason, detail, fate } = failure;
  const isUnknown = fate === "may have run" || fate === "may go on";
  const ids = [
    ["thread", failure.threadId],
    ["run", failure.runId],
    ["request", isUnknown ? failure.requestId : undefined],
  ].filter(([, id]) => id !== undefined);
  if (audience === "log") {
    const about = ids.map(([name, id]) => ` ${name}=${id}`).join("");
    return `${operation}${about}: ${status ?? reason}`;
  }
  const conversation = audience === "editor" ? "chat" : "thread";
  const usual = fate === "not run" ? "Try again later" : "";
  const sentences = [
    detail ? `${reason}: ${detail}` : reason,
    fateInWords(operation, fate),
    failure.isThreadGone
      ? `The ${conversation} may be gone: start a new one`
      : failure.advice || usual,
  ].filter((sentence) => sentence !== "")
    .map((sentence) => sentence.replace(/[^.!?\u3002]$/u, "$&."));
  const hasRun = isUnknown || fate === "failed";
  if (audience === "terminal" && hasRun && ids.length > 0) {
    sentences.push(`(${ids.map((pair) => pair.join(" ")).join(", ")})`);
  }
  return sentences.join(" ");
}
