/**
 * What the stream of a run is like, for those who run the service.
 *
 * @module
 */

import { lineFault, readLines, startTimer } from "../io.ts";
import { isJsonObject, parseJson } from "../text.ts";
import { shownText } from "./failure/foreign_text.ts";
import type { Reply } from "./stream/reply_text.ts";
import { isFailureName, parseRecord, valueOf } from "./stream/run_events.ts";
import {
  type OpenStream,
  serverOf,
  type ServiceClient,
  type ServiceRequest,
} from "./http/service_client.ts";
import { ServiceError } from "./failure/service_error.ts";

/** How long streams are read after the reply, in milliseconds. */
const AFTER_REPLY = 1_000;

/** An event of the stream. */
export interface InspectedEvent {
  /** Milliseconds since the stream was asked for. */
  readonly at: number;
  readonly kind: "step" | "reply" | "failure" | "unknown";
  readonly id: string | undefined;
}

/** What a second connection was like, which resumed the stream after the first id. */
export type Resumption =
  /** It went on with the event after that id. `hasNewIds`: under another id. */
  | { readonly kind: "resumed"; readonly hasNewIds: boolean }
  /** It began again with the first event. `hasNewIds`: under another id. */
  | { readonly kind: "repeated"; readonly hasNewIds: boolean }
  /** It left events out. */
  | { readonly kind: "gap"; readonly missed: number }
  /** It sent no event before the run was over. */
  | { readonly kind: "silent" }
  | { readonly kind: "failed"; readonly reason: string };

/** What the stream of a run was like. Times are milliseconds since it was asked for. */
export interface StreamInspection {
  readonly openedAt: number;
  readonly endedAt: number;
  readonly contentType: string;
  /** The headers `Server` and `Via`; empty if there are none. */
  readonly server: string;
  readonly events: readonly InspectedEvent[];
  /** Comments, which keep a silent stream alive. */
  readonly comments: number;
  /** The longest time without a byte. */
  readonly silence: number;
  /** The time without a byte before the end. */
  readonly lastSilence: number;
  /** The number of events whose data is on several lines. */
  readonly splitEvents: number;
  readonly reply: Reply | undefined;
  /** The number of entries of `messages`. */
  readonly messages: number;
  /** The service's words about why the run failed; `undefined` if it did not say so. */
  readonly failure: string | undefined;
  /** Why the stream could not be read to its end; `undefined` if it could. */
  readonly loss: string | undefined;
  /** `undefined` if no event has an id. */
  readonly resumption: Resumption | undefined;
}

/**
 * Reads the stream of a run once, without retries, and resumes it once on purpose,
 * after the first event with an id.
 *
 * @throws {ServiceError} If the stream cannot be opened.
 */
export async function inspectStream(
  client: ServiceClient,
  request: ServiceRequest,
  apiKey: string,
): Promise<StreamInspection> {
  const first = new Reading();
  const second = new Reading();
  const stream = await client.stream(request);
  const openedAt = first.now();
  let resumed: Promise<string | undefined> | undefined;
  const loss = await first.read(stream, client, () => {
    const id = first.events.find((event) => event.id !== undefined)?.id;
    if (id === undefined || resumed !== undefined) return;
    const headers = { ...request.headers, "last-event-id": id };
    resumed = client.stream({ ...request, headers })
      .then((opened) => second.read(opened, client), reasonOf);
  });
  const endedAt = first.now();
  const stop = startTimer(AFTER_REPLY, () => second.drop());
  const secondLoss = await resumed;
  stop();
  const { failure } = first;
  return {
    ...first.facts,
    openedAt,
    endedAt,
    contentType: stream.headers.get("content-type") ?? "",
    server: serverOf(stream.headers),
    failure: failure === undefined ? undefined : shownText(failure, { apiKey }),
    loss,
    resumption: resumed === undefined
      ? undefined
      : resumption(first, second, secondLoss),
  };
}

interface SeenEvent extends InspectedEvent {
  readonly data: string;
}

/** One connection's lines, as they come. */
class Reading {
  readonly #started = performance.now();
  readonly events: SeenEvent[] = [];
  failure: string | undefined;
  #stream: OpenStream | undefined;
  #isDropped = false;
  #comments = 0;
  #splitEvents = 0;
  #silence = 0;
  #lastSilence = 0;
  #reply: Reply | undefined;
  #messages = 0;
  // Of the current block:
  #id: string | undefined;
  #isFailure = false;
  #dataLines = 0;

