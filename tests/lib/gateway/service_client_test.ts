import { assertEquals, assertRejects } from "@std/assert";
import type { Timeouts } from "../../../lib/gateway/timeouts.ts";
import { RemoteGateway } from "../../../lib/gateway.ts";
import type { Exchange } from "../../../lib/gateway/service_client.ts";
import {
  ConnectionError,
  ServiceError,
} from "../../../lib/gateway/service_error.ts";
import { gatewayTo, QUICK_CLOCKS } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  hang,
} from "../../support/service/behaviours.ts";
import type { Operation } from "../../support/service/recorded_request.ts";
import { ReferenceService, TEST_KEY } from "../../support/service/service.ts";
import { QUIET_HOST, unreachable } from "../../support/unreachable.ts";

// Nothing may go on behind a test: no timer, no request, no connection.
Deno.test.sanitizer({ ops: true, resources: true });

/** Creates a thread and takes a turn on it. */
async function converse(gateway: RemoteGateway): Promise<void> {
  const threadId = await gateway.createThread();
  await Array.fromAsync(gateway.runTurn(threadId, "hello"));
}

for (const operation of ["create thread", "create run", "stream"] as const) {
  for (const status of [429, 503]) {
    Deno.test(`${status} to "${operation}" is repeated three times`, async () => {
      await using service = ReferenceService.start();
      await using gateway = gatewayTo(service);
      service.misbehave(operation, answer(status), 3);
      await converse(gateway);
      assertEquals(service.requests.length, 3 + 3);
    });

    Deno.test(`${status} to "${operation}" is not repeated a fourth time`, async () => {
      await using service = ReferenceService.start();
      await using gateway = gatewayTo(service);
      service.misbehave(operation, answer(status), 4);
      const error = await assertRejects(() => converse(gateway), ServiceError);
      assertEquals(error.status, status);
      const sent = service.requests.filter((request) =>
        request.operation === operation
      );
      assertEquals(sent.length, 4);
    });
  }

  for (const status of [400, 408, 500, 502, 504]) {
    Deno.test(`${status} to "${operation}" is not repeated`, async () => {
      await using service = ReferenceService.start();
      await using gateway = gatewayTo(service);
      service.misbehave(operation, answer(status));
      await assertRejects(() => converse(gateway), ServiceError);
      assertEquals(service.requests.at(-1)?.operation, operation);
    });
  }
}

// With the timeouts of the case, what is not as it says takes ten minutes.
const LONG = 600_000;
const RETRIES:
  readonly (readonly [string, string | null, Partial<Timeouts>])[] = [
    ["as soon as Retry-After says", "0", { retry: [LONG], retryAfter: LONG }],
    [
      "at once if the date in Retry-After is over",
      "Sun, 06 Nov 1994 08:49:37 GMT",
      { retry: [LONG], retryAfter: LONG },
    ],
    ["soon, however long Retry-After is", "3600", {
      retry: [LONG],
    }],
    [
      "soon, however far off the date in Retry-After is",
      new Date(Date.now() + LONG).toUTCString(),
      { retry: [LONG] },
    ],
    ["by the timeouts if Retry-After cannot be read", "-1", {
      retry: [1],
      retryAfter: LONG,
    }],
    ["by the timeouts without Retry-After", null, {
      retry: [1],
      retryAfter: LONG,
    }],
  ];

for (const [when, retryAfter, timeouts] of RETRIES) {
  Deno.test(`an overloaded service is asked again ${when}`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service, timeouts);
    const headers: Record<string, string> = retryAfter === null
      ? {}
      : { "retry-after": retryAfter };
    service.misbehave("create thread", answer(503, "", headers));
    await gateway.createThread();
    assertEquals(service.requests.length, 2);
  });
}

Deno.test("a refused connection is tried once more, and then told", async () => {
  const baseUrl = unreachable();
  const exchanges: Exchange[] = [];
  await using gateway = new RemoteGateway({
    baseUrl,
    apiKey: TEST_KEY,
    onExchange: (exchange) => exchanges.push(exchange),
  });
  const error = await assertRejects(
    () => gateway.createThread(),
    ConnectionError,
  );
  const [reason] = /(?<=\().*(?=\))/.exec(error.message) ?? [];
  assertEquals(
    error.message,
    `Cannot create a thread: ${baseUrl} cannot be reached (${reason}); ` +
      "check that the service runs, and the base URL",
  );
  if (Deno.build.os === "linux") assertEquals(reason, "connection refused");
  assertEquals(exchanges.length, 2);
});

