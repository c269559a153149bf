import type { Line } from "../../io.ts";
import {
  holdsTooMuch,
  isJsonObject,
  type JsonObject,
  MAX_SIGNS,
  parseJson,
  type Redacted,
  type Redactor,
  safe,
  size,
} from "../../text.ts";
import { RequestError } from "../failure/failure.ts";
import { errorDetail } from "../http/error_words.ts";
import { NotUnderstood } from "./not_understood.ts";
import { COMPLETION_NOTICE, type Reply, selectReply } from "./reply_text.ts";
import { ConnectionCursor } from "./stream_cursor.ts";
import { MAX_LINE_BYTES, StreamLines } from "./stream_lines.ts";
import type { StreamRecord } from "./stream_record.ts";
import type { ProgressEvent, ReplyEvent, StreamEvent } from "../turn_event.ts";

/**
 * The longest body that is read as an error and not as a stream, in UTF-16 code units.
 */
const MAX_ERROR_LENGTH = 64 * 1024;

/**
 * Reads the events of one connection of a run's stream (interface 4.1,
 * "Stream-reading rules").
 *
 * Every line `data: {...}` is an event of its own. Comments, other fields, lines
 * that are not JSON, JSON that is not an object and unknown events are skipped.
 * Nothing is delivered after the reply. Words about a failed run, and what was not
 * understood, go into the record. They do not end the stream: a reply may still follow.
 *
 * @param chunks The body of the stream, cut anywhere. What follows the reply is not read.
 * @yields What the lines bring that end in a chunk, without the key.
 * @throws {RequestError} If a line is over a limit.
 */
export async function* readRunEvents(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadRunEventsOptions,
): AsyncGenerator<Batch> {
  const parser = new EventParser(options);
  const lines = new StreamLines(chunks);
  for (;;) {
    // No variable has the lines: it would keep a large one while its event is shown.
    const isOver = parser.read(await lines.next());
    yield parser.takeBatch();
    if (parser.fault !== undefined) {
      const reason = safe`A line of the stream ${parser.fault}`;
      throw new RequestError({ stage: "perhaps taken", reason });
    }
    if (isOver) return;
  }
}

interface ReadRunEventsOptions {
  /** What earlier connections of the stream have brought. This one adds to it. */
  readonly record: StreamRecord;
  readonly redactor: Redactor;
}

/** What the lines bring that end in one chunk of a stream. */
interface Batch {
  /** The new events in them. */
  readonly events: readonly StreamEvent[];
  /** Whether one is certainly new: of a stream that was resumed, only an id says so. */
  readonly hasNews: boolean;
  /** Whether the service repeats old events after it. */
  readonly isReplaying: boolean;
}

class EventParser {
  readonly #record: StreamRecord;
  readonly #redactor: Redactor;
  readonly #cursor: ConnectionCursor;
  readonly #notUnderstood: NotUnderstood;
  #events: StreamEvent[] = [];
  /** Whether the field `event:` of the current block says that the run failed. */
  #isFailure = false;
  /** The last `data:` of the current block, if it is no event of a run. */
  #unnamed: string | undefined;
  /** The body so far, as long as it may be a JSON object and not a stream. */
  #body: string | undefined = "";
  /** Why a line cannot be read. Such a line ends the stream. */
  fault: Redacted | undefined;

  constructor({ record, redactor }: ReadRunEventsOptions) {
    this.#record = record;
    this.#redactor = redactor;
    this.#notUnderstood = new NotUnderstood(redactor);
    const deliver = (event: StreamEvent) => this.#events.push(event);
    this.#cursor = new ConnectionCursor(record.cursor, deliver);
  }

  /** Returns what has come since the last call. */
  takeBatch(): Batch {
    const events = this.#events;
    this.#events = [];
    this.#keepNotUnderstood();
    const { isReplaying, hasMoved } = this.#cursor;
    return { events, hasNews: events.length > 0 && hasMoved, isReplaying };
  }

  /** Handles the lines of a chunk, or the end. Returns whether nothing more is read. */
  read(
    { done, value }: IteratorResult<readonly Line[], Line | undefined>,
  ): boolean {
    if (!done) return value.some((line) => this.#line(line));
    this.#end(value);
    return true;
  }

  /** Handles a line. Returns whether nothing more is read. */
  #line(line: Line): boolean {
    if (typeof line !== "string") {
      this.fault = safe`is larger than ${size(MAX_LINE_BYTES)}`;
      return true;
    }
    if (line === "") {
      this.#cursor.endBlock();
      this.#notUnderstood.endBlock();
      this.#isFailure = false;
      this.#unnamed = undefined;
      return false;
    }
    if (line.startsWith("data:")) {
      this.#record.dataLines++;
      return this.#data(line.slice("data:".length));
    }

    if (line.startsWith("id:")) {
      this.#cursor.id(valueOf(line, "id:"));
    } else if (line.startsWith("event:")) {
      this.#name(valueOf(line, "event:"));
    } else if (line.startsWith(":")) {
      this.#record.comments++;
    } else if (/^retry: ?\d+$/.test(line)) {
      this.#record.retry = Number(valueOf(line, "retry:"));
    } else if (!/^(?:data|event|id|retry)(?:$|:)/.test(line)) {
      this.#notUnderstood.add("no data", line);
    }
    this.#hold(line);
    return false;
  }

