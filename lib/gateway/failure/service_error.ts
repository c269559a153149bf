import type { CallIds, CallState } from "./call_state.ts";
import type { Failure } from "./failure.ts";
import { type Fate, fateInWords, type RemoteOperation } from "./fate.ts";
import { joinSafe, type Redacted, safe } from "../../text.ts";

/** A call failed. The message is a sentence for a person, without the key. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly failure: Failure;
  readonly operation: RemoteOperation;
  /** What became of the prompt, or of the thread. */
  readonly fate: Fate;
  readonly ids: CallIds;
  override readonly message: Redacted;

  /** @param state The call, in the state in which it failed. */
  constructor(
    failure: Failure,
    state: Pick<CallState, "operation" | "fateAt" | "ids">,
    options?: ErrorOptions,
  ) {
    super(failure.reason, options);
    this.failure = failure;
    this.operation = state.operation;
    this.fate = state.fateAt(failure.stage);
    this.ids = state.ids;
    this.message = wordsOf(this, "terminal");
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
  error: ServiceError,
  audience: "terminal" | "client" | "log",
): Redacted {
  const { failure, operation, fate } = error;
  if (audience === "log") {
    const about = joinSafe([operation, ...idsIn(error, "=")], " ");
    return safe`${about}: ${failure.status ?? failure.reason}`;
  }

  const { reason, detail } = failure;
  const sentences = [
    joinSafe([reason, detail], ": "),
    fateInWords(operation, fate),
    adviceFor(error, audience === "client" ? "chat" : "thread"),
  ].map(withFullStop);

  if (audience === "terminal" && namesIds(error)) {
    sentences.push(safe`(${joinSafe(idsIn(error, " "), ", ")})`);
  }
  return joinSafe(sentences, " ");
}

function withFullStop(sentence: Redacted): Redacted {
  return /[^.!?\u3002]$/u.test(sentence) ? safe`${sentence}.` : sentence;
}

/** Whether people need the ids, because there may be a run. */
function namesIds({ fate, ids }: ServiceError): boolean {
  return (mayRun(fate) || fate === "failed") && ids.threadId !== undefined;
}

function mayRun(fate: Fate): boolean {
  return fate === "may have run" || fate === "may go on";
}

/** The ids to name, each after its name and a sign. */
function idsIn({ ids, fate }: ServiceError, sign: "=" | " ") {
  const { threadId, runId, requestId } = ids;
  return [
    threadId && safe`thread${sign}${threadId}`,
    runId && safe`run${sign}${runId}`,
    requestId && mayRun(fate) ? safe`request${sign}${requestId}` : undefined,
  ];
}

function adviceFor(
  { failure, fate }: ServiceError,
  thread: "chat" | "thread",
): Redacted {
  if (failure.threadGone !== undefined) {
    const how = thread === "thread"
      ? safe`run agent-gateway without --thread to start a new one`
      : safe`start a new one`;
    return safe`The ${thread} may be gone: ${how}`;
  }
  return failure.advice ??
    (fate === "not run" ? safe`Try again later` : safe``);
}
