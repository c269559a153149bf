import { gzipSync } from "node:zlib";
import {
  BODIES,
  type FaultyAnswer,
  http,
  operationOf,
  say,
} from "./faulty_service.ts";
import { encodeItem, progress } from "./service/behaviours.ts";

/** The outcome of an operation whose requests meet a fault. */
export interface Outcome {
  /** How many requests the service sees. */
  readonly requests: number;
  /** The error's text after `Cannot ...: `. If none, the operation succeeds in the end. */
  readonly reason?: RegExp;
  /** `data.status` of the JSON-RPC error. */
  readonly status?: number;
}

/** A way in which the service fails. */
export interface Fault {
  readonly name: string;
  readonly answer: FaultyAnswer;
  /** The number of requests in a row that meet it. The default is 1. */
  readonly times?: number;
  /** Whether a completed run has left its connection open before. */
  readonly onKeptConnection?: boolean;
  /** The outcome of creating a thread or a run. If none, the fault does not apply there. */
  readonly post?: Outcome;
  /** The outcome of creating a run, if it differs. */
  readonly run?: Outcome;
  /** The outcome of following a run. If none, the fault does not apply there. */
  readonly stream?: Outcome;
}

/** The stream ends correctly, but the run is not complete. */
const UNFINISHED: Outcome = {
  requests: 1,
  reason:
    /^the stream ended before the run completed; the run may still go on at the service$/,
};

/**
 * The faults. Faults that take the real program more than a few seconds are not
 * here: silence and other timeouts, a `Retry-After` above zero, and a stream that
 * never recovers. tests/lib/gateway tests them with short timeouts. Certificates
 * and proxies are in networks_test.ts.
 *
 * @param elsewhere Where redirects lead: the URL of another origin.
 */
export function faults(elsewhere: string): readonly Fault[] {
  const redirected = new RegExp(
    `, a redirect to ${elsewhere}; redirects are not followed, check the base URL(; the run may still go on at the service)?$`,
  );
  return [
    ...["301 Moved", "302 Found", "307 Temporary", "308 Permanent"].map(
      (status) =>
        refusal(status, redirected, { location: `${elsewhere}/threads` }),
    ),
    ...REFUSALS,
    ...OVERLOADS,
    ...ANSWERS,
    ...BROKEN_BEFORE_BODY,
    ...BROKEN_STREAMS,
  ];
}

function refusal(
  line: string,
  reason: RegExp,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): Fault {
  const status = Number.parseInt(line);
  const outcome = { requests: 1, reason, status };
  const answer = say(http(line, headers, body));
  const passes = status === 502 || status === 504;
  const stream = passes ? { requests: 2 } : outcome;
  return { name: line, answer, post: outcome, stream };
}

/** The error's text for a status that leaves the request's outcome open. */
function unknownFate(status: number, detail: string): RegExp {
  return new RegExp(
    ` ${status} \\((try again later|the run may have started, so it is not tried again|the run may still go on at the service)\\)${detail}$`,
  );
}

const REFUSALS: readonly Fault[] = [
  refusal(
    "400 Bad Request",
    / 400( \(the run may .+\))?: no such field$/,
    {},
    message("no such field"),
  ),
  refusal(
    "401 Unauthorized",
    / 401, the API key was rejected \(check APP_API_KEY(; the run .+)?\): who\?$/,
    {},
    message("who?"),
  ),
  refusal(
    "403 Forbidden",
    / 403, the API key was rejected \(check APP_API_KEY(; the run .+)?\)$/,
  ),
  refusal(
    "404 Not Found",
    / 404 \((check the base URL|the (thread|chat) may be gone: start a new one|the service does not know the run)\): gone$/,
    {},
    '{"error":"gone"}',
  ),
  refusal(
    "409 Conflict",
    / 409( \(the run may .+\))?: busy$/,
    {},
    '{"error":{"message":"busy"}}',
  ),
  refusal(
    "422 Unprocessable",
    / 422( \(the run may .+\))?: bad$/,
    {},
    '{"detail":"bad"}',
  ),
  refusal("500 Internal", unknownFate(500, ": oh"), {}, message("oh")),
  refusal(
    "502 with HTML",
    unknownFate(502, ": Bad Gateway"),
    { "content-type": "text/html" },
    "<html><title>Bad Gateway</title>\r\n\r\n<h1>nginx</h1></html>",
  ),
  refusal("504 Gateway Timeout", unknownFate(504, "")),
  refusal("408 Request Timeout", unknownFate(408, "")),
  refusal("425 Too Early", unknownFate(425, "")),
  refusal("499 Client Closed Request", unknownFate(499, "")),
];

function message(text: string): string {
  return JSON.stringify({ message: text });
}

