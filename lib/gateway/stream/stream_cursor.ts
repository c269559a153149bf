import type { StreamEvent } from "../turn_event.ts";

const MAX_ID_BYTES = 1024;

/** The ids of a run's stream, over all of its connections. */
export interface StreamCursor {
  /** The first id of the run, by which a stream that starts over is recognised. */
  firstId: string | undefined;
  /** The id of the last event that was delivered, in UTF-8 as in a header. */
  lastEventId: string | undefined;
}

/** An event of a stream, which this client may not know. */
type CursorEvent = StreamEvent | "unknown";

/**
 * Decides which events of one connection are new, and moves the cursor.
 *
 * An id takes effect when its event is delivered, whether its `id:` line is before
 * or after the event in the same block. If it took effect sooner, a loss would skip
 * the event; later, the event would be delivered twice.
 *
 * | The connection | Its first id     | Its events are                       |
 * | -------------- | ---------------- | ------------------------------------ |
 * | is the first   | any              | new                                  |
 * | resumes        | another          | new                                  |
 * | resumes        | the run's first  | old, up to the id it resumes after   |
 * | resumes        | has not come     | held back, until the next line shows |
 *
 * Events that have the id after which the connection resumes are old, until another
 * one has moved the cursor. The reply is always new.
 */
export class ConnectionCursor {
  readonly #cursor: StreamCursor;
  readonly #deliver: (event: StreamEvent) => void;
  readonly #resumedAfter: string | undefined;
  #place: "before the first id" | "in old events" | "in new events";
  /** The id of the current block. */
  #id: string | undefined;
  /** Whether the current block has an event that was not held back. */
  #hasEvent = false;
  /** An event that is held back, if there is one. */
  #held: CursorEvent | undefined;

  /** @param deliver Gets each new event. */
  constructor(cursor: StreamCursor, deliver: (event: StreamEvent) => void) {
    this.#cursor = cursor;
    this.#deliver = deliver;
    this.#resumedAfter = cursor.lastEventId;
    this.#place = this.#resumedAfter === undefined
      ? "in new events"
      : "before the first id";
  }

  get isReplaying(): boolean {
    return this.#place === "in old events";
  }

  /** Whether it is not known yet if the stream starts over. */
  get mayReplay(): boolean {
    return this.#place === "before the first id";
  }

  /** Whether this connection has moved the cursor, or began without one. */
  get hasMoved(): boolean {
    const { lastEventId } = this.#cursor;
    return this.#resumedAfter === undefined ||
      lastEventId !== this.#resumedAfter;
  }

  /** Handles the value of an `id:` line. */
  id(value: string): void {
    const id = headerValue(value);
    if (id === undefined) return;
    // Services that send no blank lines begin a block with its id.
    if (this.#id !== undefined) this.endBlock();
    this.#id = id;
    if (id !== "") this.#place = this.#placeAfter(id);
    this.#release();
    if (this.#hasEvent) this.#commit();
  }

  event(event: CursorEvent): void {
    this.#release();
    const mayBeOld = this.mayReplay && this.#id === undefined &&
      !isReply(event);
    if (mayBeOld) this.#held = event;
    else this.#handle(event);
  }

  endBlock(): void {
    this.#release();
    this.#commit();
    const isOver = this.#id !== undefined && this.#id === this.#resumedAfter;
    if (isOver && this.isReplaying) this.#place = "in new events";
    this.#id = undefined;
    this.#hasEvent = false;
  }

  endConnection(): void {
    this.#release();
  }

  #placeAfter(id: string) {
    this.#cursor.firstId ??= id;
    const { firstId, lastEventId } = this.#cursor;
    const isLastAgain = id === this.#resumedAfter && id === lastEventId;
    if (isLastAgain) return "in old events";
    if (!this.mayReplay) return this.#place;
    return id === firstId ? "in old events" : "in new events";
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#handle(held);
  }

  #handle(event: CursorEvent): void {
    const isNew = !this.isReplaying || isReply(event);
    if (isNew && event !== "unknown") this.#deliver(event);
    this.#hasEvent = true;
    this.#commit();
  }

  /** Makes the id of the current block the last one, if the block is new. */
  #commit(): void {
    if (this.#id !== undefined && !this.isReplaying) {
      // Nothing can be resumed after an empty one.
      this.#cursor.lastEventId = this.#id || undefined;
    }
  }
}

function isReply(event: CursorEvent): boolean {
  return event !== "unknown" && event.type === "reply";
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
