import { assertEquals } from "@std/assert";
import type { RemoteOperation } from "../../../../lib/gateway/failure/fate.ts";
import type { ServiceError } from "../../../../lib/gateway/failure/failure.ts";
import { statusError } from "../../../../lib/gateway/http/status_error.ts";
import { Redactor } from "../../../../lib/text.ts";
import { serviceError } from "../../../support/service_errors.ts";
import { testRows } from "../../../support/tables.ts";

const KEY = "test-key-0123456789abcdef";
const URL = "https://service.test/api/threads";

/** The error for an answer to an operation. */
function refuse(
  operation: RemoteOperation,
  status: number,
  { text = "", headers = {} }: {
    readonly text?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): ServiceError {
  const response = { status, headers: new Headers(headers), body: null };
  const answer = { operation, url: URL, response, redactor: new Redactor(KEY) };
  const { failure } = statusError(answer, { text, isCut: false });
  return serviceError(operation, failure);
}

/** The message for a status without a body, and what became of the prompt. */
testRows(
  'statusError() of {statuses} to "{operation}" means "{fate}", and tells: {told}',
  "operation | fate | statuses | told",
  `
create thread | not run      | 408 425 429 500 502 503 504 599         | The service answered N. Try again later.
create thread | refused      | 404                                     | The service answered N. Check the base URL.
create thread | refused      | 401 403                                 | The service rejected the API key (N). Check APP_API_KEY.
create thread | refused      | 300 304 400 410 413 422 499             | The service answered N.
create thread | not run      | 511                                     | The network asks you to sign in (N). Sign in with a browser.
create run    | may have run | 408 425 499 500 502 503 504 599         | The service answered N. The run may have started, so the prompt was not retried.
create run    | not run      | 429                                     | The service answered N. The prompt did not run. Try again later.
create run    | refused      | 413                                     | The prompt is too long for the service (N).
create run    | refused      | 401 403                                 | The service rejected the API key (N). Check APP_API_KEY.
create run    | refused      | 300 304 400 404 410 422                 | The service answered N.
stream run    | may have run | 404 410                                 | The service no longer knows the run (N). The prompt may have run.
stream run    | may go on    | 401 403                                 | The service rejected the API key (N). The run may still continue. Check APP_API_KEY.
stream run    | may go on    | 304 400 408 413 429 500 502 503 504     | The service answered N. The run may still continue.
`,
  ({ operation, fate, statuses, told }) => {
    for (const status of statuses.split(" ").map(Number)) {
      const error = refuse(operation as RemoteOperation, status);
      assertEquals(error.message, told.replace("N", `${status}`));
      assertEquals([error.fate, error.status], [fate, status]);
    }
  },
);

Deno.test("statusError() tells whether the service said in JSON that a thread is gone", () => {
  for (const text of ['{"error":"?"}', "?"]) {
    const gone = (["create run", "create thread", "stream run"] as const)
      .map((it) => refuse(it, 404, { text }).failure.isThreadGone);
    assertEquals(gone, [text !== "?", false, false]);
  }
});

/** The text and the headers of an answer in JSON, and what is told of it. */
testRows(
  "statusError() of {status} with {text} and {headers} tells: {told}",
  "operation | status | text | headers | told",
  String.raw`
create thread | 400 | "{\"message\":\"No\"}"         | {}                               | The service answered 400: No.
create thread | 400 | "{\"code\":[\"No\"]}"          | {}                               | The service answered 400: {"code":["No"]}.
create thread | 500 | " { }\n"                       | {}                               | The service answered 500. Try again later.
create thread | 401 | "[]"                          | {}                               | The service rejected the API key (401). Check APP_API_KEY.
create thread | 400 | "  No\ttea \n"                 | {}                               | The service answered 400: No tea.
create thread | 502 | "No"                           | {}                               | The service answered 502: No. Try again later.
create thread | 400 | "1 < 2"                        | {"content-type":"text/html"}     | The service answered 400: 1 < 2.
create thread | 400 | "<html><title>No</title>Hi"    | {}                               | The service answered 400: No.
create thread | 400 | "<title>400 No</title>"        | {}                               | The service answered 400: No.
create thread | 400 | "<p>No"                        | {"content-type":"text/html"}     | The service answered 400.
create thread | 400 | "\n"                           | {}                               | The service answered 400.
create thread | 400 | "{\"error\":\"No ${KEY}\"}"    | {}                               | The service answered 400: No ...
create thread | 403 | "<!DOCTYPE HTML><title>Access\n denied</title>Why not" | {}        | The service answered 403 with a web page ("Access denied"): a firewall or sign-in page, or a rejected key. Check APP_API_KEY and the network.
create run    | 403 | "<html><title>No</title>"      | {"server":"nginx"}               | The service answered 403 with a web page ("No"): a firewall may have blocked the text of the prompt [Server: nginx]. Change it, or check APP_API_KEY and the network.
create thread | 511 | "<html><title>No</title>"      | {}                               | The network asks you to sign in (511: No). Sign in with a browser.
create thread | 400 | "<html><title>No</title>"      | {"server":"e\tf","x-amz-cf-id":"d","x-amzn-requestid":"c","x-request-id":"b","cf-ray":"8a"} | The service answered 400: No [CF-RAY: 8a, X-Request-Id: b, X-Amzn-RequestId: c, X-Amz-Cf-Id: d, Server: e f].
create thread | 599 | ""                             | {"server":"nginx"}               | The service answered 599 [Server: nginx]. Try again later.
create run    | 413 | ""                             | {"server":"nginx"}               | The prompt is too long for the service (413 [Server: nginx]).
create thread | 400 | ""                             | {"cf-ray":"${
    "a".repeat(101)
  }","server":"${KEY}"} | The service answered 400 [CF-RAY: ${
    "a".repeat(100)
  }, Server: ...].
create thread | 400 | "\"No\""                       | {"server":"nginx"}               | The service answered 400: "No".
`,
  ({ operation, status, ...row }) => {
    const [text, headers] = [row.text, row.headers].map((it) => JSON.parse(it));
    const answer = { text, headers };
    const error = refuse(operation as RemoteOperation, Number(status), answer);
    assertEquals(error.message, row.told);
  },
);

testRows(
  "statusError() tells of a redirect to {location}: {shown}",
  "location | shown",
  `
https://other.example/a?b#c                | https://other.example
//other.example:8443/api/threads/          | https://other.example:8443
https://service.test/login?to=%2Fapi       | /login
../v2/threads                              | /v2/threads
/${KEY.replace("-", "%2D")}/               | https://service.test
https://${KEY}.example/                    | https://....example
/${KEY}/                                   | /.../
http://[                                   | an unreadable address
mailto:me@other.example                    | an unreadable address
https://service.test/api/threads/          | /api/threads/
http://service.test/api/threads/?a         | http://service.test
`,
  ({ location, shown }) => {
    const advice = location.includes("service.test/api/threads/")
      ? "The service should answer without the trailing slash."
      : "Check the base URL.";
    const error = refuse("stream run", 307, { headers: { location } });
    assertEquals(
      error.message,
      `The service answered 307, a redirect to ${shown}, which is not followed. The run may still continue. ${advice}`,
    );
  },
);