  /** Handles the end of the connection, at which a line may be unfinished. */
  #end(unfinished: Line = ""): void {
    if (typeof unfinished !== "string") return;
    // An unfinished `id:` may be cut. An unfinished `data:` counts if it is JSON.
    if (unfinished.startsWith("data:")) {
      this.#data(unfinished.slice("data:".length));
    } else {
      this.#hold(unfinished);
    }
    this.#cursor.endConnection();
    this.#notUnderstood.endBlock();
    if (this.#body) this.#readBody(this.#body);
  }

  #hold(line: string): void {
    if (this.#body === undefined) return;
    const body = `${this.#body}${line}\n`;
    this.#body = body.length <= MAX_ERROR_LENGTH ? body : undefined;
  }

  /** Handles a whole body that may be a JSON object in place of a stream. */
  #readBody(body: string): void {
    const value = parseJson(body);
    const words = errorDetail(value);
    if (words !== undefined) this.#fail(words);
    else if (isJsonObject(value)) this.#notUnderstood.body(body);
  }

  #keepNotUnderstood(): void {
    const mine = this.#notUnderstood;
    if (!mine.isEmpty) this.#record.notUnderstood = mine;
  }

  /** Handles the name of the block, which may come after its `data:`. */
  #name(name: string): void {
    this.#isFailure = isFailureName(name);
    const json = this.#unnamed;
    if (!this.#isFailure || json === undefined) return;
    this.#unnamed = undefined;
    const words = failureWords(parseJson(json), json, true);
    if (words !== undefined) this.#fail(words);
  }

  /** Handles the value of a `data:` line. Returns whether nothing more is read. */
  #data(json: string): boolean {
    this.#body = undefined;
    this.#unnamed = undefined;
    if (holdsTooMuch(json)) {
      this.fault =
        safe`contains more than ${MAX_SIGNS} brackets, commas and colons`;
      return true;
    }
    const value = parseJson(json); // stream-reading rule 3: other text is ignored
    if (isJsonObject(value)) {
      this.#record.hasObjects = true;
      if (value.event === "complete") {
        this.#cursor.event(this.#reply(selectReply(value)));
        return true;
      }
      if (value.event === "progress") {
        this.#cursor.event(this.#progress(value, json));
        return false;
      }
    }
    const words = failureWords(value, json, this.#isFailure);
    if (words !== undefined) {
      this.#fail(words);
      return false;
    }
    this.#unnamed = json;
    this.#notUnderstood.data(json, value);
    if (isJsonObject(value)) this.#cursor.event("unknown");
    return false;
  }

  #progress({ node, status }: JsonObject, json: string): ProgressEvent {
    if (typeof node !== "string" || typeof status !== "string") {
      this.#notUnderstood.add("no node", json);
    }
    const { failure } = this.#record;
    // The run has continued.
    if (failure !== undefined) {
      this.#record.failure = { ...failure, isOutdated: true };
    }
    return {
      type: "progress",
      node: this.#redactor.showName(stringOrEmpty(node)),
      status: this.#redactor.showName(stringOrEmpty(status)),
    };
  }

  #reply({ text, unread }: Reply): ReplyEvent {
    for (const [kind, words] of unread) this.#notUnderstood.add(kind, words);
    this.#keepNotUnderstood();
    const isNotice = text === undefined;
    const event = {
      type: "reply",
      text: text ?? COMPLETION_NOTICE,
      isNotice,
    } as const;
    const words = this.#record.notUnderstood?.words;
    if (words === undefined) return event;
    const note =
      safe`The run completed, but its reply could not be read: ${words}. Ask the operator to run agent-gateway --check -p TEXT`;
    return { ...event, notUnderstood: words, ...isNotice && { note } };
  }

  /** Records that the run failed, unless a stream that starts over repeats it. */
  #fail(text: string): void {
    const words = this.#redactor.show(text);
    const { failure } = this.#record;
    const isRepeated = this.#cursor.isReplaying ||
      this.#cursor.mayReplay && failure?.isOutdated === true &&
        failure.words === words;
    if (!isRepeated) this.#record.failure = { words, isOutdated: false };
  }
}

/** Names of events, in lower case: real services send one of them when a run failed. */
const FAILURES: ReadonlySet<string> = new Set([
  ...["error", "failed", "run_failed", "run.failed"],
  "run_error", // AG-UI
]);

function isFailureName(name: unknown): boolean {
  return typeof name === "string" && FAILURES.has(name.toLowerCase());
}

/**
 * The words in the value of a `data:` line about a run that failed, empty if there are
 * none; `undefined` if it is about something else.
 *
 * @param isFailure Whether the field `event:` says that the run failed.
 */
function failureWords(
  value: unknown,
  json: string,
  isFailure: boolean,
): string | undefined {
  if (!isJsonObject(value)) {
    if (!isFailure) return undefined;
    return typeof value === "string" ? value : json;
  }
  const { event, type } = value;
  const hasFailed = isFailureName(event) ||
    event === undefined && (isFailure || isFailureName(type));
  return hasFailed ? errorDetail(value) ?? "" : undefined;
}

/** The value of a field; one space after the colon is not part of it. */
function valueOf(line: string, field: string): string {
  return line.slice(
    line[field.length] === " " ? field.length + 1 : field.length,
  );
}

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
