import { gzipSync } from "node:zlib";
import { DEATHS, STREAMS, UNFINISHED } from "./broken_connections.ts";
import { BODIES, http, operationOf, type Play, say } from "./faulty_service.ts";

/** What becomes of an operation whose requests meet a fault. */
export interface Outcome {
  /** How many requests the service sees. */
  readonly requests: number;
  /** What the user reads behind `Cannot ...: `. If none, all goes well in the end. */
  readonly reason?: RegExp;
  /** `data.status` of the JSON-RPC error. */
  readonly status?: number;
  /** The code of the JSON-RPC error. -32603 unless told. */
  readonly code?: number;
}

/** A way in which the service fails. */
export interface Fault {
  readonly name: string;
  readonly play: Play;
  /** How many requests in a row meet it. Once unless told. */
  readonly times?: number;
  /** Whether a good run has left its connection open before. */
  readonly onKeptConnection?: boolean;
  /** What becomes of creating a thread, and a run. Not possible there unless told. */
  readonly post?: Outcome;
  /** What becomes of following a run. Not possible there unless told. */
  readonly stream?: Outcome;
}

/**
 * The faults. Not here, since the real program takes its time for them: silence
 * and other time-outs, a `Retry-After` that asks for more than nothing, and all
 * delays but two (service_client_test.ts and run_stream_test.ts hold them, with
 * short timeouts). Certificates and proxies are in networks_test.ts.
 *
 * @param elsewhere Where redirects lead: the URL of another origin.
 */
export function faults(elsewhere: string): readonly Fault[] {
  const redirected = new RegExp(
    `, a redirect to ${elsewhere}; redirects are not followed, check the base URL$`,
  );
  return [
    ...["301 Moved", "302 Found", "307 Temporary", "308 Permanent"].map(
      (status) =>
        refusal(status, redirected, { location: `${elsewhere}/threads` }),
    ),
    ...REFUSALS,
    ...OVERLOADS,
    ...ANSWERS,
    ...DEATHS,
    ...STREAMS,
  ];
}

function refusal(
  line: string,
  reason: RegExp,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): Fault {
  const status = Number.parseInt(line);
  const outcome = {
    requests: 1,
    reason,
    status,
  };
  const play = say(http(line, headers, body));
  return { name: line, play, post: outcome, stream: outcome };
}

const REFUSALS: readonly Fault[] = [
  refusal(
    "400 Bad Request",
    / 400: no such field$/,
    {},
    message("no such field"),
  ),
  refusal(
    "401 Unauthorized",
    / 401, the API key was rejected \(check APP_API_KEY\): who\?$/,
    {},
    message("who?"),
  ),
  refusal(
    "403 Forbidden",
    / 403, the API key was rejected \(check APP_API_KEY\)$/,
  ),
  refusal(
    "404 Not Found",
    / 404( \(check the base URL\)| \(the thread may be gone: start a new one\)|): gone$/,
    {},
    '{"error":"gone"}',
  ),
  refusal("409 Conflict", / 409: busy$/, {}, '{"error":{"message":"busy"}}'),
  refusal("422 Unprocessable", / 422: bad$/, {}, '{"detail":"bad"}'),
  refusal("500 Internal", / 500 \(try again later\): oh$/, {}, message("oh")),
  refusal(
    "502 with HTML",
    / 502 \(try again later\): <html><h1>Bad Gateway<\/h1> <\/html>$/,
    { "content-type": "text/html" },
    "<html><h1>Bad Gateway</h1>\r\n\r\n</html>",
  ),
  refusal("504 Gateway Timeout", / 504 \(try again later\)$/),
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
    const gone: Outcome = {
      requests: 4,
      reason: new RegExp(` ${status} \\(try again later\\): slow down$`),
      status: Number(status),
    };
    const outcome = times < 4 ? { requests: times + 1 } : gone;
    // Without a word about it, the next request may meet the end of this one.
    const fields = { connection: "close", ...headers };
    const play = say(http(`${status} Overload`, fields, message("slow down")));
    const full = `${status} ${name}, ${times < 4 ? `${times}x` : "for good"}`;
    return { name: full, play, times, post: outcome, stream: outcome };
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
    // From here on with the client's own delays: half a second, or 3.5 in all.
    overload("absurd Retry-After", { "retry-after": "-1e999 sec" }, 1),
    ...(status === "503" ? [overload("no Retry-After", {}, 4)] : []),
  ];
});

const NO_OBJECT: Outcome = {
  requests: 1,
  reason:
    /^the answer \(status 200\) is not a JSON object; check the base URL$/,
  status: 200,
};

const ANSWERS: readonly Fault[] = [
  {
    name: "an empty body",
    play: say(http("200 OK", {})),
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "JSON of the wrong type",
    play: say(http("200 OK", {}, "[]")),
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "an object without an id",
    play: say(http("200 OK", {}, '{"id":7}')),
    post: { requests: 1, reason: /^the answer holds no (thread|run)_id$/ },
    stream: UNFINISHED,
  },
  {
    name: "JSON that is cut off",
    play: (connection, request) => {
      const body = BODIES[operationOf(request)].trimEnd().slice(0, -1);
      return connection.write(http("200 OK", {}, body));
    },
    post: NO_OBJECT,
    stream: UNFINISHED,
  },
  {
    name: "another content type",
    play: (connection, request) => {
      const type = { "content-type": "image/png" };
      const body = BODIES[operationOf(request)];
      return connection.write(http("200 OK", type, body));
    },
    post: { requests: 1 },
    stream: { requests: 1 },
  },
  {
    name: "gzip",
    play: (connection, request) => {
      const body = new Uint8Array(gzipSync(BODIES[operationOf(request)]));
      return connection.write(
        http("200 OK", { "content-encoding": "gzip" }, body),
      );
    },
    post: { requests: 1 },
    stream: { requests: 1 },
  },
];
