import { setTimeout } from "node:timers/promises";
import type { RecordedRequest } from "./exchange.ts";

/** The context that a behaviour gets in addition to the request. */
export interface BehaviourContext {
  /** The service's normal answer, including its checks. */
  normal(): Response | Promise<Response>;
  /** Aborted when the client goes away, or the service stops, before an answer. */
  readonly signal: AbortSignal;
}

/** Answers a request in place of the normal answer. */
export type Behaviour = (
  request: RecordedRequest,
  context: BehaviourContext,
) => Response | Promise<Response>;

/** How a body ends: correctly, by breaking the connection, or never. */
export type End = "close" | "break" | "hang";

/** Options of a streamed answer. */
interface BodyOptions {
  /** The default is 200. */
  readonly status?: number;
  /** A wrong `content-length` is sent unchanged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The chunk size in bytes. By default each part is a chunk. */
  readonly chunkSize?: number;
  /** The default is `"close"`. */
  readonly end?: End;
}

/** The format of {@linkcode events}. */
interface EventsOptions extends BodyOptions {
  /** The `id:` of the first event; it increases by one per item. By default there is none. */
  readonly firstId?: number;
}

/**
 * The parts of a body, or a function that creates them; its signal is aborted
 * when the reader is gone.
 */
type Parts<T> = Source<T> | ((signal: AbortSignal) => Source<T>);

const encoder = new TextEncoder();

/** A whole answer at once. */
export function answer(
  status: number,
  content: string | Uint8Array = "",
  headers: Readonly<Record<string, string>> = {},
): () => Response {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  const bodiless = status === 204 || status === 304;
  return () => {
    if (bodiless) return new Response(null, { status, headers });
    return new Response(bytes.slice(), {
      status,
      headers: { "content-length": `${bytes.length}`, ...headers },
    });
  };
}

/** A whole JSON answer. */
export function json(value: unknown, status = 200): () => Response {
  return answer(status, JSON.stringify(value), {
    "content-type": "application/json",
  });
}

/** A redirect. */
export function redirect(location: string, status = 302): () => Response {
  return answer(status, "", { location });
}

/** An answer whose body consists of these parts, one chunk each, sent as it is read. */
export function body(
  parts: Parts<string | Uint8Array>,
  options: BodyOptions = {},
): () => Response {
  const { status = 200, headers = {}, chunkSize, end = "close" } = options;
  async function* encoded(signal: AbortSignal) {
    const source = typeof parts === "function" ? parts(signal) : parts;
    for await (const part of source) {
      yield typeof part === "string" ? encoder.encode(part) : part;
    }
  }
  async function* ending(signal: AbortSignal) {
    const chunks = encoded(signal);
    yield* chunkSize === undefined ? chunks : rechunk(chunks, chunkSize);
    if (end === "hang") await aborted(signal);
    if (end === "break") throw new Error("The service breaks off here");
  }
  return () => new Response(toByteStream(ending), { status, headers });
}

/** A stream of these events; text and bytes among them are sent unchanged. */
export function events(
  items: Parts<StreamItem>,
  options: EventsOptions = {},
): () => Response {
  const { firstId, headers } = options;
  async function* encoded(signal: AbortSignal) {
    let id = firstId;
    const source = typeof items === "function" ? items(signal) : items;
    for await (const item of source) {
      yield encodeItem(item, id);
      if (id !== undefined) id++;
    }
  }
  return body(encoded, {
    ...options,
    headers: { "content-type": "text/event-stream", ...headers },
  });
}

/** No answer, not even a status, until the client disconnects. */
export function hang(): Behaviour {
  return (_request, { signal }) => aborted(signal);
}

/** Values that are pulled one by one, synchronously or asynchronously. */
type Source<T> = Iterable<T> | AsyncIterable<T>;

/**
 * A stream that pulls from its source only as its reader requests.
 *
 * `source` gets a signal that is aborted when the reader cancels. An exception of
 * `source` errors the stream.
 */
function toByteStream(
  source: (signal: AbortSignal) => AsyncIterator<Uint8Array>,
): ReadableStream<Uint8Array> {
  const dropped = new AbortController();
  const iterator = source(dropped.signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel(reason) {
      dropped.abort(reason);
    },
  }, { highWaterMark: 0 });
}

/** The same bytes in chunks of `size`. */
async function* rechunk(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk = new Uint8Array(size);
  let length = 0;
  for await (let rest of source) {
    while (rest.length > 0) {
      const taken = rest.subarray(0, size - length);
      chunk.set(taken, length);
      length += taken.length;
      rest = rest.subarray(taken.length);
      if (length < size) continue;
      yield chunk;
      chunk = new Uint8Array(size);
      length = 0;
    }
  }
  if (length > 0) yield chunk.subarray(0, length);
}

/** Resolves after `ms`; rejects once the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal });
}

/** Rejects with the signal's reason once it is aborted, never resolves. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), {
      once: true,
    });
  });
}

/** One event of a run's stream: the JSON object after `data: `. */
export type StreamEvent = Readonly<Record<string, unknown>>;

/** An item of a stream: an event, or text or bytes to send unchanged. */
export type StreamItem = StreamEvent | string | Uint8Array;

/** The event for a node that a run has reached. */
export function progress(node: string, status: string): StreamEvent {
  return { event: "progress", node, status };
}

/** The event that ends a run and holds its reply. */
export function complete(explanation: string): StreamEvent {
  return { event: "complete", instructorState: { explanation } };
}

/** The bytes of one item: an event becomes a `data:` line, after its `id:`, if it has one. */
export function encodeItem(
  item: StreamItem,
  id?: string | number,
): Uint8Array {
  if (item instanceof Uint8Array) return item;
  if (typeof item === "string") return encoder.encode(item);
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${idLine}data: ${JSON.stringify(item)}\n\n`);
}