  /** Milliseconds since the stream was asked for. */
  now(): number {
    return performance.now() - this.#started;
  }

  get facts(): Pick<
    StreamInspection,
    | "events"
    | "comments"
    | "splitEvents"
    | "silence"
    | "lastSilence"
    | "reply"
    | "messages"
  > {
    return {
      events: this.events,
      comments: this.#comments,
      splitEvents: this.#splitEvents,
      silence: this.#silence,
      lastSilence: this.#lastSilence,
      reply: this.#reply,
      messages: this.#messages,
    };
  }

  /** Ends {@linkcode read}. */
  drop(): void {
    this.#isDropped = true;
    this.#stream?.drop();
  }

  /**
   * Reads a stream to its end, and after the reply for a moment.
   *
   * @param onLines Called after each chunk.
   * @returns Why it could not be read to its end, if so.
   */
  async read(
    stream: OpenStream,
    client: ServiceClient,
    onLines: () => void = () => {},
  ): Promise<string | undefined> {
    this.#stream = stream;
    if (this.#isDropped) stream.drop();
    let stop = () => {};
    let lastByteAt = this.now();
    const quiet = () => {
      this.#lastSilence = this.now() - lastByteAt;
      this.#silence = Math.max(this.#silence, this.#lastSilence);
    };
    try {
      for await (const lines of readLines(stream.chunks)) {
        quiet();
        lastByteAt = this.now();
        const isNew = this.#reply === undefined;
        for (const line of lines) this.#line(line);
        if (isNew && this.#reply !== undefined) {
          stop = startTimer(AFTER_REPLY, () => this.drop());
        }
        onLines();
      }
      return undefined;
    } catch (error) {
      if (this.#isDropped) return undefined;
      const explained = client.explain(error, {}); // The time limit, perhaps.
      return reasonOf(
        explained instanceof ServiceError
          ? explained
          : client.connectionError("stream run", error),
      );
    } finally {
      if (this.#reply === undefined) quiet();
      stop();
      stream.drop();
    }
  }

  #line(line: string): void {
    if (line === "") {
      this.#id = undefined;
      this.#isFailure = false;
      if (this.#dataLines > 1) this.#splitEvents++;
      this.#dataLines = 0;
    } else if (line.startsWith(":")) {
      this.#comments++;
    } else if (line.startsWith("id:")) {
      this.#id = valueOf(line, "id:");
      // It may come after the data of its event.
      const last = this.events.at(-1);
      if (this.#dataLines > 0 && last !== undefined) {
        this.events[this.events.length - 1] = { ...last, id: this.#id };
      }
    } else if (line.startsWith("event:")) {
      this.#isFailure = isFailureName(valueOf(line, "event:"));
    } else if (line.startsWith("data:") && lineFault(line) === undefined) {
      this.#dataLines++;
      this.#data(line.slice("data:".length));
    }
  }

  #data(data: string): void {
    const parsed = parseRecord(data, this.#isFailure);
    if (parsed.kind === "text") return;
    if (parsed.kind === "failure") this.failure = parsed.words;
    if (parsed.kind === "reply" && this.#reply === undefined) {
      this.#reply = parsed.reply;
      const payload = parseJson(data);
      const messages = isJsonObject(payload) ? payload.messages : undefined;
      this.#messages = Array.isArray(messages) ? messages.length : 0;
    }
    const { kind } = parsed;
    this.events.push({ at: this.now(), kind, id: this.#id, data });
  }
}

/** Compares what a second connection sent with the whole run. */
function resumption(
  first: Reading,
  second: Reading,
  loss: string | undefined,
): Resumption {
  const [event] = second.events;
  if (event === undefined) {
    return loss === undefined
      ? { kind: "silent" }
      : { kind: "failed", reason: loss };
  }
  const cursor = first.events.findIndex(({ id }) => id !== undefined);
  const byId = first.events.findIndex(({ id }) =>
    id !== undefined && id === event.id
  );
  const after = first.events.findIndex(({ data }, index) =>
    index > cursor && data === event.data
  );
  const isFirst = first.events[0]?.data === event.data;
  const hasNewIds = byId < 0;
  const found = !hasNewIds ? byId : isFirst ? 0 : after;
  if (found >= 0 && found <= cursor) return { kind: "repeated", hasNewIds };
  const missed = found - cursor - 1;
  return missed > 0 ? { kind: "gap", missed } : { kind: "resumed", hasNewIds };
}

function reasonOf(error: unknown): string {
  return error instanceof ServiceError ? error.failure.reason : String(error);
}
