import {
  aborted,
  rechunk,
  sleep,
  type Source,
  toByteStream,
} from "./byte_stream.ts";
import type { RecordedRequest } from "./recorded_request.ts";
import { encodeItem, type StreamItem } from "./stream_events.ts";

/** What a behaviour may know and use besides the request. */
export interface BehaviourContext {
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
  /** The prompt that creates the run, or whose run is streamed. */
  readonly prompt: string | undefined;
  /** What the service answers when it behaves, its checks included. */
  normal(): Response | Promise<Response>;
  /** Aborted when the client goes away, or the service stops, before an answer. */
  readonly signal: AbortSignal;
}

/** Answers a request in place of the service. */
export type Behaviour = (
  request: RecordedRequest,
  context: BehaviourContext,
) => Response | Promise<Response>;

/** How a body ends: as it should, by breaking the connection, or never. */
export type End = "close" | "break" | "hang";

/** What a streamed answer looks like around its parts. */
export interface BodyOptions {
  /** 200 unless told. */
  readonly status?: number;
  /** A false `content-length` among them is sent as it is. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Joins and splits the body into chunks of so many bytes. As given unless told. */
  readonly chunkSize?: number;
  /** `"close"` unless told. */
  readonly end?: End;
}

/** How {@linkcode events} writes its events. */
export interface EventsOptions extends BodyOptions {
  /** What ends each line of an event. `"\n"` unless told. */
  readonly newline?: "\n" | "\r\n";
  /** The `id:` of the first event; each further one counts up. None unless told. */
  readonly firstId?: number;
}

/** The parts of a body, or what makes them; its signal says nobody reads on. */
export type Parts<T> = Source<T> | ((signal: AbortSignal) => Source<T>);

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

/** Sends the client elsewhere. */
export function redirect(location: string, status = 302): () => Response {
  return answer(status, "", { location });
}

/** An answer whose body is made of these parts, a chunk each, as it is read. */
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

/** A stream of these events; text and bytes among them go out as they are. */
export function events(
  items: Parts<StreamItem>,
  options: EventsOptions = {},
): () => Response {
  const { newline, firstId, headers } = options;
  async function* encoded(signal: AbortSignal) {
    let id = firstId;
    const source = typeof items === "function" ? items(signal) : items;
    for await (const item of source) {
      yield encodeItem(item, { newline, id });
      const counts = typeof item === "object" && !(item instanceof Uint8Array);
      if (id !== undefined && counts) id++;
    }
  }
  return body(encoded, {
    ...options,
    headers: { "content-type": "text/event-stream", ...headers },
  });
}

/** No answer, not even a status, until the client gives up. */
export function hang(): Behaviour {
  return (_request, { signal }) => aborted(signal);
}

/** Another behaviour, or the normal answer, after `ms`. */
export function delayed(
  ms: number,
  behaviour: Behaviour = (_request, context) => context.normal(),
): Behaviour {
  return async (request, context) => {
    await sleep(ms, context.signal);
    return await behaviour(request, context);
  };
}
