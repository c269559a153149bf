import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { RemoteGateway } from "../../../lib/gateway.ts";
import { ServiceError } from "../../../lib/gateway/service_error.ts";
import { QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  json,
  redirect,
} from "../../support/service/behaviours.ts";
import type { Operation } from "../../support/service/recorded_request.ts";
import { ReferenceService, TEST_KEY } from "../../support/service/service.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** The error of `create thread` for this answer of the service. */
async function refusedThread(
  behaviour: Behaviour,
  apiKey = TEST_KEY,
): Promise<ServiceError> {
  await using service = ReferenceService.start();
  service.misbehave("create thread", behaviour, Infinity);
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey,
    timeouts: QUICK_TIMEOUTS,
  });
  return await assertRejects(() => gateway.createThread(), ServiceError);
}

const html =
  "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\n";

const DETAILS: readonly (readonly [string, Behaviour, string])[] = [
  ["its message", json({ message: "No", error: "E" }, 400), "400: No"],
  ["its error", json({ error: "No", detail: "D" }, 400), "400: No"],
  ["its detail", json({ detail: "No" }, 400), "400: No"],
  [
    "the message in its error",
    json({ error: { message: "No", code: 1 } }, 400),
    "400: No",
  ],
  [
    "the first one that says something",
    json({ message: " ", error: true, detail: "No" }, 400),
    "400: No",
  ],
  [
    "its text if it is other JSON",
    json({ detail: [{ msg: "No" }] }, 422),
    '422: {"detail":[{"msg":"No"}]}',
  ],
  ["its text, on one line", answer(418, "  No\ttea \n"), "418: No tea"],
  [
    "of a web page its title alone",
    answer(502, html),
    "502 (try again later): 502 Bad Gateway",
  ],
  [
    "nothing of a web page without a title",
    answer(502, "Gone", { "content-type": "text/html; charset=utf-8" }),
    "502 (try again later)",
  ],
  [
    "that not the service refused, if a web page comes",
    answer(403, "<!DOCTYPE HTML><title>Access &#68;enied</title>Why not"),
    "403 (a web page: something in front of the service refused, such as a firewall or a sign-in page; check the network and the base URL): Access Denied",
  ],
  ["nothing if it is empty", answer(500), "500 (try again later)"],
  ["nothing if it is blank", answer(400, "\n"), "400"],
  ["nothing if there is none", answer(304), "304"],
  [
    "U+FFFD for bytes that are not UTF-8",
    answer(400, Uint8Array.of(0x4e, 0xff)),
    "400: N\ufffd",
  ],
  [
    "at most 500 characters",
    answer(400, "x".repeat(1_000_000)),
    `400: ${"x".repeat(500)}`,
  ],
  [
    "no half of a character",
    answer(400, `${"x".repeat(499)}👩`),
    `400: ${"x".repeat(499)}\ufffd`,
  ],
  [
    "its beginning if it is endless",
    body(function* () {
      for (;;) yield "x".repeat(1000);
    }, { status: 400 }),
    `400: ${"x".repeat(500)}`,
  ],
  [
    "nothing if it breaks off",
    body(["x"], { status: 400, end: "break" }),
    "400",
  ],
];

for (const [what, behaviour, expected] of DETAILS) {
  Deno.test(`the error for a status outside 2xx tells of the body: ${what}`, async () => {
    const { message } = await refusedThread(behaviour);
    const prefix = "Cannot create a thread: the service answered ";
    assertEquals(message, prefix + expected);
  });
}

const ADVICE: readonly (readonly [Operation, number, string])[] = [
  [
    "create thread",
    401,
    "Cannot create a thread: the service answered 401, the API key was rejected (check APP_API_KEY)",
  ],
  [
    "create run",
    403,
    "Cannot start a run: the service answered 403, the API key was rejected (check APP_API_KEY)",
  ],
  [
    "stream",
    401,
    "Cannot follow the run: the service answered 401, the API key was rejected (check APP_API_KEY; the run may still go on at the service)",
  ],
  [
    "create thread",
    404,
    "Cannot create a thread: the service answered 404 (check the base URL)",
  ],
  [
    "create run",
    404,
    "Cannot start a run: the service answered 404 (the thread may be gone: start a new one)",
  ],
  [
    "stream",
    404,
    "Cannot follow the run: the service answered 404 (the run may still go on at the service)",
  ],
  ...[408, 425, 499, 500, 502, 504, 599].map((status) =>
    [
      "create run",
      status,
      `Cannot start a run: the service answered ${status} (the run may have started, so it is not tried again)`,
    ] as const
  ),
  ...[408, 425, 499, 500, 502, 504].map((status) =>
    [
      "create thread",
      status,
      `Cannot create a thread: the service answered ${status} (try again later)`,
    ] as const
  ),
  [
    "create run",
    413,
    "Cannot start a run: the service answered 413 (the prompt is too long for it)",
  ],
  ["create run", 422, "Cannot start a run: the service answered 422"],
  [
    "create run",
    429,
    "Cannot start a run: the service answered 429 (try again later)",
  ],
  [
    "stream",
    500,
    "Cannot follow the run: the service answered 500 (the run may still go on at the service)",
  ],
];

