/**
 * Parses the lines of a run's event stream into events.
 *
 * @module
 */

import { lineFault, MAX_LINE_BYTES, readLines } from "../../io.ts";
import {
  holdsTooMuch,
  isJsonObject,
  MAX_SIGNS,
  parseJson,
} from "../../text.ts";
import { errorDetail } from "../failure/foreign_text.ts";
import { NOT_UNDERSTOOD, type Reply, selectReply } from "./reply_text.ts";
import { StreamCursor } from "./stream_cursor.ts";
import type { StepEvent, StreamEvent } from "../turn_event.ts";

/** A line of the stream is over a limit, so its event is lost. */
export class LineTooLongError extends Error {
  override readonly name = "LineTooLongError";
}

/** The names of events by which real services say that a run failed, in lower case. */
const FAILURES: ReadonlySet<string> = new Set([
  ...["error", "failed", "run_failed", "run.failed"],
  "run_error", // AG-UI
]);

/** The longest body in place of a stream that is read as an error, in UTF-16 code units. */
const MAX_ERROR_LENGTH = 64 * 1024;

/** What the stream of a run has held, over all of its connections. */
export class StreamRecord {
  /** The position in the stream, which decides which events are new. */
  readonly cursor: StreamCursor = new StreamCursor();
  /** The service's words about why the run failed, unchanged; empty if it gave none. */
  failure: string | undefined;
  /** The number of events that this client knows. */
  known = 0;
  /** The number of JSON objects that it does not know. */
  unknown = 0;
}

/** Sees everything that a stream holds, as it is parsed. */
export interface StreamObserver {
  /**
   * Called when a connection has brought its headers.
   *
   * @param position Tells at any time after which id the stream would be resumed.
   */
  open(headers: Headers, position: Pick<StreamCursor, "lastEventId">): void;
  /** Called for each line, before it is parsed. */
  line(line: string): void;
  /** Called for the value of each `data:` line, with what it means. */
  data(json: string, parsed: ParsedData): void;
}

export interface ReadRunEventsOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxLineBytes?: number;
  readonly observer?: StreamObserver | undefined;
}

/**
 * Reads the events of one connection of a run's stream (interface 4.1,
 * "Stream-reading rules").
 *
 * Every line `data: {...}` is an event of its own. Comments, other fields, lines
 * that are not JSON, JSON that is not an object and unknown events are skipped.
 * Nothing is delivered after the reply. Words about a failed run go into the
 * record, and end nothing: what follows decides.
 *
 * @param chunks The body of the stream, cut anywhere.
 * @param record What the stream has held so far; it is continued.
 * @yields For each chunk, the new events that end in it; an empty array if none do.
 * @throws {LineTooLongError} If a line is over the limit.
 */
export async function* readRunEvents(
  chunks: AsyncIterable<Uint8Array>,
  record: StreamRecord = new StreamRecord(),
  { maxLineBytes = MAX_LINE_BYTES, observer }: ReadRunEventsOptions = {},
): AsyncGenerator<readonly StreamEvent[]> {
  const { cursor } = record;
  cursor.connect();
  const parser = new EventParser(record, observer);
  const batches = readLines(chunks, { maxBytes: maxLineBytes });
  try {
    for (;;) {
      const { done, value } = await batches.next();
      const isComplete = done
        ? parser.end(value)
        : value.some((line) => parser.line(line));
      const events = cursor.take();
      if (!done || events.length > 0) yield events;
      if (parser.fault !== undefined) {
        throw new LineTooLongError(
          parser.fault === "too long"
            ? `a line of the stream is longer than ${maxLineBytes} bytes`
            : `a line of the stream holds more than ${MAX_SIGNS} brackets, commas and colons`,
        );
      }
      if (done || isComplete) return;
    }
  } finally {
    await batches.return(undefined);
  }
}

/** Takes the lines of one connection. */
class EventParser {
  readonly #record: StreamRecord;
  readonly #observer: StreamObserver | undefined;
  /** Whether the field `event:` of the current block says that the run failed. */
  #isFailure = false;
  /** The lines so far of an answer that looks like JSON instead of an event stream. */
  #body: string[] | undefined;
  #bodyLength = 0;
  #isFirst = true;
  /** Why a line could not be read, and ends the stream. */
  fault: "too long" | "too much" | undefined;

  constructor(record: StreamRecord, observer: StreamObserver | undefined) {
    this.#record = record;
    this.#observer = observer;
  }

