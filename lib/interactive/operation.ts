import type { CreationEvent, Fate, TurnEvent } from "../gateway.ts";
import type { Dropped, ViewEvent } from "./view.ts";

/** The events of a call, and what has become of its prompt, if it has one. */
type Events = AsyncIterable<CreationEvent | TurnEvent> & {
  readonly fate?: Fate | undefined;
};

/**
 * What a user can drop: the creation of the thread, or a run until its reply is written.
 */
export class Operation {
  readonly kind: "thread" | "run";
  readonly events: Events;
  /** How the remote operation has ended, if it has. Its reply may still be written. */
  ending: "completed" | "failed" | undefined;
  /** The number of waiting prompts that were dropped with it. */
  droppedPrompts = 0;
  readonly #dropping = new AbortController();
  readonly #begunAt = performance.now();
  #isRun = false;

  /**
   * @param call Calls the service; the signal drops the call.
   * @param limit Aborted when the time for the operation is over.
   */
  constructor(
    kind: "thread" | "run",
    call: (signal: AbortSignal) => Events,
    limit: AbortSignal,
  ) {
    this.kind = kind;
    this.events = call(AbortSignal.any([this.dropped, limit]));
  }

  /** Aborted when the operation is dropped. */
  get dropped(): AbortSignal {
    return this.#dropping.signal;
  }

  /** Drops it, and the rest of a reply that is being written. */
  drop(droppedPrompts = 0): void {
    this.droppedPrompts = droppedPrompts;
    this.#dropping.abort();
  }

  /** What is dropped if a user drops it before it has ended. */
  get unfinished(): Dropped["what"] {
    if (this.#isRun || this.kind === "thread") return this.kind;
    const { fate } = this.events;
    const isRefused = fate === "not run" || fate === "refused";
    return isRefused ? "prompt" : "unanswered prompt";
  }

  /** Records that the service has started a run. */
  startRun(): void {
    this.#isRun = true;
  }

  /** Records that the remote operation is over, and returns the event that says so. */
  end(completed: boolean): ViewEvent {
    this.ending = completed ? "completed" : "failed";
    const total = this.#isRun ? performance.now() - this.#begunAt : undefined;
    return { type: "end", completed, total };
  }
}