for (const [operation, status, expected] of ADVICE) {
  Deno.test(`the error for status ${status} to "${operation}" says what to do`, async () => {
    await using service = ReferenceService.start();
    service.misbehave(operation, answer(status), Infinity);
    await using gateway = new RemoteGateway({
      baseUrl: service.url,
      apiKey: TEST_KEY,
      timeouts: QUICK_TIMEOUTS,
    });
    const error = await assertRejects(
      async () => {
        const threadId = await gateway.createThread();
        await Array.fromAsync(gateway.runTurn(threadId, "hello"));
      },
      ServiceError,
    );
    // The error of a failed stream ends with its thread and run.
    assertStringIncludes(
      `${error.message}|`,
      `${expected}${operation === "stream" ? " (thread " : "|"}`,
    );
    assertEquals(error.status, status);
    assertEquals(error.keyRejected, status === 401 || status === 403);
    assert(error.operation.startsWith(operation));
  });
}

// Every character that some encoding escapes or that replaceAll() expands.
const key = `$&a"b\\c/d<e>&f'g%h?i=$'`;
const inJson = JSON.stringify(key).slice(1, -1);

const ECHOES: readonly (readonly [string, Behaviour])[] = [
  ["plain text", answer(401, `Unknown key ${key}, or ${key}`)],
  ["a JSON message", json({ message: `Unknown key ${key}` }, 401)],
  ["other JSON", json([`Unknown key ${key}`], 401)],
  [
    "JSON with escaped slashes",
    answer(401, `["${inJson.replaceAll("/", "\\/")}"]`),
  ],
  ["a URL", answer(401, `/login?key=${encodeURIComponent(key)}`)],
  [
    "HTML",
    answer(
      401,
      key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(
        ">",
        "&gt;",
      )
        .replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
    ),
  ],
];

for (const [where, behaviour] of ECHOES) {
  Deno.test(`a key that the service echoes in ${where} is masked`, async () => {
    const { message } = await refusedThread(behaviour, key);
    assertStringIncludes(message, "$&a\"...i=$'");
    for (const part of ["\\c", "d<", "e>", "g%", "d&lt;", "g%25"]) {
      assertFalse(message.includes(part), message);
    }
  });
}

const LIMIT = 64 * 1024;

for (
  const [what, end, shown] of [
    ["as it is", TEST_KEY.slice(0, 12), "end "],
    ["encoded for a URL", "%74%65%73%74%2", "end "],
    ["escaped for JSON", "t\\u0065st\\u002d\\u00", "end "],
    ["as a whole", TEST_KEY, "end test...cdef"],
  ] as const
) {
  Deno.test(`a key ${what} where an error is cut is not shown in part`, async () => {
    const start = `end ${end}`;
    const blank = " ".repeat(LIMIT - start.length);
    const { message } = await refusedThread(answer(400, `${blank}${start}xyz`));
    assertEquals(
      message,
      `Cannot create a thread: the service answered 400: ${shown.trim()}`,
    );
  });
}

const REDIRECTS: readonly (readonly [number, string, string])[] = [
  [301, "https://other.example/a?b#c", "https://other.example"],
  [302, "//other.example:8443/", "http://other.example:8443"],
  [303, `https://${TEST_KEY}.example/`, "https://test...cdef.example"],
  [307, "http://[", "an unreadable address"],
  [307, "mailto:me@other.example", "an unreadable address"],
];

for (const [status, location, shown] of REDIRECTS) {
  Deno.test(`the error for a redirect to ${location} names its origin`, async () => {
    const { message } = await refusedThread(redirect(location, status));
    assertEquals(
      message,
      `Cannot create a thread: the service answered ${status}, a redirect to ` +
        `${shown}; redirects are not followed, check the base URL`,
    );
  });
}

Deno.test("a key in capitals is masked in the host of a redirect, which has none", async () => {
  const upper = TEST_KEY.toUpperCase();
  const { message } = await refusedThread(
    redirect(`https://${upper}.example/`, 302),
    upper,
  );
  assertStringIncludes(message, "a redirect to https://test...cdef.example; ");
});

for (const operation of ["create thread", "create run", "stream"] as const) {
  for (const status of [301, 302, 303, 307, 308]) {
    Deno.test(`a redirect (${status}) of "${operation}" is not followed`, async () => {
      await using target = ReferenceService.start();
      await using service = ReferenceService.start();
      service.misbehave(operation, redirect(`${target.url}/threads`, status));
      await using gateway = new RemoteGateway({
        baseUrl: service.url,
        apiKey: TEST_KEY,
        timeouts: QUICK_TIMEOUTS,
      });
      await assertRejects(
        async () => {
          const threadId = await gateway.createThread();
          await Array.fromAsync(gateway.runTurn(threadId, "hello"));
        },
        ServiceError,
        `a redirect to ${target.url}; redirects are not followed`,
      );
      assertEquals(target.requests, []);
      assertEquals(service.requests.at(-1)?.operation, operation);
    });
  }
}
