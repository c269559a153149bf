import type { StreamEvent } from "../turn_event.ts";

const MAX_ID_BYTES = 1024;

/**
 * Tracks the ids of a run's stream over all of its connections, and collects the
 * events to deliver.
 *
 * An id takes effect when its event is delivered, whether its `id:` line is before
 * or after the event in the same block. If it took effect sooner, a loss would skip
 * the event; later, the event would be delivered twice.
 *
 * A connection that resumes the stream and whose first id is the run's first id
 * starts over: its events are skipped up to the last id that took effect. The reply
 * never is.
 */
export class StreamCursor {
  #events: StreamEvent[] = [];
  #firstId: string | undefined;
  #lastId = "";
  /** The id after which this connection resumes the stream, if it does. */
  #resumedAfter = "";
  /** Whether it does, and has not brought an id yet. */
  #awaitsId = false;
  #isReplaying = false;
  // Of the current block:
  #id: string | undefined;
  #hasEvent = false;
  /** Held back, because its id may follow and tell whether it is new. */
  #held: { readonly event: StreamEvent | undefined } | undefined;

  /** The id of the last event that was delivered, in UTF-8 as in a header. */
  get lastEventId(): string | undefined {
    return this.#lastId === "" ? undefined : this.#lastId;
  }

  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  /** Begins a connection: it resumes the stream if there is a last id. */
  connect(): void {
    this.#events = [];
    this.#resumedAfter = this.#lastId;
    this.#awaitsId = this.#lastId !== "";
    this.#isReplaying = false;
    this.#held = undefined;
    this.#beginBlock();
  }

  id(value: string): void {
    const id = headerValue(value);
    if (id === undefined) return;
    // Services that send no blank lines begin a block with its id.
    if (this.#id !== undefined) this.endBlock();
    this.#id = id;
    if (id !== "") {
      this.#firstId ??= id;
      this.#isReplaying ||= this.#awaitsId && id === this.#firstId;
      this.#awaitsId = false;
    }
    this.#release();
    if (this.#hasEvent) this.#commit();
  }

  /** Handles an event; `undefined` for one that this client does not know. */
  take(event: StreamEvent | undefined): void {
    this.#release();
    if (this.#awaitsId && this.#id === undefined && event?.type !== "reply") {
      this.#held = { event };
    } else this.#handle(event);
  }

  endBlock(): void {
    this.#release();
    this.#commit();
    if (this.#id === this.#resumedAfter) this.#isReplaying = false;
    this.#beginBlock();
  }

  endConnection(): void {
    this.#release();
  }

  delivered(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #beginBlock(): void {
    this.#id = undefined;
    this.#hasEvent = false;
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#handle(held.event);
  }

  #handle(event: StreamEvent | undefined): void {
    const isNew = !this.#isReplaying || event?.type === "reply";
    if (isNew && event !== undefined) this.#events.push(event);
    this.#hasEvent = true;
    this.#commit();
  }

  /** Makes the id of the current block the last one, if the block is new. */
  #commit(): void {
    if (this.#id !== undefined && !this.#isReplaying) this.#lastId = this.#id;
  }
}

/** An id as a header value; `undefined` if it is too long, or not allowed there. */
function headerValue(id: string): string | undefined {
  if (id.length > MAX_ID_BYTES) return undefined;
  if (/^[\t\x20-\x7e]*$/.test(id)) return id;
  // deno-lint-ignore no-control-regex -- these characters are invalid in headers
  if (/[\0-\x08\n-\x1f\x7f]/.test(id)) return undefined;
  const bytes = new TextEncoder().encode(id);
  return bytes.length > MAX_ID_BYTES
    ? undefined
    : String.fromCharCode(...bytes);
}
