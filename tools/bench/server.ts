/**
 * The service of the benchmarks: the three operations, with streams that are
 * prepared before they are requested, and cut into chunks as a {@linkcode Shape}
 * says. Nagle's algorithm is off: each write leaves at once. It prints its URL, one
 * line, and runs until its input ends.
 *
 *     node server.mjs KEY (http | (https | h2) CERTIFICATE PRIVATE_KEY)
 *
 * On Node.js, because the HTTP/2 server of Deno 2.9.6 aborts now and then when a
 * client leaves ("Assertion `stream->closed_next == NULL' failed").
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { Writable } from "node:stream";
import {
  chunksOf,
  clock,
  COMPLETE,
  progressEvent,
  type Shape,
} from "./service.ts";

type Request = http.IncomingMessage | http2.Http2ServerRequest;
type Response = Writable & {
  writeHead(status: number, headers: Record<string, string>): unknown;
};

/** The chunks of streams, by the ids of their runs. */
const prepared = new Map<string, readonly Buffer[]>();

/** The streams that wait until they can begin together. */
let waiting: Response[] = [];

const [key, protocol, ...files] = process.argv.slice(2);
const server = createServer((request, response) => {
  request.on("error", () => {}); // The client is gone, here and below.
  response.on("error", () => {});
  answer(request, response).catch(() => {});
});
server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 });
await once(server, "listening");
const { address, port } = server.address() as AddressInfo;
const scheme = protocol === "http" ? "http" : "https";
console.log(`${scheme}://${address}:${port}`);
process.stdin.on("end", () => process.exit()).resume();

function createServer(
  listener: (request: Request, response: Response) => void,
): http.Server | https.Server | http2.Http2SecureServer {
  const [cert, key] = files.map((file) => readFileSync(file));
  const noDelay = true;
  if (cert === undefined || key === undefined) {
    return http.createServer({ noDelay }, listener);
  }
  const options = { cert, key, noDelay };
  if (protocol === "https") return https.createServer(options, listener);
  return http2.createSecureServer({ ...options, allowHTTP1: true }, listener);
}

async function answer(request: Request, response: Response): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const path = request.url ?? "";
  const [, runId] = /\/runs\/([\w-]+)\/stream(?:\?|$)/.exec(path) ?? [];
  if (request.headers["x-api-key"] !== key) {
    sendJson(response, { message: "Wrong key" }, 401);
  } else if (runId !== undefined) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    await sendStream(response, runId);
  } else if (path === "/threads") {
    sendJson(response, { thread_id: crypto.randomUUID() });
  } else {
    const { prompt, input } = JSON.parse(body);
    // LangGraph's client sends the prompt as its graph's input.
    sendJson(response, { run_id: createRun(prompt ?? input.prompt) });
  }
}

function sendJson(response: Response, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** Returns the id of a run, which holds the shape of its stream. */
function createRun(prompt: string): string {
  const runId = Buffer.from(prompt).toString("base64url");
  const shape: Shape = JSON.parse(prompt);
  if (shape.rate === undefined && !prepared.has(runId)) {
    prepared.set(runId, chunksOf(shape));
  }
  return runId;
}

async function sendStream(response: Response, runId: string): Promise<void> {
  const shape: Shape = JSON.parse(Buffer.from(runId, "base64url").toString());
  const chunks = prepared.get(runId);
  if (chunks === undefined) return await sendPaced(response, shape);
  for (let times = shape.repeat ?? 1; times > 0; times--) {
    for (const chunk of chunks) {
      if (!response.write(chunk)) await once(response, "drain");
    }
  }
  response.end(COMPLETE);
}

/** Sends events one by one. Streams that begin together take turns. */
async function sendPaced(response: Response, shape: Shape): Promise<void> {
  const { events, together = 1, rate = 1 } = shape;
  waiting.push(response);
  if (waiting.length < together) return;
  const streams = waiting;
  waiting = [];
  const start = clock();
  const interval = 1000 / rate / streams.length;
  for (let sent = 0; sent < events * streams.length;) {
    const now = clock();
    const due = Math.floor((now - start) / interval) + 1;
    // Encoded once for all due events, so that the service is not the bottleneck.
    const event = progressEvent(shape, now.toFixed(3));
    for (; sent < Math.min(due, events * streams.length); sent++) {
      streams[sent % streams.length]?.write(event);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (const stream of streams) stream.end(COMPLETE);
}
