import type { TimeLimit } from "../io.ts";
import type { ViewEvent } from "./view.ts";

export interface OperationOptions {
  readonly limit: TimeLimit;
  /** A clock, in milliseconds. */
  readonly now: () => number;
}

/**
 * What a user can drop: the creation of the thread, or a run until its reply is written.
 */
export class Operation {
  readonly kind: "thread" | "run";
  /** Aborted when the operation is dropped, or its time is over. */
  readonly signal: AbortSignal;
  readonly #limit: TimeLimit;
  readonly #dropping = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #now: () => number;
  readonly #begunAt: number;
  /** Whether the service has started a run. */
  #isRun = false;
  #hasEnded = false;
  #isUnread = false;
  #droppedPrompts = 0;

  constructor(kind: "thread" | "run", { limit, now }: OperationOptions) {
    this.kind = kind;
    this.signal = limit.signal === undefined
      ? this.dropped
      : AbortSignal.any([this.dropped, limit.signal]);
    this.#limit = limit;
    this.#now = now;
    this.#begunAt = now();
  }

  /** Aborted when the operation is dropped. */
  get dropped(): AbortSignal {
    return this.#dropping.signal;
  }

  /** The number of waiting prompts that were dropped with it. */
  get droppedPrompts(): number {
    return this.#droppedPrompts;
  }

  /** Whether the remote operation is over. Its reply may still be written. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether nobody reads what it shows, although its time is over. */
  get isUnread(): boolean {
    return this.#isUnread;
  }

  /** Resolved when nothing more is shown of it. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Drops it, and the rest of a reply that is being written. */
  drop(droppedPrompts = 0): void {
    this.#droppedPrompts = droppedPrompts;
    this.#dropping.abort();
  }

  /** Records that the service has started a run. */
  startRun(): void {
    this.#isRun = true;
  }

  /** Records that the remote operation is over, and returns the event that says so. */
  end(completed: boolean): ViewEvent {
    this.#hasEnded = true;
    const total = this.#isRun ? this.#now() - this.#begunAt : undefined;
    return { type: "end", completed, total };
  }

  /** Waits until what it shows is written. If nobody reads, the rest is dropped. */
  async writeOrDrop(writing: Promise<void>): Promise<void> {
    if (await this.#limit.endsInTime(writing)) return;
    this.#isUnread = true;
    this.drop();
  }

  /** Records that nothing more is shown of it. */
  finish(): void {
    this.#over.resolve();
  }
}
