import type { Redacted, ServiceId } from "../../text.ts";
import { type Fate, fateOf, type RemoteOperation, type Stage } from "./fate.ts";

/** The ids by which the service's operator finds a call in a log. */
export interface CallIds {
  readonly threadId?: ServiceId | undefined;
  readonly runId?: ServiceId | undefined;
  readonly requestId?: Redacted | undefined;
}

/**
 * How far a call got, moved forward where it happens. It is the only source of fates:
 * callers that end a call, for whatever reason, ask it.
 *
 * A request moves forward: `not sent`, then `perhaps taken`, then how it ended. Only its
 * end may prove that the service did not take it after all.
 */
export class CallState {
  #operation: RemoteOperation;
  #stage: Stage = "not sent";
  #ids: CallIds;
  #hasEvents = false;
  #isComplete = false;

  constructor(operation: RemoteOperation, ids: CallIds = {}) {
    this.#operation = operation;
    this.#ids = ids;
  }

  get operation(): RemoteOperation {
    return this.#operation;
  }

  get stage(): Stage {
    return this.#stage;
  }

  get ids(): CallIds {
    return this.#ids;
  }

  /** What became of the prompt, or the thread; `undefined` if it is complete. */
  get fate(): Fate | undefined {
    return this.#isComplete ? undefined : this.fateAt(this.#stage);
  }

  /** What would become of it, if this is all that is known of the current request. */
  fateAt(stage: Stage): Fate {
    return fateOf(this.#operation, stage, this.#hasEvents);
  }

  /** A request begins. Nothing of it has left this machine. */
  begin(requestId: Redacted): void {
    this.#stage = "not sent";
    this.#ids = { ...this.#ids, requestId };
  }

  /** From now on, the service may take the request. */
  markPerhapsTaken(): void {
    // The connection may be reported late, when it is known how the request ended.
    if (this.#stage === "not sent") this.#stage = "perhaps taken";
  }

  /** The service has started the run: from now on, it is followed. */
  startRun(runId: ServiceId): void {
    this.#operation = "stream run";
    this.#ids = { ...this.#ids, runId };
  }

  /** Events of the run have come. */
  noteEvents(): void {
    this.#hasEvents = true;
  }

  /** Records how the request ended, which may be proof that it was not taken. */
  setStage(stage: Stage): void {
    this.#stage = stage;
  }

  /** The thread or the reply came. */
  complete(): void {
    this.#isComplete = true;
  }
}
