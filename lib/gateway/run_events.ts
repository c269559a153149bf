/**
 * Parses the lines of a run's event stream into events.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "../input_lines.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { selectReply } from "./reply_text.ts";
import type { RunEvent } from "./run_event.ts";
import { StreamCursor } from "./stream_cursor.ts";
import { isTooLong, readLines } from "./stream_lines.ts";

export type { CompleteEvent, ProgressEvent, RunEvent } from "./run_event.ts";

/** A line of the stream is over the limit, so its event is lost. */
export class LineTooLongError extends Error {
  override readonly name = "LineTooLongError";
}

/** Options of {@linkcode readRunEvents}. */
export interface ReadRunEventsOptions {
  /** The most bytes that a line may hold. The default is {@linkcode MAX_LINE_BYTES}. */
  readonly maxLineBytes?: number;
  /** The position in the run's stream, kept over all connections. The default is the start. */
  readonly cursor?: StreamCursor;
}

/**
 * Reads the events of one connection of a run's stream (interface 4.1,
 * "Stream-reading rules").
 *
 * Every line `data: {...}` is an event of its own. Comments, other fields, lines
 * that are not JSON, JSON that is not an object and unknown events are skipped.
 * Nothing is delivered after `complete`.
 *
 * @param chunks The body of the stream, cut anywhere.
 * @param options The line limit, and the cursor, which decides which events are new.
 * @yields For each chunk, the new events that end in it; an empty array if none do.
 * @throws {LineTooLongError} If a line is over the limit.
 */
export async function* readRunEvents(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadRunEventsOptions = {},
): AsyncGenerator<readonly RunEvent[]> {
  const { maxLineBytes = MAX_LINE_BYTES, cursor = new StreamCursor() } =
    options;
  cursor.connect();
  const batches = readLines(chunks, { maxBytes: maxLineBytes });
  try {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) {
        // An unfinished `id:` may be cut. An unfinished `data:` counts if it is JSON.
        if (value?.startsWith("data:")) takeEvent(value, cursor);
        cursor.end();
        yield cursor.take();
        return;
      }
      for (const line of value) {
        if (line === "") {
          cursor.endBlock();
        } else if (isTooLong(line)) {
          yield cursor.take();
          throw new LineTooLongError(
            `a line of the stream is longer than ${maxLineBytes} bytes`,
          );
        } else if (line.startsWith("data:")) {
          if (!takeEvent(line, cursor)) continue;
          yield cursor.take();
          return;
        } else if (line.startsWith("id:")) {
          cursor.id(line.slice(line[3] === " " ? 4 : 3));
        }
      }
      yield cursor.take();
    }
  } finally {
    await batches.return(undefined);
  }
}

/** Adds the event of a `data:` line, if it holds one. Returns whether the run is complete. */
function takeEvent(line: string, cursor: StreamCursor): boolean {
  const event = parseEvent(line.slice("data:".length));
  if (event === undefined) return false;
  if (event.event === "complete") {
    cursor.complete(event);
    return true;
  }
  cursor.progress(event);
  return false;
}

function parseEvent(json: string): RunEvent | undefined {
  const payload = parseJson(json); // stream-reading rule 3: other text is ignored
  if (!isJsonObject(payload)) return undefined;
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

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