const OVERLOADS: readonly Fault[] = ["429", "503"].flatMap((status) => {
  const overload = (
    name: string,
    headers: Readonly<Record<string, string>>,
    times: number,
  ): Fault => {
    const gone = (advice: string, requests: number): Outcome => ({
      requests,
      reason: new RegExp(` ${status} \\(${advice}\\): slow down$`),
      status: Number(status),
    });
    const passes = { requests: times + 1 };
    const post = times < 4 ? passes : gone("try again later", 4);
    // Without this header, the next request may meet the end of this connection.
    const fields = { connection: "close", ...headers };
    const answer = say(
      http(`${status} Overload`, fields, message("slow down")),
    );
    const full = `${status} ${name}, ${times}x`;
    const fault = { name: full, answer, times, post, stream: passes };
    if (status === "429") return fault;
    return { ...fault, run: gone("the run may have started, .+", 1) };
  };
  return [
    overload("Retry-After: 0", { "retry-after": "0" }, 1),
    overload("Retry-After: 0", { "retry-after": "0" }, 3),
    overload("Retry-After: 0", { "retry-after": "0" }, 4),
    overload(
      "Retry-After in the past",
      { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" },
      4,
    ),
    // From here on with the client's own pauses: 0.5 s, or 3.5 s in total.
    overload("absurd Retry-After", { "retry-after": "-1e999 sec" }, 1),
    ...(status === "503" ? [overload("no Retry-After", {}, 3)] : []),
  ];
});

const NO_OBJECT: Outcome = {
  requests: 1,
  reason:
    /^the answer \(status 200\) is not a JSON object; (check the base URL|the run may have started, so it is not tried again)$/,
  status: 200,
};

const ANSWERS: readonly Fault[] = [
  {
    name: "an empty body",
    answer: say(http("200 OK", {})),
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "JSON of the wrong type",
    answer: say(http("200 OK", {}, "[]")),
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "an object without an id",
    answer: say(http("200 OK", {}, '{"id":7}')),
    post: {
      requests: 1,
      reason:
        /^the answer holds no (thread_id|run_id; the run may have started, so it is not tried again)$/,
    },
    stream: UNFINISHED,
  },
  {
    name: "JSON that is cut off",
    answer: (connection, request) => {
      const body = BODIES[operationOf(request)].trimEnd().slice(0, -1);
      return connection.write(http("200 OK", {}, body));
    },
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "another content type",
    answer: (connection, request) => {
      const type = { "content-type": "image/png" };
      const body = BODIES[operationOf(request)];
      return connection.write(http("200 OK", type, body));
    },
    post: { requests: 1 },
    stream: { requests: 1 },
  },
  {
    name: "gzip",
    answer: (connection, request) => {
      const body = new Uint8Array(gzipSync(BODIES[operationOf(request)]));
      return connection.write(
        http("200 OK", { "content-encoding": "gzip" }, body),
      );
    },
    post: { requests: 1 },
    stream: {
      requests: 1,
      reason:
        /^the stream is compressed, .+; switch off compression .+; the run may still go on at the service$/,
      status: 200,
    },
  },
];

const BROKEN: Outcome = {
  requests: 1,
  reason:
    /^the connection to http:\S+ broke \(.+\); (.*try again later|check the base URL|the run may have started, so it is not tried again)$/,
};

const LOST: Outcome = {
  requests: 1,
  reason:
    /^the connection to http:\S+ broke \(.+\); the run may still go on at the service$/,
};

const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n";
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** Sends this, and ends the connection. */
function cut(sent: string, end: "destroy" | "reset" = "destroy"): FaultyAnswer {
  return async (connection) => {
    await connection.write(sent);
    connection[end]();
  };
}

/** A stream that sends these bytes and then breaks the connection. */
function brokenStream(sent: string): FaultyAnswer {
  return cut(`${STREAM_HEAD}content-length: 1000\r\n\r\n${sent}`);
}

/**
 * Connections that break after the request was read and before the first byte
 * of a body.
 */
const BROKEN_BEFORE_BODY: readonly Fault[] = Object.entries({
  "closed before the head": cut(""),
  "reset before the head": cut("", "reset"),
  "closed within the head": cut("HTTP/1.1 200 O"),
  "reset within the head": cut(HEAD, "reset"),
  "closed after the head": cut(`${HEAD}\r\n`),
  "closed after no HTTP": cut("What?\r\n\r\n"),
}).flatMap(([name, answer]): readonly Fault[] => [
  { name, answer, post: BROKEN, stream: { requests: 2 } },
  { name: `${name}, 2x`, answer, times: 2, stream: { requests: 3 } },
]);

/**
 * A stream that sends the text for the request's `Last-Event-ID` and breaks. If
 * there is no text for the id, it completes.
 */
function resumedStream(
  sentAfterId: Readonly<Record<string, string>>,
): FaultyAnswer {
  return (connection, request) => {
    const cursor = /^last-event-id: (.*)\r$/im.exec(request.head)?.[1] ?? "";
    const sent = sentAfterId[cursor];
    const answer = sent === undefined
      ? say(http("200 OK", {}, BODIES.stream))
      : brokenStream(sent);
    return answer(connection, request);
  };
}

function step(id?: number): string {
  return new TextDecoder().decode(encodeItem(progress("plan", "on"), { id }));
}

/** Streams that end too early, too late, or in parts. */
const BROKEN_STREAMS: readonly Fault[] = [
  {
    name: "closed within the body",
    answer: (connection, request) =>
      brokenStream(operationOf(request) === "stream" ? step() : "{")(
        connection,
        request,
      ),
    post: BROKEN,
    stream: LOST,
  },
  {
    name: "a kept connection that breaks after a request",
    answer: cut("", "reset"),
    onKeptConnection: true,
    post: BROKEN,
  },
  {
    name: "no complete",
    answer: say(http("200 OK", {}, step())),
    stream: UNFINISHED,
  },
  {
    name: "more after complete, without an end",
    answer: async (connection) => {
      const { stream } = BODIES;
      await connection.write(`${STREAM_HEAD}\r\n${stream}${step()}${stream}`);
      await connection.gone;
    },
    stream: { requests: 1 },
  },
  {
    name: "ids: breaks once",
    answer: resumedStream({ "": step(7) }),
    times: 2,
    stream: { requests: 2 },
  },
  {
    name: "ids: breaks again after a new event",
    answer: resumedStream({ "": step(7), "7": step(8) }),
    times: 3,
    stream: { requests: 3 },
  },
  {
    name: "ids: starts over from the beginning",
    answer: brokenStream(step(7) + step(8)),
    times: 2,
    stream: { requests: 3 },
  },
];
