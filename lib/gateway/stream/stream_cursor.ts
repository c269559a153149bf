/**
 * The position at which a lost stream is resumed, and the choice of new events.
 *
 * @module
 */

import { DeliveredIds } from "./delivered_ids.ts";
import type { ReplyEvent, StepEvent, StreamEvent } from "../turn_event.ts";

/** The most bytes of an id. */
const MAX_ID_BYTES = 1024;

const encoder = new TextEncoder();

/**
 * Tracks the ids and events of a run's stream over all of its connections, and
 * collects the events to deliver.
 *
 * An id takes effect when its event is delivered, whether its `id:` line is
 * before or after the event in the same block. If it took effect sooner, a loss
 * would skip the event; later, the event would be delivered twice.
 *
 * On a connection that resumes the stream, an event whose id was delivered before
 * is skipped, because a service may start over from the beginning. An event
 * without an id is skipped if the last id before it was delivered: for the first
 * event, that is the id after which the connection resumes.
 */
export class StreamCursor {
  readonly #delivered = new DeliveredIds();
  #events: StreamEvent[] = [];
  #lastId: string | undefined;
  #resuming = false;
  #old = false; // the last id was delivered before this connection
  #isReplaying = false;
  // Of the current block:
  #id: string | undefined; // not committed yet
  #hasId = false;
  #hasEvent = false;
  #held: StepEvent | undefined; // held back, because its id may follow

  /** The id of the last event that was delivered, in UTF-8 as in a header. */
  get lastEventId(): string | undefined {
    return this.#lastId === undefined ? undefined : headerValue(this.#lastId);
  }

  /** Whether the service is repeating events that were delivered before. */
  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  /** Begins a connection: it resumes the stream if there is a last id. */
  connect(): void {
    this.#resuming = this.lastEventId !== undefined;
    this.#delivered.connect();
    this.#old = this.#resuming; // The last id before the first event is the cursor.
    this.#isReplaying = false;
    this.#id = undefined;
    this.#events = [];
    this.#held = undefined;
    this.#beginBlock();
  }

  /** Handles the value of an `id:` line. */
  id(value: string): void {
    if (value !== "" && (!fits(value) || headerValue(value) === undefined)) {
      return;
    }
    this.#id = value;
    this.#hasId = true;
    if (this.#resuming && value !== "") {
      this.#old = this.#isReplaying = this.#delivered.has(value);
      this.#release();
    }
    if (this.#hasEvent) this.#commit();
  }

  /** Handles an event before the reply. */
  step(event: StepEvent): void {
    if (this.#resuming) {
      this.#release();
      if (!this.#hasId) {
        this.#held = event;
        return;
      }
    }
    this.#deliver(event);
  }

  /** Handles the reply, which is always new. */
  reply(event: ReplyEvent): void {
    this.#release();
    this.#events.push(event);
  }

  /** Handles a blank line, which ends a block. */
  endBlock(): void {
    this.#release();
    this.#commit();
    this.#beginBlock();
  }

  /** Handles the end of the stream. */
  end(): void {
    this.#release();
  }

  /** Returns the events to deliver since the last call. */
  take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #beginBlock(): void {
    this.#hasId = false;
    this.#hasEvent = false;
  }

  #release(): void {
    if (this.#held === undefined) return;
    this.#deliver(this.#held);
    this.#held = undefined;
  }

  #deliver(event: StepEvent): void {
    if (!this.#old) this.#events.push(event);
    this.#hasEvent = true;
    this.#commit();
  }

  #commit(): void {
    const id = this.#id;
    if (id === undefined) return;
    this.#id = undefined;
    if (this.#old) return;
    this.#lastId = id;
    if (id !== "") this.#delivered.add(id);
  }
}

function fits(id: string): boolean {
  return 3 * id.length <= MAX_ID_BYTES ||
    (id.length <= MAX_ID_BYTES && encoder.encode(id).length <= MAX_ID_BYTES);
}

/** An id as a header value; `undefined` if it is empty or not allowed in a header. */
function headerValue(id: string): string | undefined {
  // deno-lint-ignore no-control-regex -- these characters are invalid in headers
  if (id === "" || /[\0-\x08\n-\x1f\x7f]/.test(id)) return undefined;
  return String.fromCharCode(...encoder.encode(id));
}
