import type { ParsedData, Reply, StreamObserver } from "../gateway.ts";
import { hashText } from "../text.ts";

/** The most events that are remembered for comparisons, in 100 KB or less. */
const MAX_REMEMBERED = 1_000;

/** The fields of an event stream; all other lines are junk. */
const FIELDS = /^(?:data|event|id|retry)(?::|$)/;

/** An event as it is compared with others: hashes of its id and its data. */
export interface RememberedEvent {
  readonly id: number | undefined;
  readonly data: number;
}

export interface StreamObservationOptions {
  /** Called once, when an id has taken effect. */
  readonly onCursor?: (lastEventId: string) => void;
  /** Called for each line. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * What one connection of a run's stream was like. It holds no event, however long
 * the run is. Times are milliseconds since the stream was requested.
 */
export class StreamObservation implements StreamObserver {
  readonly #options: StreamObservationOptions;
  #started = performance.now();
  #lastByteAt = 0;
  /** Tells after which id the stream would be resumed. */
  position: { readonly lastEventId: string | undefined } | undefined;
  /** The headers of the answer, when they have arrived. */
  headers: Headers | undefined;
  openedAt = 0;
  endedAt = 0;
  /** The number of events, and of those that the client does not know. */
  count = 0;
  unknown = 0;
  firstAt = 0;
  lastAt = 0;
  /** The first 1,000 events. */
  readonly remembered: RememberedEvent[] = [];
  /** How many events had come when the first id took effect. */
  cursorAt: number | undefined;
  /** The number of comments, which keep a silent stream alive. */
  comments = 0;
  /** The longest time without a line. */
  silence = 0;
  /** The number of lines that are no events, and the first of them. */
  junk = 0;
  junkSample = "";
  reply: Reply | undefined;
  // Of the current block:
  #id: string | undefined;
  #hashes: number[] = [];

  constructor(options: StreamObservationOptions = {}) {
    this.#options = options;
  }

  /** Begins to count the time: the stream is requested now. */
  begin(): void {
    this.#started = performance.now();
  }

  open(
    headers: Headers,
    position: { readonly lastEventId: string | undefined },
  ): void {
    this.headers = headers;
    this.position = position;
    this.openedAt = this.#now();
    this.#hear();
  }

  line(line: string): void {
    this.#hear();
    this.#options.onLine?.(line);
    const lastEventId = this.position?.lastEventId;
    if (this.cursorAt === undefined && lastEventId !== undefined) {
      this.cursorAt = this.count;
      this.#options.onCursor?.(lastEventId);
    }
    if (line === "") this.#endBlock();
    else if (line.startsWith(":")) this.comments++;
    else if (line.startsWith("id:")) this.#id = line;
    else if (!FIELDS.test(line)) this.#takeJunk(line);
  }

  data(json: string, parsed: ParsedData): void {
    switch (parsed.kind) {
      case "text":
        return this.#takeJunk(`data:${json}`);
      case "failure":
        return;
      case "unknown":
        this.unknown++;
        break;
      case "step":
        break;
      case "reply":
        this.reply = parsed.reply;
        break;
      default:
        parsed satisfies never;
    }
    this.lastAt = this.#now();
    if (++this.count === 1) this.firstAt = this.lastAt;
    if (this.count <= MAX_REMEMBERED) this.#hashes.push(hashText(json));
    if (parsed.kind === "reply") this.#endBlock(); // Nothing after it is read.
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

  /** Records that something came. */
  #hear(): void {
    const now = this.#now();
    this.silence = Math.max(this.silence, now - this.#lastByteAt);
    this.#lastByteAt = now;
  }

  #takeJunk(line: string): void {
    if (this.junk++ === 0) this.junkSample = line;
  }

  #endBlock(): void {
    // An id that cannot be a header's value never takes effect.
    const id = this.#id === undefined || this.cursorAt === undefined
      ? undefined
      : hashText(this.#id);
    for (const data of this.#hashes) this.remembered.push({ id, data });
    this.#id = undefined;
    this.#hashes = [];
  }
}
