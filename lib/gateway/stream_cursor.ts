/**
 * Where a run's stream goes on after its connection was lost, and which of its
 * events are new.
 *
 * @module
 */

import { DeliveredIds } from "./delivered_ids.ts";
import type { CompleteEvent, ProgressEvent, RunEvent } from "./run_event.ts";

/** The most bytes of an id. */
const MAX_ID_BYTES = 1024;

const encoder = new TextEncoder();

/**
 * Takes the lines of a run's stream that matter for resuming it, over all of its
 * connections, and collects the events to deliver.
 *
 * An id counts from the moment its event is delivered, be its `id:` line before or
 * after the event in the same block: sooner, a loss would skip the event; later,
 * it would come twice.
 *
 * On a connection that resumes the stream, an event whose id was delivered before
 * is left out: a service may start over from the beginning. An event whose block
 * has no id there goes the way of the last id before it, which for the first event
 * is the id that the connection resumes after.
 */
export class StreamCursor {
  readonly #delivered = new DeliveredIds();
  #events: RunEvent[] = [];
  #lastId: string | undefined;
  #resuming = false;
  #old = false; // the last id was delivered before this connection
  #isReplaying = false;
  // Of the current block:
  #id: string | undefined; // not committed yet
  #hasId = false;
  #hasEvent = false;
  #held: ProgressEvent | undefined; // its id may follow

  /** The id of the last event that was delivered, in UTF-8 as a header holds it. */
  get lastEventId(): string | undefined {
    return this.#lastId === undefined ? undefined : headerValue(this.#lastId);
  }

  /** Whether the service repeats events that were delivered before. */
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

  /** Takes the value of an `id:` line. */
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

  /** Takes a `progress` event. */
  progress(event: ProgressEvent): void {
    if (this.#resuming) {
      this.#release();
      if (!this.#hasId) {
        this.#held = event;
        return;
      }
    }
    this.#deliver(event);
  }

  /** Takes the `complete` event, which is always new. */
  complete(event: CompleteEvent): void {
    this.#release();
    this.#events.push(event);
  }

  /** Takes a blank line. */
  endBlock(): void {
    this.#release();
    this.#commit();
    this.#beginBlock();
  }

  /** Takes the end of the stream. */
  end(): void {
    this.#release();
  }

  /** The events to deliver since the last time. */
  take(): readonly RunEvent[] {
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

  #deliver(event: ProgressEvent): void {
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

/** An id as a header holds it. `undefined` if it is empty, or if no header can hold it. */
function headerValue(id: string): string | undefined {
  // deno-lint-ignore no-control-regex -- these are what no header can hold
  if (id === "" || /[\0-\x08\n-\x1f\x7f]/.test(id)) return undefined;
  return String.fromCharCode(...encoder.encode(id));
}
