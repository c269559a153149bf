import { assertEquals } from "@std/assert";
import type {
  Fate,
  RemoteOperation,
} from "../../../../lib/gateway/failure/fate.ts";
import type { ServiceError } from "../../../../lib/gateway/failure/service_error.ts";
import { serviceError } from "../../../support/service_errors.ts";
import { statusError } from "../../../../lib/gateway/http/status_error.ts";
import { Redactor } from "../../../../lib/text.ts";

const KEY = "test-key-0123456789abcdef";

/** The error for an answer, and its message after "The service answered STATUS". */
function refuse(
  status: number,
  { text = "", headers = {}, operation = "create thread" }: {
    readonly text?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly operation?: RemoteOperation;
  } = {},
): readonly [told: string, error: ServiceError] {
  const url = "https://service.test/api/threads";
  const response = { status, headers: new Headers(headers), body: null };
  const redactor = new Redactor(KEY);
  const answer = { operation, url, response, redactor };
  const { failure } = statusError(answer, { text, isCut: false });
  const error = serviceError(operation, failure);
  const start = `The service answered ${status}`;
  return [error.message.replace(start, ""), error];
}

const KEY_REFUSED = "The service rejected the API key (N).";

/**
 * What is told about an answer, by its status and by what follows "the service
 * answered", and the fate of the prompt.
 */
const ADVICE: Readonly<
  Record<
    RemoteOperation,
    readonly (readonly [Fate, string, readonly number[]])[]
  >
> = {
  "create thread": [
    ["not run", ". Try again later.", [408, 425, 429, 500, 502, 503, 504, 599]],
    ["refused", ". Check the base URL.", [404]],
    ["refused", `${KEY_REFUSED} Check APP_API_KEY.`, [401, 403]],
    ["refused", ".", [300, 304, 400, 410, 413, 422, 499]],
  ],
  "create run": [
    [
      "may have run",
      ". The run may have started, so the prompt was not retried.",
      [408, 425, 499, 500, 502, 503, 504, 599],
    ],
    ["not run", ". The prompt did not run. Try again later.", [429]],
    [
      "refused",
      ". The thread may be gone: run agent-gateway without --thread to start a new one.",
      [404],
    ],
    ["refused", "The prompt is too long for the service (413).", [413]],
    ["refused", `${KEY_REFUSED} Check APP_API_KEY.`, [401, 403]],
    ["refused", ".", [300, 304, 400, 410, 422]],
  ],
  "stream run": [
    [
      "may have run",
      "The service no longer knows the run (N). The prompt may have run.",
      [404, 410],
    ],
    [
      "may go on",
      `${KEY_REFUSED} The run may still continue. Check APP_API_KEY.`,
      [401, 403],
    ],
    [
      "may go on",
      ". The run may still continue.",
      [304, 400, 408, 413, 429, 500, 502, 503, 504],
    ],
  ],
};

for (const operation of Object.keys(ADVICE) as RemoteOperation[]) {
  for (const [fate, advice, statuses] of ADVICE[operation]) {
    Deno.test(`statusError() of ${statuses} to "${operation}" means "${fate}", and tells: ${advice}`, () => {
      for (const status of statuses) {
        const [told, error] = refuse(status, { operation });
        assertEquals([told.replace(`(${status})`, "(N)"), error.fate], [
          advice.replace("(413)", "(N)"),
          fate,
        ]);
        assertEquals(error.status, status);
      }
    });
  }
}

Deno.test("statusError() tells whether a thread is gone, and whether the service said so in JSON", () => {
  const operations = ["create run", "create thread", "stream run"] as const;
  for (const operation of operations) {
    for (const text of ['{"error":"?"}', "?"]) {
      const [, { failure }] = refuse(404, { text, operation });
      const expected = text === "?" ? "possible" : "certain";
      assertEquals(
        failure.threadGone,
        operation === "create run" ? expected : undefined,
      );
    }
  }
});

const HTML = { "content-type": "text/html; charset=utf-8" };

/**
 * The text of an answer, what the error says about it, its status (by default
 * 400), and its headers.
 */
type Answer = readonly [
  text: string,
  told: string,
  status?: number,
  headers?: Readonly<Record<string, string>>,
];

