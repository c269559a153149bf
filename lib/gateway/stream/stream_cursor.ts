/**
 * The position at which a lost stream is resumed, and the choice of new events.
 *
 * @module
 */

import { hashText } from "../../text.ts";
import type { ReplyEvent, StepEvent, StreamEvent } from "../turn_event.ts";

/** The most bytes of an id. */
const MAX_ID_BYTES = 1024;

const encoder = new TextEncoder();

/** An event with the text that it was parsed from. */
interface Step {
  readonly event: StepEvent | undefined;
  readonly data: string;
}

/**
 * Tracks the ids and events of a run's stream over all of its connections, and
 * collects the events to deliver.
 *
 * An id takes effect when its event is delivered, whether its `id:` line is
 * before or after the event in the same block. If it took effect sooner, a loss
 * would skip the event; later, the event would be delivered twice.
 *
 * On a connection that resumes the stream, an event that was delivered before is
 * skipped, because a service may start over from the beginning. An event is known
 * by its id and its data: some frameworks number the events of each connection
 * from 1. An event without an id is skipped if the last event before it that has
 * one was skipped; until there is one, it is skipped too.
 */
export class StreamCursor {
  readonly #delivered = new DeliveredEvents();
  #events: StreamEvent[] = [];
  #lastId: string | undefined;
  #resuming = false;
  #isOld = false; // whether the last event with an id was delivered before
  #isReplaying = false;
  // Of the current block:
  #id: string | undefined;
  #data: string | undefined; // of its last event that was handled
  #held: Step | undefined; // held back, because its id may follow

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
    this.#isOld = this.#resuming;
    this.#isReplaying = false;
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
    if (this.#held !== undefined) this.#release();
    else if (this.#data !== undefined) this.#commit(this.#data);
  }

  /**
   * Handles an event before the reply.
   *
   * @param event The event; `undefined` for one that this client does not know.
   * @param data The text that it was parsed from.
   */
  step(event: StepEvent | undefined, data: string): void {
    this.#release();
    if (this.#resuming && this.#id === undefined) this.#held = { event, data };
    else this.#handle({ event, data });
  }

  /** Handles the reply, which is always new. */
  reply(event: ReplyEvent): void {
    this.#release();
    this.#events.push(event);
  }

  /** Handles a blank line, which ends a block. */
  endBlock(): void {
    this.#release();
    if (this.#data === undefined) this.#commit(undefined);
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
    this.#id = undefined;
    this.#data = undefined;
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#handle(held);
  }

  #handle({ event, data }: Step): void {
    if (this.#resuming && this.#id) {
      this.#isOld = this.#isReplaying = this.#delivered.has(this.#id, data);
    }
    if (!this.#isOld && event !== undefined) this.#events.push(event);
    this.#data = data;
    this.#commit(data);
  }

  /** Makes the id of the current block the last one, if the block is new. */
  #commit(data: string | undefined): void {
    if (this.#id === undefined || this.#isOld) return;
    this.#lastId = this.#id;
    if (this.#id !== "" && data !== undefined) {
      this.#delivered.add(this.#id, data);
    }
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

/** How many delivered events are remembered. */
const LIMIT = 10_000;

/** The initial capacity: most runs have few events. */
const CAPACITY = 64;

/**
 * Remembers the last 10,000 events that were delivered on earlier connections. It
 * takes at most 80 KB until the first lookup.
 */
class DeliveredEvents {
  #hashes = new Float64Array(CAPACITY);
  #count = 0; // of all events that were ever added
  #earlier: Set<number> | undefined; // created at the first lookup: few streams break

  /** Begins a connection: all events added so far belong to earlier ones. */
  connect(): void {
    this.#earlier = undefined;
  }

  /** Adds an event, and forgets the one that was added 10,000 events earlier. */
  add(id: string, data: string): void {
    const place = this.#count++ % LIMIT;
    if (place === this.#hashes.length) {
      const more = new Float64Array(Math.min(2 * place, LIMIT));
      more.set(this.#hashes);
      this.#hashes = more;
    }
    this.#hashes[place] = hashText(`${id}\n${data}`);
  }

  /**
   * Whether an event was delivered on an earlier connection. Call it for each
   * event of a connection before adding the event.
   *
   * Events of the current connection do not count. If they did, a service that
   * repeats more than 10,000 events would push out those that are still to come.
   */
  has(id: string, data: string): boolean {
    this.#earlier ??= new Set(this.#hashes.subarray(0, this.#count));
    return this.#earlier.has(hashText(`${id}\n${data}`));
  }
}
