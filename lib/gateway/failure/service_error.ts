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
  readonly reason: string;
  /** Whether events of the run came before. */
  readonly hasEvents?: boolean;
  readonly advice?: string | undefined;
  /** The service's own words about a status, safe to show; empty if it had none. */
  readonly detail?: string | undefined;
  /** Why the request is sent again, in a few words; not set if the failure is final. */
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
  /** The `X-Request-Id` of the last request. */
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

/** What was tried, in the words of the terminal and of an editor, for which a thread is a chat. */
const ATTEMPTS = {
  terminal: {
    "create thread": "create a thread",
    "create run": "start a run",
    "stream run": "follow the run",
    gone: "the thread may be gone: start a new one",
  },
  editor: {
    "create thread": "start a chat",
    "create run": "start a run",
    "stream run": "follow the run",
    gone: "the chat may be gone: start a new one",
  },
} as const;

/**
 * A failure in words:
 *
 * - `terminal`: what was tried, the reason, what to do, the fate of the prompt, the
 *   service's own words, and the ids of a run that was or may have been started.
 * - `editor`: the same, without ids.
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
  const words = ATTEMPTS[audience];
  const advice = failure.isThreadGone ? words.gone : failure.advice ?? "";
  const rest = [advice, fateInWords(failure, advice)]
    .filter((part) => part !== "").join("; ");
  const explained = rest === ""
    ? reason
    : detail === undefined
    ? `${reason}; ${rest}`
    : `${reason} (${rest})`;
  const quoted = detail ? `: ${detail}` : "";
  const hasRun = isUnknown || fate === "failed";
  const run = audience === "editor" || !hasRun || ids.length === 0
    ? ""
    : ` (${ids.map((pair) => pair.join(" ")).join(", ")})`;
  return `Cannot ${words[operation]}: ${explained}${quoted}${run}`;
}