  /** Handles a line. Returns whether nothing more is to be read. */
  line(line: string): boolean {
    const { cursor } = this.#record;
    this.#observer?.line(line);
    if (line === "") {
      cursor.endBlock();
      this.#isFailure = false;
      return false;
    }
    if (lineFault(line) !== undefined) {
      this.fault = "too long";
      return true;
    }
    if (line.startsWith("data:")) return this.#data(line.slice("data:".length));
    if (line.startsWith("id:")) cursor.id(valueOf(line, "id:"));
    else if (line.startsWith("event:")) {
      this.#isFailure = isFailureName(valueOf(line, "event:"));
    } else if (this.#isFirst && line.trimStart().startsWith("{")) {
      this.#body = [];
    }
    this.#isFirst = false;
    if (this.#body !== undefined) this.#hold(line);
    return false;
  }

  /** Handles the end of the connection. Returns whether the run is complete. */
  end(unfinished: string | undefined): boolean {
    if (unfinished !== undefined) this.#observer?.line(unfinished);
    // An unfinished `id:` may be cut. An unfinished `data:` counts if it is JSON.
    const isComplete = unfinished?.startsWith("data:") === true &&
      this.#data(unfinished.slice("data:".length));
    if (unfinished !== undefined && !unfinished.startsWith("data:")) {
      if (this.#isFirst || this.#body !== undefined) {
        this.#body ??= [];
        this.#hold(unfinished);
      }
    }
    this.#record.cursor.end();
    if (this.#body !== undefined) {
      this.#record.failure = errorDetail(parseJson(this.#body.join("\n")));
    }
    return isComplete;
  }

  #hold(line: string): void {
    this.#bodyLength += line.length;
    if (this.#bodyLength <= MAX_ERROR_LENGTH) this.#body?.push(line);
  }

  /** Handles the value of a `data:` line. Returns whether the run is complete. */
  #data(json: string): boolean {
    const { cursor } = this.#record;
    this.#isFirst = false;
    this.#body = undefined;
    if (holdsTooMuch(json)) {
      this.fault = "too much";
      return true;
    }
    const parsed = parseData(json, this.#isFailure);
    this.#observer?.data(json, parsed);
    switch (parsed.kind) {
      case "step":
        this.#record.known++;
        cursor.step(parsed.event, json);
        return false;
      case "reply": {
        this.#record.known++;
        const { text, source } = parsed.reply;
        const note = source.kind === "unread" ? { note: NOT_UNDERSTOOD } : {};
        cursor.reply({ type: "reply", text, ...note });
        return true;
      }
      case "failure":
        this.#record.failure = parsed.words;
        return false;
      case "unknown":
        this.#record.unknown++;
        cursor.step(undefined, json);
        return false;
      case "text":
        return false;
      default:
        return parsed satisfies never;
    }
  }
}

/** What a `data:` line holds. */
export type ParsedData =
  | { readonly kind: "step"; readonly event: StepEvent }
  | { readonly kind: "reply"; readonly reply: Reply }
  /** The service's words about why the run failed; empty if it gave none. */
  | { readonly kind: "failure"; readonly words: string }
  /** A JSON object that this client does not know. */
  | { readonly kind: "unknown" }
  /** Text that is no JSON object. */
  | { readonly kind: "text" };

/**
 * Parses the value of a `data:` line.
 *
 * @param isFailure Whether the field `event:` before it says that the run failed.
 */
function parseData(json: string, isFailure: boolean): ParsedData {
  const payload = parseJson(json); // stream-reading rule 3: other text is ignored
  if (!isJsonObject(payload)) {
    if (!isFailure) return { kind: "text" };
    const words = typeof payload === "string" ? payload : json;
    return { kind: "failure", words };
  }
  const { event, type, node, status } = payload;
  if (event === "progress") {
    const names = { node: stringOrEmpty(node), status: stringOrEmpty(status) };
    return { kind: "step", event: { type: "progress", ...names } };
  }
  if (event === "complete") {
    return { kind: "reply", reply: selectReply(payload) };
  }
  const hasFailed = isFailureName(event) ||
    event === undefined && (isFailure || isFailureName(type));
  return hasFailed
    ? { kind: "failure", words: errorDetail(payload) ?? "" }
    : { kind: "unknown" };
}

/** Whether the name of an event says that the run failed. */
function isFailureName(name: unknown): boolean {
  return typeof name === "string" && FAILURES.has(name.toLowerCase());
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
