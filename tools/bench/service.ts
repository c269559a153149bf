/**
 * The service of the benchmarks: the three operations on bare TCP or TLS, with
 * streams that are prepared before they are requested and cut as a
 * {@linkcode Shape} says. Nagle's algorithm is off: each write leaves at once. A
 * process of its own: prints its URL, one line, and runs until its input ends.
 *
 * ```sh
 * deno run --allow-net --allow-read tools/bench/service.ts KEY [CERTIFICATE PRIVATE_KEY]
 * ```
 *
 * @module
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import {
  chunksOf,
  clock,
  COMPLETE,
  progressEvent,
  type Shape,
} from "./shape.ts";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly head: string;
  readonly body: string;
}

/** The connection of a client. */
interface Connection {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** @throws If the client is gone. */
  write(data: Uint8Array): Promise<void>;
}

interface PacedStream {
  readonly connection: Connection;
  end(): void;
}

const HOSTNAME = "127.0.0.1";
const BACKLOG = 4096;

const encoder = new TextEncoder();
const STREAM_END = concat([httpChunk(COMPLETE), encoder.encode("0\r\n\r\n")]);
const STREAM_HEAD = encoder.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" +
    "cache-control: no-store\r\ntransfer-encoding: chunked\r\n\r\n",
);

const [key, certificate, privateKey] = Deno.args;
const prepared = new Map<string, readonly Uint8Array[]>();
const counts = { connections: 0, streams: 0 };
let waiting: PacedStream[] = [];

const url = certificate === undefined || privateKey === undefined
  ? `http://${HOSTNAME}:${listen()}`
  : `https://${HOSTNAME}:${await listenTls(certificate, privateKey)}`;
console.log(url);
Deno.stdin.readable.pipeTo(new WritableStream()).finally(() => Deno.exit());

/** Serves TCP connections. Returns the port. */
function listen(): number {
  const options = { hostname: HOSTNAME, port: 0, tcpBacklog: BACKLOG };
  const listener = Deno.listen(options);
  (async () => {
    for await (const connection of listener) {
      serve(overTcp(connection)).catch(() => {}); // The client is gone.
    }
  })();
  return listener.addr.port;
}

/**
 * Serves TLS connections. Returns the port. With `Deno.listenTls()`, Nagle's
 * algorithm would stay on.
 */
