import { assert, assertEquals } from "@std/assert";
import { parseRetryAfter } from "../../../../lib/gateway/http/retry_after.ts";
import type {
  Operation,
  ServiceError,
} from "../../../../lib/gateway/failure/service_error.ts";
import {
  statusError,
  webPageReason,
} from "../../../../lib/gateway/failure/status_error.ts";

const KEY = "test-key-0123456789abcdef";
const NEVER = new AbortController().signal;

/** An answer with a byte stream as its body, like those of `fetch`. */
function answer(
  status: number,
  content: BlobPart = "",
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = status === 304 ? null : new Blob([content]).stream();
  return new Response(body, { status, headers });
}

/** The error for an answer, and what its message says after the operation. */
async function refuse(
  response: Response,
  operation: Operation = "create thread",
  signal = NEVER,
): Promise<readonly [told: string, error: ServiceError]> {
  const url = "https://service.test/api/threads";
  const options = { operation, url, apiKey: KEY, signal };
  const error = await statusError(response, options);
  const { status } = response;
  const [, told = ""] = error.message.split(`: the service answered ${status}`);
  return [told, error];
}

/**
 * What is told about an answer, by its status and by what follows "the service
 * answered".
 */
const ADVICE: Readonly<
  Record<Operation, readonly (readonly [string, readonly number[]])[]>
> = {
  "create thread": [
    [" (try again later)", [408, 425, 429, 499, 500, 502, 503, 504, 599]],
    [" (check the base URL)", [404]],
    [", the API key was rejected (check APP_API_KEY)", [401, 403]],
    ["", [304, 400, 410, 413, 422]],
  ],
  "create run": [
    [
      " (the run may have started, so it is not tried again)",
      [408, 425, 499, 500, 502, 503, 504, 599],
    ],
    [" (try again later)", [429]],
    [" (the thread may be gone: start a new one)", [404]],
    [" (the prompt is too long for it)", [413]],
    [", the API key was rejected (check APP_API_KEY)", [401, 403]],
    ["", [304, 400, 410, 422]],
  ],
  "stream run": [
    [" (the service does not know the run)", [404, 410]],
    [
      ", the API key was rejected (check APP_API_KEY; the run may still go on at the service)",
      [401, 403],
    ],
    [
      " (the run may still go on at the service)",
      [304, 400, 408, 413, 429, 500, 502, 503, 504],
    ],
  ],
};

for (const operation of Object.keys(ADVICE) as Operation[]) {
  for (const [advice, statuses] of ADVICE[operation]) {
    Deno.test(`statusError() of ${statuses} to "${operation}" tells${advice}`, async () => {
      for (const status of statuses) {
        const [told, error] = await refuse(answer(status), operation);
        assertEquals([told, error.failure.status], [advice, status]);
        assertEquals(error.failure.isJson, false);
      }
    });
  }
}

Deno.test("statusError() tells whether a thread is gone, and whether the service said so in JSON", async () => {
  const operations = ["create run", "create thread", "stream run"] as const;
  for (const operation of operations) {
    for (const body of ['{"error":"?"}', "?"]) {
      const [, { failure }] = await refuse(answer(404, body), operation);
      assertEquals(failure.isThreadGone, operation === "create run");
      assertEquals(failure.isJson, body !== "?");
    }
  }
});

const HTML = { "content-type": "text/html; charset=utf-8" };
const LEFT_OUT = "left out, because it holds the API key";
const LONG = " ".repeat(64 * 1024 - 20);

/**
 * The body of an answer, what the error says about it, its status (by default
 * 400), and its type.
 */
type Answer = readonly [BlobPart, told: string, status?: number, typeof HTML?];

const DETAILS: Readonly<Record<string, Answer>> = {
  "of JSON its message": ['{"message":"No"}', ": No"],
  "all of other JSON": ['{"detail":["No"]}', ': {"detail":["No"]}'],
  "its text, on one line": ["  No\ttea \n", ": No tea"],
  "its text after what to do": ["No", " (try again later): No", 502],
  "words that Express labels as a web page": ["1 < 2", ": 1 < 2", 400, HTML],
  "of a web page its title alone": ["<html><title>No</title>Hi", ": No"],
  "nothing of a web page without a title": ["<p>No", "", 400, HTML],
  "nothing of a blank text": ["\n", ""],
  "U+FFFD for bytes that are not UTF-8": [Uint8Array.of(0xff), ": \ufffd"],
  "the first 64 KiB": [LONG + "x".repeat(99), `: ${"x".repeat(20)}`],
  "nothing that holds the key": [`{"error":"${KEY}"}`, `: ${LEFT_OUT}`],
  "nothing that is cut within the key": [LONG + KEY, `: ${LEFT_OUT}`],
  "no title that holds the key": [`<title>${KEY}</title>`, `: ${LEFT_OUT}`],
  "that the key may be right, if it is a web page": [
    "<!DOCTYPE HTML><title>Access &#68;enied</title>Why not",
    ", a web page: the API key was rejected, or something in front of the service refused, such as a firewall or a sign-in page (check APP_API_KEY, the network and the base URL): Access Denied",
    403,
  ],
};