const DETAILS: Readonly<Record<string, Answer>> = {
  "of JSON its message": ['{"message":"No"}', ": No."],
  "all of other JSON": ['{"code":["No"]}', ': {"code":["No"]}.'],
  "its text, on one line": ["  No\ttea \n", ": No tea."],
  "its text before what to do": ["No", ": No. Try again later.", 502],
  "words that Express labels as a web page": ["1 < 2", ": 1 < 2.", 400, HTML],
  "of a web page its title alone": ["<html><title>No</title>Hi", ": No."],
  "nothing of a web page without a title": ["<p>No", ".", 400, HTML],
  "nothing of a blank text": ["\n", "."],
  "without the key": [`{"error":"No ${KEY}"}`, ": No ..."],
  "that the key may be right, if it is a web page": [
    "<!DOCTYPE HTML><title>Access\n denied</title>Why not",
    ' with a web page ("Access denied"): a firewall or sign-in page, or a rejected key. Check APP_API_KEY and the network.',
    403,
  ],
  "and who answered which request": [
    "<html><title>No</title>",
    ": No [CF-RAY: 8a, X-Request-Id: b, X-Amzn-RequestId: c, X-Amz-Cf-Id: d, Server: e f].",
    400,
    {
      ...{ "server": "e\tf", "x-amz-cf-id": "d", "x-amzn-requestid": "c" },
      ...{ "x-request-id": "b", "cf-ray": "8a" },
    },
  ],
  "and who answered, if there is none": [
    "",
    " [Server: nginx]. Try again later.",
    502,
    { server: "nginx" },
  ],
  "and of headers at most 100 characters, and no key": [
    "",
    ` [CF-RAY: ${"a".repeat(100)}, Server: ...].`,
    400,
    { "cf-ray": "a".repeat(101), "server": KEY },
  ],
  "and no headers with JSON": ['"No"', ': "No".', 400, { server: "nginx" }],
};

for (
  const [what, [text, told, status = 400, headers]] of Object.entries(DETAILS)
) {
  Deno.test(`statusError() tells of a body ${what}`, () => {
    assertEquals(refuse(status, { text, headers: headers ?? {} })[0], told);
  });
}

Deno.test("statusError() tells that a firewall may have refused a prompt, and that a network asks to sign in", () => {
  const page = { text: "<html><title>No</title>" };
  const operation = "create run";
  assertEquals([refuse(403, { ...page, operation })[0], refuse(511, page)[0]], [
    ' with a web page ("No"): a firewall may have blocked the text of the prompt. Change it, or check APP_API_KEY and the network.',
    "The network asks you to sign in (511: No). Sign in with a browser.",
  ]);
});

const UNREADABLE = "an unreadable address";

const REDIRECTS: Readonly<Record<string, string>> = {
  "https://other.example/a?b#c": "https://other.example",
  "//other.example:8443/api/threads/": "https://other.example:8443",
  "https://service.test/login?to=%2Fapi": "/login",
  "../v2/threads": "/v2/threads",
  [`/${encodeURIComponent(KEY).replace("-", "%2D")}/`]: "https://service.test",
  [`https://${KEY}.example/`]: "https://....example",
  [`/${KEY}/`]: "/.../",
  "http://[": UNREADABLE,
  "mailto:me@other.example": UNREADABLE,
  "https://service.test/api/threads/": "/api/threads/",
  "http://service.test/api/threads/?a": "http://service.test",
};

for (const [location, shown] of Object.entries(REDIRECTS)) {
  Deno.test(`statusError() tells of a redirect to ${location}: ${shown}`, () => {
    const advice = location.includes("service.test/api/threads/")
      ? " The service should answer without the trailing slash."
      : " Check the base URL.";
    const start = `, a redirect to ${shown}, which is not followed.`;
    const answer = { headers: { location } };
    for (
      const [operation, fate, rest] of [
        ["create run", "refused", ""],
        ["stream run", "may go on", " The run may still continue."],
      ] as const
    ) {
      const [told, error] = refuse(307, { ...answer, operation });
      assertEquals([told, error.fate], [start + rest + advice, fate]);
    }
  });
}
