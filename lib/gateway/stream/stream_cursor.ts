/**
 * Tracks where a lost stream is resumed, and which of its events are new.
 *
 * @module
 */

import { hashText } from "../../text.ts";
import type { ReplyEvent, StepEvent, StreamEvent } from "../turn_event.ts";

/** The most bytes of an id. */
const MAX_ID_BYTES = 1024;

/** The most delivered events that are remembered, at 8 bytes each. */
const MAX_DELIVERED = 10_000;

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
  #events: StreamEvent[] = [];
  #lastId = "";
  /** Hashes of the last events that were delivered, the newest over the oldest. */
  readonly #delivered: number[] = [];
  #count = 0; // of all events that were ever delivered with an id
  /**
   * The hashes of earlier connections, on one that resumes the stream. If its own
   * events were added, a service that repeats more than 10,000 events would push out
   * those that it has yet to repeat.
   */
  #earlier: ReadonlySet<number> | undefined;
  #isOld = false; // whether the last event with an id was delivered before
  #isReplaying = false;
  // Of the current block:
  #id: string | undefined;
  #data: string | undefined; // of its last event that was handled
  #held: Step | undefined; // held back, because its id may follow

  /** The id of the last event that was delivered, in UTF-8 as in a header. */
  get lastEventId(): string | undefined {
    return this.#lastId === "" ? undefined : this.#lastId;
  }

  /** Whether the service is repeating events that were delivered before. */
  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  /** Begins a connection: it resumes the stream if there is a last id. */
  connect(): void {
    this.#isOld = this.#lastId !== "";
    this.#earlier = this.#isOld ? new Set(this.#delivered) : undefined;
    this.#isReplaying = false;
    this.#events = [];
    this.#held = undefined;
    this.#beginBlock();
  }

  /** Handles the value of an `id:` line. */
  id(value: string): void {
    const id = headerValue(value);
    if (id === undefined) return;
    this.#id = id;
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
    const step = { event, data };
    if (this.#earlier && this.#id === undefined) this.#held = step;
    else this.#handle(step);
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
    if (this.#earlier && this.#id) {
      const hash = hashText(`${this.#id}\n${data}`);
      this.#isOld = this.#isReplaying = this.#earlier.has(hash);
    }
    if (!this.#isOld && event !== undefined) this.#events.push(event);
    this.#data = data;
    this.#commit(data);
  }

  /** Makes the id of the current block the last one, if the block is new. */
  #commit(data: string | undefined): void {
    if (this.#id === undefined || this.#isOld) return;
    this.#lastId = this.#id;
    if (this.#id === "" || data === undefined) return;
    const place = this.#count++ % MAX_DELIVERED;
    this.#delivered[place] = hashText(`${this.#id}\n${data}`);
  }
}

/** An id as a header value; `undefined` if it is too long, or not allowed there. */
function headerValue(id: string): string | undefined {
  // deno-lint-ignore no-control-regex -- these characters are invalid in headers
  if (id.length > MAX_ID_BYTES || /[\0-\x08\n-\x1f\x7f]/.test(id)) return;
  const bytes = encoder.encode(id);
  return bytes.length > MAX_ID_BYTES
    ? undefined
    : String.fromCharCode(...bytes);
}
