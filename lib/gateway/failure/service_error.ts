import type { CallIds, CallState } from "./call_state.ts";
import type { Failure } from "./failure.ts";
import { type Fate, fateInWords, type RemoteOperation } from "./fate.ts";

/** A failure, and whose it is. */
interface CallFailure {
  readonly failure: Failure;
  readonly operation: RemoteOperation;
  /** What became of the prompt, or of the thread. */
  readonly fate: Fate;
  readonly ids: CallIds;
}

/** A call failed. The message is a sentence for a person, without the key. */
export class ServiceError extends Error implements CallFailure {
  override readonly name = "ServiceError";
  readonly failure: Failure;
  readonly operation: RemoteOperation;
  readonly fate: Fate;
  readonly ids: CallIds;

  /** @param state The call, in the state in which it failed. */
  constructor(
    failure: Failure,
    state: Pick<CallState, "operation" | "fateAt" | "ids">,
    options?: ErrorOptions,
  ) {
    const { operation, ids } = state;
    const fate = state.fateAt(failure.stage);
    super(wordsOf({ failure, operation, fate, ids }, "terminal"), options);
    this.failure = failure;
    this.operation = operation;
    this.fate = fate;
    this.ids = ids;
  }

  get status(): number | undefined {
    return this.failure.status;
  }

  /** Whether the message names the thread and the run. */
  get namesIds(): boolean {
    return namesIds(this);
  }
}

/**
 * A failure in words:
 *
 * - `terminal`: what happened, what became of the prompt, and what to do, each in a
 *   sentence; then the ids of a run that was or may have been started.
 * - `client`: the same, without ids. A thread is a chat there.
 * - `log`: operation, ids and status, without the service's own words, which
 *   may quote a prompt.
 */
export function wordsOf(
  error: CallFailure,
  audience: "terminal" | "client" | "log",
): string {
  const { failure, operation, fate } = error;
  const ids = idsIn(error);
  if (audience === "log") {
    const about = ids.map(([name, id]) => ` ${name}=${id}`).join("");
    return `${operation}${about}: ${failure.status ?? failure.reason}`;
  }

  const { reason, detail } = failure;
  const sentences = [
    detail ? `${reason}: ${detail}` : reason,
    fateInWords(operation, fate),
    adviceFor(error, audience === "client" ? "chat" : "thread"),
  ].filter((sentence) => sentence !== "")
    .map((sentence) => sentence.replace(/[^.!?\u3002]$/u, "$&."));

  if (audience === "terminal" && namesIds(error)) {
    sentences.push(`(${ids.map((pair) => pair.join(" ")).join(", ")})`);
  }
  return sentences.join(" ");
}

/** Whether people need the ids, because there may be a run. */
function namesIds({ fate, ids }: CallFailure): boolean {
  return (mayRun(fate) || fate === "failed") && ids.threadId !== undefined;
}

function mayRun(fate: Fate): boolean {
  return fate === "may have run" || fate === "may go on";
}

/** The names and values of the ids to name. */
function idsIn({ ids, fate }: CallFailure): readonly [string, string][] {
  const { threadId, runId } = ids;
  const requestId = mayRun(fate) ? ids.requestId : undefined;
  return Object.entries({ thread: threadId, run: runId, request: requestId })
    .flatMap(([name, id]) => id === undefined ? [] : [[name, id]]);
}

function adviceFor({ failure, fate }: CallFailure, thread: string): string {
  if (failure.threadGone !== undefined) {
    return `The ${thread} may be gone: start a new one`;
  }
  return failure.advice || (fate === "not run" ? "Try again later" : "");
}