Deno.test("a service that begins to listen is reached at the second try", async () => {
  const baseUrl = unreachable();
  await using services = new AsyncDisposableStack();
  await using gateway = new RemoteGateway({
    baseUrl,
    apiKey: TEST_KEY,
    onExchange: ({ status }) => {
      if (status !== undefined) return;
      const port = Number(new URL(baseUrl).port);
      services.use(ReferenceService.start({ hostname: QUIET_HOST, port }));
    },
  });
  await converse(gateway);
});

const BEFORE = {
  "create thread": undefined,
  "create run": "create thread",
  "stream": "create run",
} as const;

const TIMEOUTS: readonly (readonly [Operation, Behaviour, string])[] = [
  [
    "create thread",
    hang(),
    "Cannot create a thread: the service did not answer within 0.02 s; try again later",
  ],
  [
    "create thread",
    body(['{"thread_id":'], { end: "hang" }),
    "Cannot create a thread: the service did not answer within 0.02 s; try again later",
  ],
  [
    "create run",
    hang(),
    "Cannot start a run: the service did not answer within 0.02 s; the run may have started, so it is not tried again",
  ],
  [
    "stream",
    hang(),
    "Cannot follow the run: the service did not answer within 0.02 s; the run may still go on at the service",
  ],
  [
    "create thread",
    body(["No"], { status: 401, end: "hang" }),
    "Cannot create a thread: the service answered 401, the API key was rejected (check APP_API_KEY)",
  ],
];

for (const [operation, behaviour, expected] of TIMEOUTS) {
  Deno.test(`"${operation}" is given up, once, with ${expected}`, async () => {
    await using service = ReferenceService.start();
    service.misbehave(operation, behaviour);
    // The time runs out for this operation alone.
    const timeouts = { ...QUICK_CLOCKS };
    const before = BEFORE[operation];
    if (before === undefined) timeouts.answer = 20;
    await using gateway = new RemoteGateway({
      baseUrl: service.url,
      apiKey: TEST_KEY,
      timeouts,
      onExchange: (exchange) => {
        if (exchange.operation === before) timeouts.answer = 20;
      },
    });
    const error = await assertRejects(() => converse(gateway), ServiceError);
    assertEquals(error.message, expected);
    const request = service.requests.at(-1);
    assertEquals(request?.operation, operation);
    assertEquals(await request?.ended, "dropped");
  });
}

const MIB = 1024 * 1024;
const PADDED = '{"thread_id":"t","padding":""}';

Deno.test("a JSON answer may hold 1 MiB", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const padding = "x".repeat(MIB - PADDED.length);
  const text = PADDED.replace('""', `"${padding}"`);
  service.misbehave("create thread", answer(200, text));
  assertEquals(await gateway.createThread(), "t");
});

const BAD_ANSWERS: readonly (readonly [string, Behaviour, string])[] = [
  [
    "one byte more than 1 MiB",
    answer(200, PADDED + " ".repeat(MIB + 1 - PADDED.length)),
    "the answer is larger than 1 MiB",
  ],
  [
    "an endless answer",
    body(function* () {
      for (;;) yield " ".repeat(10_000);
    }),
    "the answer is larger than 1 MiB",
  ],
  [
    "HTML",
    answer(200, "<html>"),
    "the answer (status 200) is a web page; check the base URL, and whether this network asks you to sign in",
  ],
  [
    "no body",
    answer(204),
    "the answer (status 204) is not a JSON object; check the base URL",
  ],
  [
    "a JSON array",
    answer(201, "[]"),
    "the answer (status 201) is not a JSON object; check the base URL",
  ],
];

for (const [what, behaviour, reason] of BAD_ANSWERS) {
  Deno.test(`createThread() refuses ${what}`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("create thread", behaviour);
    const { message } = await assertRejects(
      () => gateway.createThread(),
      ServiceError,
    );
    assertEquals(message, `Cannot create a thread: ${reason}`);
    assertEquals(service.requests.length, 1);
  });
}

Deno.test("onExchange() is told of each request, repeated ones included", async () => {
  await using service = ReferenceService.start();
  const exchanges: Exchange[] = [];
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts: QUICK_CLOCKS,
    onExchange: (exchange) => exchanges.push(exchange),
  });
  service.misbehave("create run", answer(503));
  await converse(gateway);
  assertEquals(
    exchanges.map(({ operation, status }) => [operation, status]),
    [
      ["create thread", 200],
      ["create run", 503],
      ["create run", 200],
      ["stream run", 200],
    ],
  );
});
