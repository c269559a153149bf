/**
 * A service with TLS on Node.js, over HTTP/2 or HTTP/1.1, whose connections break
 * in ways in which no server breaks them on purpose: it reads and writes the bytes
 * itself. Each prompt that it takes, whole or in part, is a line of its output.
 *
 *     node breaking_service.mjs '{"cert": PEM, "key": PEM, "protocol": "h2", "faults": [NAME...]}'
 *
 * The fault at an index is that of the connection with that number; `null`, and
 * all further connections, work. The first line printed is the port.
 */
import { createSecureServer } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:tls";

const { cert, key, protocol, faults } = JSON.parse(process.argv[2]);

const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, WINDOW_UPDATE] = [
  0,
  1,
  3,
  4,
  7,
  8,
];
const [END_STREAM, ACK] = [1, 1];
const [NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM] = [0, 2, 7];
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** How much of a body a fault in the middle waits for, in bytes. */
const MIDDLE = 16 * 1024;

/**
 * The frames that break a connection after a request, and whether the request
 * was taken.
 */
const FRAMES = {
  "GOAWAY before the request": {
    frame: () => frame(GOAWAY, 0, 0, NO_ERROR),
    isTaken: false,
  },
  "GOAWAY after the request": { frame: (id) => frame(GOAWAY, 0, id, NO_ERROR) },
  "GOAWAY with an error": { frame: () => frame(GOAWAY, 0, 0, INTERNAL_ERROR) },
  "REFUSED_STREAM": { frame: (id) => frame(RST_STREAM, id, REFUSED_STREAM) },
  "a reset without an error": {
    frame: (id) => frame(RST_STREAM, id, NO_ERROR),
  },
};

/** Where in the request a connection ends: "FIN in the head", "RST after the body". */
const END = /^(FIN|RST) (in the head|in the middle|after the body)$/;

/** Settings of HTTP/2 under which a server that works gives little room. */
const LIMITS = {
  "1 stream at a time": { maxConcurrentStreams: 1 },
  "no stream at a time": { maxConcurrentStreams: 0 },
  "windows of 1 byte": { initialWindowSize: 1 },
};

function frame(type, stream, ...words) {
  const bytes = Buffer.alloc(9 + 4 * words.length);
  bytes.writeUIntBE(4 * words.length, 0, 3);
  bytes.writeUInt8(type, 3);
  bytes.writeUInt32BE(stream, 5);
  words.forEach((word, i) => bytes.writeUInt32BE(word, 9 + 4 * i));
  return bytes;
}

const SETTINGS_ACK = Buffer.from([0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0]);

const options = { cert, key, ALPNProtocols: [protocol] };
const working = protocol === "h2"
  ? (settings) => createSecureServer({ ...options, settings })
  : () => createHttpsServer(options);
const servers = Object.fromEntries(
  Object.entries({ "": {}, ...LIMITS }).map(([name, settings]) => {
    const server = working(settings);
    server.on("request", serve);
    return [name, server];
  }),
);

function serve(request, response) {
  let body = "";
  request.on("data", (chunk) => body += chunk);
  request.on("end", () => {
    if (body !== "") console.log("prompt");
    if (request.method === "POST") {
      response.setHeader("content-type", "application/json");
      response.end('{"thread_id":"t","run_id":"r"}');
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    response.end(
      'data: {"event":"complete","instructorState":{"explanation":"Hi."}}\n\n',
    );
  });
  request.on("error", () => {});
  response.on("error", () => {});
}

/** Reads a request, and breaks the connection. */
function misbehave(socket, fault) {
  const { frame: breaking, isTaken = true } = FRAMES[fault] ?? {};
  const [, end, place] = END.exec(fault) ?? [];
  let read = Buffer.alloc(0);
  let isOver = false;
  let size = 0; // of the body
  let hasStarted = false;

  /** Handles a part of the request. `id` is the number of its HTTP/2 stream. */
  const progress = (part, id) => {
    if (isOver || part !== (place ?? "after the body")) return;
    // After a reset of its stream, the connection could take another request.
    isOver = !fault.includes("STREAM") && !fault.startsWith("a reset");
    size = 0;
    if (isTaken) console.log("prompt");
    if (breaking !== undefined) {
      socket.write(breaking(id));
      if (fault === "GOAWAY after the request") socket.end();
    } else if (end === "RST") raw.get(socket.remotePort).resetAndDestroy();
    else socket.destroy();
  };
  const readHttp1 = () => {
    const head = read.indexOf("\r\n\r\n");
    if (head < 0) return;
    progress("in the head");
    size = read.length - head - 4;
    if (size >= MIDDLE) progress("in the middle");
    const [, length = "0"] = /content-length: (\d+)/i.exec(read.toString()) ??
      [];
    if (size === Number(length)) progress("after the body");
  };
  const readHttp2 = () => {
    if (!hasStarted) {
      if (read.length < PREFACE.length) return;
      read = read.subarray(PREFACE.length);
      hasStarted = true;
      socket.write(frame(SETTINGS, 0));
    }
    while (read.length >= 9) {
      const length = read.readUIntBE(0, 3);
      if (read.length < 9 + length) return;
      const [, , , type, flags] = read;
      const id = read.readUInt32BE(5);
      read = read.subarray(9 + length);
      if (type === SETTINGS && (flags & ACK) === 0) socket.write(SETTINGS_ACK);
      if (type === HEADERS) progress("in the head", id);
      if (type === DATA && length > 0) {
        size += length;
        socket.write(frame(WINDOW_UPDATE, 0, length));
        socket.write(frame(WINDOW_UPDATE, id, length));
        if (size >= MIDDLE) progress("in the middle", id);
      }
      const isWhole = (type === DATA || type === HEADERS) &&
        (flags & END_STREAM) !== 0;
      if (isWhole) progress("after the body", id);
    }
  };
  socket.on("data", (chunk) => {
    if (isOver) return;
    read = Buffer.concat([read, chunk]);
    if (protocol === "h2") readHttp2();
    else readHttp1();
  });
  socket.on("error", () => {});
}

/** The TCP connections under TLS, by the client's port. */
const raw = new Map();
let connections = 0;
const server = createServer(options, (socket) => {
  const fault = faults[connections++] ?? "";
  if (fault in servers) servers[fault].emit("secureConnection", socket);
  else misbehave(socket, fault);
});
server.on("connection", (socket) => raw.set(socket.remotePort, socket));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
