/**
 * The text of a run's event stream to events, and the last event to a reply.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "../input_lines.ts";
import { isTooLong, readLines } from "./stream_lines.ts";

/** The run advances through a node (interface 6). */
export interface ProgressEvent {
  readonly event: "progress";
  /** The node's name; empty if the service gave none. */
  readonly node: string;
  /** What the node is doing; empty if the service gave nothing. */
  readonly status: string;
}

/** The run is finished (interface 6). */
export interface CompleteEvent {
  readonly event: "complete";
  /** The reply text, selected as in interface 2. Never empty. */
  readonly reply: string;
}

/** What a run's stream tells. */
export type RunEvent = ProgressEvent | CompleteEvent;

/** The reply of a run that completed without any text (interface 2, "Reply text selection"). */
export const COMPLETION_NOTICE = "Run completed.";

/** A line of the stream is over the limit, so what it says is lost. */
export class LineTooLongError extends Error {
  override readonly name = "LineTooLongError";
}

/** Options of {@linkcode readRunEvents}. */
export interface ReadRunEventsOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxLineBytes?: number;
  /**
   * Called with the id of the last event that was delivered whole: where a
   * resumed stream goes on. `undefined` when the service takes its id back.
   */
  readonly onCursor?: (lastEventId: string | undefined) => void;
}

/**
 * Reads the events of a run's stream (interface 4.1, "Stream-reading rules").
 *
 * Every line `data: {...}` is an event of its own. Comments, other fields, lines
 * that are not JSON, JSON that is not an object and unknown events are skipped.
 * Nothing is delivered after `complete`.
 *
 * @param chunks The body of the stream, cut anywhere.
 * @param options The limit, and who wants to know the cursor.
 * @returns For each chunk the events that it ends, even if there are none.
 * @throws {LineTooLongError} If a line is over the limit.
 */
export async function* readRunEvents(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadRunEventsOptions = {},
): AsyncGenerator<readonly RunEvent[]> {
  const { maxLineBytes = MAX_LINE_BYTES, onCursor } = options;
  const cursor = new Cursor(onCursor);
  for await (const lines of readLines(chunks, { maxBytes: maxLineBytes })) {
    const events: RunEvent[] = [];
    for (const line of lines) {
      if (line === "") {
        cursor.endBlock();
      } else if (isTooLong(line)) {
        yield events;
        throw new LineTooLongError(
          `a line of the stream is longer than ${maxLineBytes} bytes`,
        );
      } else if (line.startsWith("data:")) {
        const event = parseEvent(line.slice("data:".length));
        if (event === undefined) continue;
        events.push(event);
        if (event.event === "complete") {
          yield events;
          return;
        }
        cursor.delivered();
      } else if (line.startsWith("id:")) {
        cursor.id(line.slice(line[3] === " " ? 4 : 3));
      }
    }
    yield events;
  }
}

/**
 * Where a stream that breaks has to be resumed. An `id:` line counts from the
 * moment its event is delivered, before or after the line in the same block:
 * sooner, the event would be lost; later, it would come twice.
 */
class Cursor {
  readonly #onCursor: ((id: string | undefined) => void) | undefined;
  #pending: string | undefined;
  #delivered = false;

  constructor(onCursor: ((id: string | undefined) => void) | undefined) {
    this.#onCursor = onCursor;
  }

  id(value: string): void {
    if (value.includes("\0")) return;
    this.#pending = value;
    if (this.#delivered) this.#commit();
  }

  delivered(): void {
    this.#delivered = true;
    this.#commit();
  }

  endBlock(): void {
    this.#commit();
    this.#delivered = false;
  }

  #commit(): void {
    if (this.#pending === undefined) return;
    this.#onCursor?.(this.#pending === "" ? undefined : this.#pending);
    this.#pending = undefined;
  }
}

function parseEvent(json: string): RunEvent | undefined {
  let payload: unknown;
  try {
    payload = JSON.parse(json);
  } catch {
    return undefined; // stream-reading rule 3
  }
  if (!isRecord(payload)) return undefined;
  switch (payload.event) {
    case "progress":
      return {
        event: "progress",
        node: stringOrEmpty(payload.node),
        status: stringOrEmpty(payload.status),
      };
    case "complete":
      return { event: "complete", reply: selectReply(payload) };
    default:
      return undefined;
  }
}

/**
 * Selects the reply text of a `complete` event (interface 2): the explanation,
 * else the last text among the messages of an assistant (among all of them, if
 * none says that it is an assistant's), else {@linkcode COMPLETION_NOTICE}.
 *
 * @param payload The event's JSON object.
 */
export function selectReply(
  payload: Readonly<Record<string, unknown>>,
): string {
  const state = payload.instructorState;
  const explanation = isRecord(state) ? state.explanation : undefined;
  if (typeof explanation === "string" && !isBlank(explanation)) {
    return explanation;
  }
  const messages = payload.messages;
  if (!Array.isArray(messages)) return COMPLETION_NOTICE;
  const fromAssistant = messages.filter(isFromAssistant);
  return lastText(fromAssistant.length > 0 ? fromAssistant : messages) ??
    COMPLETION_NOTICE;
}

function isFromAssistant(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const { role, type } = message;
  return role === "assistant" || role === "ai" || type === "assistant" ||
    type === "ai";
}

function lastText(messages: readonly unknown[]): string | undefined {
  for (const message of messages.toReversed()) {
    const text = messageText(message);
    if (text !== undefined && !isBlank(text)) return text;
  }
  return undefined;
}

function messageText(message: unknown): string | undefined {
  if (typeof message === "string") return message;
  if (!isRecord(message)) return undefined;
  const { content, text } = message;
  if (typeof content === "string") return content;
  if (typeof text === "string") return text;
  if (!Array.isArray(content)) return undefined;
  return content
    .map((part) =>
      isRecord(part) && part.type === "text" ? stringOrEmpty(part.text) : ""
    )
    .join("");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
