import { joinSafe, type Redacted, safe, wholeDuration } from "../../text.ts";
import type { CallIds, CallState } from "./call_state.ts";
import {
  type Fate,
  fateInWords,
  type RemoteOperation,
  type Stage,
} from "./fate.ts";
import type { RetryHints } from "./retry_policy.ts";

/** Why a request failed: one value from the socket to the exit code and the log. */
export interface Failure extends RetryHints {
  readonly stage: Stage;
  /** What happened, as a sentence without a full stop. */
  readonly reason: Redacted;
  /** What to do, as a sentence without a full stop. */
  readonly advice?: Redacted | undefined;
  /** The service's own words, safe to show, if the reason does not have them. */
  readonly detail?: Redacted | undefined;
  /** What the service had said about a failure of the run, safe to show. */
  readonly earlier?: Redacted | undefined;
  readonly status?: number | undefined;
  /** Whether the service, and not a proxy, says that it does not know the thread. */
  readonly isThreadGone?: boolean;
}

/** Carries a {@linkcode Failure} from where it is noticed to the call that it ends. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

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
  constructor(failure: Failure, state: CallState) {
    super(failure.reason);
    this.failure = failure;
    this.operation = state.operation;
    this.fate = state.fateAt(failure.stage);
    this.ids = state.ids;
    this.message = this.wordsFor("terminal");
  }

  get status(): number | undefined {
    return this.failure.status;
  }

  /** Whether the message names the thread and the run, because there may be one. */
  get namesIds(): boolean {
    return (this.#mayRun || this.fate === "failed") &&
      this.ids.threadId !== undefined;
  }

  /**
   * The failure in words:
   *
   * - `terminal`: what happened, what became of the prompt, and what to do, each in a
   *   sentence; then the ids of a run that was or may have been started.
   * - `client`: the same, without ids. A thread is a chat there.
   * - `log`: operation, ids and status, without the service's own words, which
   *   may quote a prompt.
   */
  wordsFor(audience: "terminal" | "client" | "log"): Redacted {
    const { failure: { reason, detail, earlier, status }, operation } = this;
    if (audience === "log") {
      const about = joinSafe([operation, ...this.#idsAfter("=")], " ");
      return safe`${about}: ${status ?? reason}`;
    }

    const sentences = [
      joinSafe([reason, detail], ": "),
      earlier ? safe`Before that, the service had reported: ${earlier}` : "",
      fateInWords(operation, this.fate),
      this.#adviceAbout(audience === "client" ? "chat" : "thread"),
    ].map(withFullStop);

    if (audience === "terminal" && this.namesIds) {
      sentences.push(safe`(${joinSafe(this.#idsAfter(" "), ", ")})`);
    }
    return joinSafe(sentences, " ");
  }

  get #mayRun(): boolean {
    return this.fate === "may have run" || this.fate === "may go on";
  }

  /** The ids to name, each after its name and a sign. */
  #idsAfter(sign: "=" | " ") {
    const { threadId, runId, requestId } = this.ids;
    return [
      threadId && safe`thread${sign}${threadId}`,
      runId && safe`run${sign}${runId}`,
      requestId && this.#mayRun ? safe`request${sign}${requestId}` : undefined,
    ];
  }

  #adviceAbout(thread: "chat" | "thread"): Redacted {
    const { isThreadGone, advice, retryAfter = 0 } = this.failure;
    if (isThreadGone) {
      const how = thread === "thread"
        ? safe`run agent-gateway without --thread to start a new one`
        : safe`start a new one`;
      return safe`The ${thread} may be gone: ${how}`;
    }
    if (advice !== undefined || this.fate !== "not run") return advice ?? "";
    return retryAfter > 0
      ? safe`Try again in ${wholeDuration(retryAfter)}`
      : safe`Try again later`;
  }
}

function withFullStop(sentence: Redacted): Redacted {
  return /[^.!?\u3002]$/u.test(sentence) ? safe`${sentence}.` : sentence;
}
