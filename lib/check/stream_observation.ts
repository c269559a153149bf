import type { ParsedData, Reply, StreamObserver } from "../gateway.ts";
import { hashText } from "../text.ts";

/** How many events are remembered to compare them: 160 KB at most. */
const MAX_REMEMBERED = 10_000;

/** How many characters of a line that is no event are kept. */
const SAMPLE_LENGTH = 100;

/** The fields of an event stream; all other lines are junk. */
const FIELDS = /^(?:data|event|id|retry)(?::|$)/;

/** An event as it is compared with others: hashes of its id and its data. */
export interface RememberedEvent {
  readonly id: number | undefined;
  readonly data: number;
}

/**
 * What one connection of a run's stream was like. It holds no more in memory than
 * a prompt does, however long the run is. Times are milliseconds since the stream
 * was requested.
 */
export class StreamObservation implements StreamObserver {
  #started = performance.now();
  readonly #onCursor: (lastEventId: string) => void;
  #lastByteAt = 0;
  /** The headers of the answer, when they have arrived. */
  headers: Headers | undefined;
  openedAt = 0;
  endedAt = 0;
  /** The numbers of events: known ones, unknown ones, words about a failed run. */
  readonly counts = { known: 0, unknown: 0, failure: 0 };
  firstAt = 0;
  lastAt = 0;
  /** How many known and unknown events have an id. */
  withId = 0;
  /** Whether an id came twice among the first 10,000 events. */
  hasRepeatedIds = false;
  /** The first 10,000 known and unknown events. */
  readonly remembered: RememberedEvent[] = [];
  /** The id after which the stream would be resumed. */
  lastEventId: string | undefined;
  /** How many events had come when the first id took effect. */
  cursorAt = 0;
  /** The number of comments, which keep a silent stream alive. */
  comments = 0;
  /** The longest time without a byte, and the time without one before the end. */
  silence = 0;
  lastSilence = 0;
  /** How many lines are no events, and the beginning of the first. */
  junk = 0;
  junkSample = "";
  /** How many events have data on several lines. */
  splitEvents = 0;
  /** How many events are named by the field `event:`, and not in their JSON. */
  fieldEvents = 0;
  reply: Reply | undefined;
  readonly #ids = new Set<number>();
  // Of the current block:
  #id: string | undefined;
  #field = "";
  #dataLines = 0;
  #events: number[] = [];

  /** @param onCursor Called when an id has taken effect for the first time. */
  constructor(onCursor: (lastEventId: string) => void = () => {}) {
    this.#onCursor = onCursor;
  }

  /** The number of events that can have an id: known and unknown ones. */
  get count(): number {
    return this.counts.known + this.counts.unknown;
  }

  /** Begins to count the time: the stream is requested now. */
  begin(): void {
    this.#started = performance.now();
  }

  open(headers: Headers): void {
    this.headers = headers;
    this.openedAt = this.#now();
    this.#hear();
  }

  line(line: string): void {
    this.#hear();
    if (line === "") this.#endBlock();
    else if (line.startsWith(":")) this.comments++;
    else if (line.startsWith("id:")) this.#id = line;
    else if (line.startsWith("event:")) {
      this.#field = line.slice("event:".length).trim();
    } else if (!FIELDS.test(line)) this.#takeJunk(line);
  }

  data(json: string, parsed: ParsedData): void {
    this.#dataLines++;
    switch (parsed.kind) {
      case "text":
        this.#takeJunk(`data:${json}`);
        return;
      case "failure":
        this.counts.failure++;
        break;
      case "unknown":
        this.counts.unknown++;
        if (/^(?:progress|complete)$/.test(this.#field)) this.fieldEvents++;
        break;
      case "reply":
        this.reply = parsed.reply;
        this.counts.known++;
        break;
      case "step":
        this.counts.known++;
        break;
      default:
        parsed satisfies never;
    }
    this.lastAt = this.#now();
    if (this.count + this.counts.failure === 1) this.firstAt = this.lastAt;
    if (parsed.kind !== "failure") this.#events.push(hashText(json));
    if (parsed.kind === "reply") this.#endBlock(); // Nothing after it is read.
  }

  cursor(lastEventId: string | undefined): void {
    const isFirst = this.lastEventId === undefined;
    this.lastEventId = lastEventId;
    if (!isFirst || lastEventId === undefined) return;
    this.cursorAt = this.count;
    this.#onCursor(lastEventId);
  }

  /** Ends the observation. */
  end(): void {
    this.endedAt = this.#now();
    if (this.reply === undefined) this.#hear();
    this.#endBlock();
  }

  #now(): number {
    return performance.now() - this.#started;
  }

  /** Records that a byte came. */
  #hear(): void {
    const now = this.#now();
    this.lastSilence = now - this.#lastByteAt;
    this.silence = Math.max(this.silence, this.lastSilence);
    this.#lastByteAt = now;
  }

  #takeJunk(line: string): void {
    if (this.junk++ === 0) this.junkSample = line.slice(0, SAMPLE_LENGTH);
  }

  #endBlock(): void {
    const id = this.#id === undefined ? undefined : hashText(this.#id);
    for (const data of this.#events) {
      if (id !== undefined) this.withId++;
      if (this.remembered.length === MAX_REMEMBERED) continue;
      this.remembered.push({ id, data });
      if (id === undefined) continue;
      this.hasRepeatedIds ||= this.#ids.has(id);
      this.#ids.add(id);
    }
    if (this.#dataLines > 1) this.splitEvents++;
    this.#id = undefined;
    this.#field = "";
    this.#dataLines = 0;
    this.#events = [];
  }
}
