import { Buffer } from "node:buffer";
import type { Operation } from "../service/exchange.ts";
import { correctBody, http } from "./answers.ts";
import { bodyLength, type Connection, operationOf } from "./service.ts";

/** A place in a request that was reached while it was read. */
export interface Part {
  readonly operation: Operation;
  readonly place: "after the head" | "in the middle" | "after the body";
  /** The request's HTTP/2 stream; 0 over HTTP/1.1. */
  readonly stream: number;
  /** Sends the correct answer. It takes a request that was read to its end. */
  answer(): Promise<void>;
  /** Sends an answer with this status, which closes the connection over HTTP/1.1. */
  refuse(status: number): Promise<void>;
}

/** Where the middle of a body is, in bytes. */
const MIDDLE = 16 * 1024;

/** Reads requests in parts, over HTTP/1.1 or HTTP/2. */
export function partsOf(
  connection: Connection,
  protocol: "http/1.1" | "h2",
): AsyncGenerator<Part> {
  return protocol === "h2" ? http2Parts(connection) : http1Parts(connection);
}

async function* http1Parts(connection: Connection): AsyncGenerator<Part> {
  for (;;) {
    const head = await connection.head();
    if (head === undefined) return;
    connection.take(Buffer.byteLength(head));
    const operation = operationOf(head);
    const answer = () =>
      connection.write(http("200 OK", {}, correctBody(operation)));
    const refuse = (status: number) =>
      connection.write(http(`${status} No`, { connection: "close" }, "{}"));
    const part = { operation, stream: 0, answer, refuse };
    yield { ...part, place: "after the head" };
    const length = bodyLength(head);
    if (length > MIDDLE) {
      if (!await connection.holds(MIDDLE)) return;
      yield { ...part, place: "in the middle" };
    }
    if (!await connection.holds(length)) return;
    connection.take(length);
    yield { ...part, place: "after the body" };
  }
}

// The types and flags of HTTP/2 frames (RFC 9113, 6).
const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE] = [
  ...[0, 1, 3, 4, 7, 8],
] as const;
const [ACK, END_STREAM, END_HEADERS] = [1, 1, 4] as const;

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES = 9;

/** How the header block of a `GET` begins: a field of the static table (RFC 7541, A). */
const METHOD_GET = 0x82;

/** The field `:status` with a value of three bytes, which follows (RFC 7541, 6.2.2). */
const STATUS = Buffer.of(0x08, 3);

/** Ends the connection: requests on streams after `lastStream` were not taken. */
export function goAway(
  lastStream: number,
  error: number,
  debugData = "",
): Uint8Array {
  const payload = [words(lastStream, error), Buffer.from(debugData)];
  return frame(GOAWAY, { payload: Buffer.concat(payload) });
}

/** Ends a stream alone. */
export function resetStream(stream: number, error: number): Uint8Array {
  return frame(RST_STREAM, { stream, payload: words(error) });
}

function frame(
  type: number,
  { flags = 0, stream = 0, payload = Buffer.alloc(0) }: {
    readonly flags?: number;
    readonly stream?: number;
    readonly payload?: Buffer;
  },
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Numbers of 32 bits. */
function words(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, index) => bytes.writeUInt32BE(number, 4 * index));
  return bytes;
}

async function* http2Parts(connection: Connection): AsyncGenerator<Part> {
  const operations = new Map<number, Operation>();
  const sizes = new Map<number, number>();
  if (!await connection.holds(PREFACE.length)) return;
  connection.take(PREFACE.length);
  await connection.write(frame(SETTINGS, {}));
  while (await connection.holds(HEAD_BYTES)) {
    const length = connection.received.readUIntBE(0, 3);
    if (!await connection.holds(HEAD_BYTES + length)) return;
    const bytes = connection.take(HEAD_BYTES + length);
    const type = bytes.readUInt8(3);
    const flags = bytes.readUInt8(4);
    const stream = bytes.readUInt32BE(5);
    const isLast = (flags & END_STREAM) !== 0;
    const begun = isLast ? "create thread" : "create run";
    const operation = operations.get(stream) ??
      (bytes[HEAD_BYTES] === METHOD_GET ? "stream" : begun);
    const answer = () =>
      connection.write(answerFrames(stream, 200, correctBody(operation)));
    const refuse = (status: number) =>
      connection.write(answerFrames(stream, status, "{}"));
    const part = { operation, stream, answer, refuse };
    if (type === SETTINGS && (flags & ACK) === 0) {
      await connection.write(frame(SETTINGS, { flags: ACK }));
    } else if (type === HEADERS) {
      operations.set(stream, operation);
      yield { ...part, place: "after the head" };
    } else if (type === DATA && length > 0) {
      const size = sizes.get(stream) ?? 0;
      sizes.set(stream, size + length);
      for (const id of [0, stream]) {
        const update = { stream: id, payload: words(length) };
        await connection.write(frame(WINDOW_UPDATE, update));
      }
      if (size < MIDDLE && size + length >= MIDDLE) {
        yield { ...part, place: "in the middle" };
      }
    }
    if ((type === DATA || type === HEADERS) && isLast) {
      yield { ...part, place: "after the body" };
    }
  }
}

function answerFrames(
  stream: number,
  status: number,
  body: string,
): Uint8Array {
  return Buffer.concat([
    openAnswer(stream, "", status),
    frame(DATA, { flags: END_STREAM, stream, payload: Buffer.from(body) }),
  ]);
}

/** Begins an answer that does not end. */
export function openAnswer(
  stream: number,
  body: string,
  status = 200,
): Uint8Array {
  const flags = END_HEADERS;
  const payload = Buffer.concat([STATUS, Buffer.from(`${status}`)]);
  const head = frame(HEADERS, { flags, stream, payload });
  if (body === "") return head;
  const data = frame(DATA, { stream, payload: Buffer.from(body) });
  return Buffer.concat([head, data]);
}
