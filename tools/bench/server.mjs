/**
 * The service of the benchmarks: the three operations, with streams of the shape
 * that a prompt contains (`Shape` in service.ts). Events that are sent at once are
 * prepared when the run is created. Nagle's algorithm is off: each write leaves at
 * once. It prints its URL, one line, and runs until its input ends.
 *
 *     node server.mjs ADDRESS (http | (https | h2) CERTIFICATE PRIVATE_KEY)
 *
 * On Node.js, because the HTTP/2 server of Deno 2.9.6 aborts now and then when a
 * client leaves ("Assertion `stream->closed_next == NULL' failed").
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import process from "node:process";

const EVENT = ['data: {"event":"progress","node":"plan","status":"', '"}\n\n'];
const COMPLETE =
  'data: {"event":"complete","instructorState":{"explanation":"done"}}\n\n';
const SERVERS = {
  http: http.createServer,
  https: https.createServer,
  h2: http2.createSecureServer,
};

/** The chunks of streams, by the ids of their runs. */
const prepared = new Map();

/** The streams that wait until they can begin together. */
let waiting = [];

const [, , host, protocol, ...files] = process.argv;
const [cert, key] = files.map((file) => readFileSync(file));
const options = { cert, key, noDelay: true, allowHTTP1: true };
const server = SERVERS[protocol](options, (request, response) => {
  request.on("error", () => {}); // The client is gone, here and below.
  response.on("error", () => {});
  answer(request, response).catch(() => {});
});
server.listen({ host, port: 0, backlog: 4096 });
await once(server, "listening");
const scheme = cert === undefined ? "http" : "https";
console.log(`${scheme}://${host}:${server.address().port}`);
process.stdin.on("end", () => process.exit()).resume();

async function answer(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const [, runId] = /\/runs\/([\w-]+)\/stream(?:\?|$)/.exec(request.url) ?? [];
  if (runId !== undefined) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    return await sendStream(response, runId);
  }
  const result = request.url === "/threads"
    ? { thread_id: crypto.randomUUID() }
    : { run_id: createRun(JSON.parse(body)) };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(result));
}

/**
 * Returns the id of a run, which contains the shape of its stream. LangGraph's client
 * sends the prompt as its graph's input.
 */
function createRun({ input, prompt = input.prompt }) {
  const runId = Buffer.from(prompt).toString("base64url");
  const shape = JSON.parse(prompt);
  if (shape.rate === undefined && !prepared.has(runId)) {
    prepared.set(runId, chunksOf(shape));
  }
  return runId;
}

/** The `progress` events, cut into chunks wherever a chunk is full. */
function chunksOf({ events, eventBytes, chunkBytes = 64 * 1024 }) {
  const event = progressEvent("started", eventBytes);
  const bytes = Buffer.alloc(event.length * events, event);
  const chunks = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    chunks.push(bytes.subarray(start, start + chunkBytes));
  }
  return chunks;
}

/** The bytes of a `progress` event, at least as many as are asked for. */
function progressEvent(status, bytes = 0) {
  const length = bytes - EVENT.join("").length;
  const words = " and the next step follows from it,";
  return Buffer.from(EVENT.join(status.padEnd(length, words)));
}

async function sendStream(response, runId) {
  const shape = JSON.parse(Buffer.from(runId, "base64url"));
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
async function sendPaced(response, { events, together = 1, rate }) {
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
    const event = progressEvent(now.toFixed(3));
    for (; sent < Math.min(due, events * streams.length); sent++) {
      streams[sent % streams.length].write(event);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (const stream of streams) stream.end(COMPLETE);
}

/** The clock that all processes of this machine share, in milliseconds. */
function clock() {
  return performance.timeOrigin + performance.now();
}