async function listenTls(
  certificate: string,
  privateKey: string,
): Promise<number> {
  const server = createServer({
    cert: await Deno.readTextFile(certificate),
    key: await Deno.readTextFile(privateKey),
    noDelay: true,
  }, (socket) => {
    serve(overTls(socket)).catch(() => {}); // The client is gone.
  });
  server.listen({ host: HOSTNAME, port: 0, backlog: BACKLOG });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function overTcp(connection: Deno.TcpConn): Connection {
  connection.setNoDelay(true);
  return {
    chunks: connection.readable,
    async write(data) {
      for (let written = 0; written < data.length;) {
        written += await connection.write(data.subarray(written));
      }
    },
  };
}

function overTls(socket: TLSSocket): Connection {
  socket.on("error", () => {}); // Reading and writing fail with the same error.
  return {
    chunks: socket,
    write: (data) =>
      new Promise((resolve, reject) => {
        socket.write(data, (error) => error ? reject(error) : resolve());
      }),
  };
}

async function serve(connection: Connection): Promise<void> {
  const first = { request: true, stream: true };
  for await (const request of readRequests(connection)) {
    const stream = /\/runs\/([\w-]+)\/stream(?:\?|$)/.exec(request.path);
    if (request.path === "/counts") {
      await connection.write(json(200, counts));
      continue;
    }
    counts.connections += Number(first.request);
    first.request = false;
    if (!request.head.includes(`x-api-key: ${key}`)) {
      await connection.write(json(401, { message: "Wrong key" }));
    } else if (stream?.[1] !== undefined) {
      counts.streams += Number(first.stream);
      first.stream = false;
      await sendStream(connection, stream[1]);
    } else if (request.path === "/threads") {
      const thread = { thread_id: crypto.randomUUID() };
      await connection.write(json(200, thread));
    } else {
      const run = { run_id: prepare(request) };
      await connection.write(json(200, run));
    }
  }
}

async function* readRequests(
  { chunks }: Connection,
): AsyncGenerator<Request> {
  const decoder = new TextDecoder("latin1");
  let text = "";
  for await (const chunk of chunks) {
    text += decoder.decode(chunk);
    for (;;) {
      const end = text.indexOf("\r\n\r\n") + 4;
      const head = text.slice(0, end).toLowerCase();
      const length = Number(/^content-length: *(\d+)/m.exec(head)?.[1] ?? 0);
      if (end < 4 || text.length < end + length) break;
      const [method = "", path = ""] = text.split(" ", 2);
      yield { method, path, head, body: text.slice(end, end + length) };
      text = text.slice(end + length);
    }
  }
}

/** Prepares a run's stream, and returns the run's id. */
function prepare({ body }: Request): string {
  const parameters = JSON.parse(body);
  // LangGraph's client sends the prompt as its graph's input.
  const prompt: string = parameters.prompt ?? parameters.input.prompt;
  const runId = btoa(prompt).replaceAll("=", "")
    .replaceAll("+", "-").replaceAll("/", "_");
  if (!prepared.has(runId)) {
    const shape: Shape = JSON.parse(prompt);
    const chunks = shape.rate === undefined ? chunksOf(shape) : [];
    prepared.set(runId, [...chunks].map(httpChunk));
  }
  return runId;
}

async function sendStream(
  connection: Connection,
  runId: string,
): Promise<void> {
  const shape: Shape = JSON.parse(
    atob(runId.replaceAll("-", "+").replaceAll("_", "/")),
  );
  const chunks = prepared.get(runId) ?? [];
  if (shape.rate === undefined && chunks.length <= 1) {
    const answer = concat([STREAM_HEAD, ...chunks, STREAM_END]);
    return await connection.write(answer);
  }
  await connection.write(STREAM_HEAD);
  if (shape.rate !== undefined) await sendPaced(connection, shape, shape.rate);
  for (let times = shape.repeat ?? 1; times > 0; times--) {
    for (const chunk of chunks) await connection.write(chunk);
  }
  await connection.write(STREAM_END);
}

/** Sends events one by one. Streams that begin together take turns. */
async function sendPaced(
  connection: Connection,
  shape: Shape,
  rate: number,
): Promise<void> {
  const { events, together = 1 } = shape;
  const end = Promise.withResolvers<void>();
  waiting.push({ connection, end: () => end.resolve() });
  if (waiting.length >= together) {
    const streams = waiting;
    waiting = [];
    const start = clock();
    const interval = 1000 / rate / streams.length;
    for (let sent = 0; sent < events * streams.length;) {
      const now = clock();
      const due = Math.floor((now - start) / interval) + 1;
      // One write for all due events, so that the service is not the bottleneck.
      const chunk = httpChunk(progressEvent(shape, now.toFixed(3)));
      for (; sent < Math.min(due, events * streams.length); sent++) {
        const stream = streams[sent % streams.length];
        stream?.connection.write(chunk).catch(stream.end); // It is gone.
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (const stream of streams) stream.end();
  }
  await end.promise;
}

function httpChunk(data: Uint8Array): Uint8Array {
  const size = encoder.encode(`${data.length.toString(16)}\r\n`);
  return concat([size, data, encoder.encode("\r\n")]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let length = 0;
  for (const part of parts) {
    whole.set(part, length);
    length += part.length;
  }
  return whole;
}

function json(status: number, value: unknown): Uint8Array {
  const body = JSON.stringify(value);
  return encoder.encode(
    `HTTP/1.1 ${status} ${status === 200 ? "OK" : "Unauthorized"}\r\n` +
      "content-type: application/json\r\n" +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
}