for (
  const [what, [body, told, status = 400, type = {}]] of Object.entries(DETAILS)
) {
  Deno.test(`statusError() tells of a body ${what}`, async () => {
    assertEquals((await refuse(answer(status, body, type)))[0], told);
  });
}

Deno.test("statusError() tells the status alone if the body breaks off or is dropped", async () => {
  for (const isBroken of [true, false]) {
    const dropped = new AbortController();
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(new TextEncoder().encode("No")),
      pull(controller) {
        if (isBroken) controller.error(new Error("broken"));
        else dropped.abort();
      },
    }, { highWaterMark: 0 });
    const response = new Response(body, { status: 400 });
    const [told] = await refuse(response, "create run", dropped.signal);
    assertEquals(told, "");
  }
});

Deno.test("statusError() hands on how long the service asks to wait", async () => {
  const headers = {
    "retry-after": "Sun, 06 Nov 1994 12:00:20 GMT",
    "date": "Sun, 06 Nov 1994 12:00:00 GMT",
  };
  const [, { failure }] = await refuse(answer(503, "", headers));
  assertEquals(failure.retryAfter, 20_000);
});

const UNREADABLE = "an unreadable address";

const REDIRECTS: Readonly<Record<string, string>> = {
  "https://other.example/a?b#c": "https://other.example",
  "//other.example:8443/": "https://other.example:8443",
  "https://service.test/login?to=%2Fapi": "/login",
  "../v2/threads": "/v2/threads",
  [`https://${KEY}.example/`]: LEFT_OUT,
  [`/${KEY}/`]: LEFT_OUT,
  "http://[": UNREADABLE,
  "mailto:me@other.example": UNREADABLE,
};

for (const [location, shown] of Object.entries(REDIRECTS)) {
  Deno.test(`statusError() tells of a redirect to ${location}: ${shown}`, async () => {
    const redirect = () => answer(307, "", { location });
    const start =
      `, a redirect to ${shown}; redirects are not followed, check the base URL`;
    assertEquals((await refuse(redirect(), "create run"))[0], start);
    const [told] = await refuse(redirect(), "stream run");
    assertEquals(told, `${start}; the run may still go on at the service`);
  });
}

Deno.test("webPageReason() names the page, unless its title holds the key", () => {
  const pages = { '200, "Hi"': "Hi", "200": "", [`200, "${LEFT_OUT}"`]: KEY };
  for (const [named, title] of Object.entries(pages)) {
    const page = { text: `<title>${title}</title>`, cut: false };
    assertEquals(
      webPageReason(200, page, KEY),
      `a web page came (status ${named}), perhaps the sign-in page of a network or a proxy`,
    );
  }
});

const NOON = "Sun, 06 Nov 1994 12:00:00 GMT";
const HEADERS:
  readonly (readonly [string | null, string | null, number | undefined])[] = [
    ["0", null, 0],
    ["2", null, 2_000],
    [" 120 ", null, 120_000],
    ["9".repeat(400), null, Infinity],
    [NOON, null, 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", null, 0],
    ...[null, "", "-1", "1.5", "1e3", "0x10", "soon, at 5"].map((value) =>
      [value, null, undefined] as const
    ),
    ["Sun, 99 Nov 1994 08:49:37 GMT", null, undefined],
    // A date is compared with the answer's own date.
    ["Sun, 06 Nov 1994 12:00:20 GMT", NOON, 20_000],
    ["Sun, 06 Nov 1994 11:59:40 GMT", NOON, 0],
    [NOON, "yesterday", 0],
  ];

for (const [value, date, expected] of HEADERS) {
  const name = `${JSON.stringify(value)?.slice(0, 40)} at ${date}`;
  Deno.test(`parseRetryAfter() takes ${name} for ${expected} ms`, () => {
    assertEquals(parseRetryAfter(value, date), expected);
  });
}

Deno.test("parseRetryAfter() counts from now to a date in an answer without one", () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const milliseconds = parseRetryAfter(inAMinute) ?? 0;
  assert(milliseconds > 30_000 && milliseconds <= 60_000, `${milliseconds}`);
});
