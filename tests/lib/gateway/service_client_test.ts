import { assertEquals, assertRejects } from "@std/assert";
import type { Timeouts } from "../../../lib/gateway/timeouts.ts";
import {
  type Exchange,
  RemoteGateway,
  type Wait,
} from "../../../lib/gateway.ts";
import {
  ConnectionError,
  ServiceError,
} from "../../../lib/gateway/service_error.ts";
import { gatewayTo, QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  hang,
} from "../../support/service/behaviours.ts";
import type { Operation } from "../../support/service/recorded_request.ts";
import { ReferenceService, TEST_KEY } from "../../support/service/service.ts";
import { stopFor } from "../../support/stopped_process.ts";
import { aborted } from "../../support/service/byte_stream.ts";
import { QUIET_HOST, unreachable } from "../../support/unreachable.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

/** Creates a thread and runs a turn on it. */
async function converse(gateway: RemoteGateway): Promise<void> {
  const threadId = await gateway.createThread();
  await Array.fromAsync(gateway.runTurn(threadId, "hello"));
}

const REPEATED: readonly (readonly [Operation, number])[] = [
  ["create thread", 429],
  ["create thread", 503],
  ["create run", 429],
];

for (const [operation, status] of REPEATED) {
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

const FINAL: readonly (readonly [Operation, readonly number[]])[] = [
  ["create thread", [400, 408, 425, 499, 500, 502, 504]],
  ["create run", [400, 408, 425, 499, 500, 502, 503, 504]],
  ["stream", [400, 404, 408, 425, 499, 500, 501]],
];

for (const [operation, statuses] of FINAL) {
  for (const status of statuses) {
    Deno.test(`${status} to "${operation}" is not repeated`, async () => {
      await using service = ReferenceService.start();
      await using gateway = gatewayTo(service);
      service.misbehave(operation, answer(status));
      const error = await assertRejects(() => converse(gateway), ServiceError);
      assertEquals(error.status, status);
      const sent = service.requests.filter((request) =>
        request.operation === operation
      );
      assertEquals(sent.length, 1);
    });
  }
}

for (
  const [random, factor] of [[0, 0.75], [0.5, 1], [0.999, 1.2495]] as const
) {
  Deno.test(`onWait() is called before each pause, which chance makes ${factor} times as long`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service, { retry: [4, 8, 16] });
    service.misbehave("create thread", answer(503), 3);
    const waits: Wait[] = [];
    const chance = Math.random;
    Math.random = () => random;
    try {
      await gateway.createThread({ onWait: (wait) => waits.push(wait) });
    } finally {
      Math.random = chance;
    }
    assertEquals(
      waits,
      [4, 8, 16].map((milliseconds) => ({
        operation: "create thread",
        reason: "service busy",
        milliseconds: milliseconds * factor,
      })),
    );
  });
}

// With the case's timeouts, a wrong time limit would take ten minutes.
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

const HOUR = 3_600_000;
const DATES: readonly (readonly [string, number, number, number])[] = [
  ["an hour behind", -HOUR, -HOUR + 20_000, 20_000],
  ["an hour ahead", HOUR, HOUR + 20_000, 20_000],
  ["later than it", 40_000, 20_000, 0],
];

for (const [what, date, retryAfter, expected] of DATES) {
  Deno.test(`a date in Retry-After is compared with the answer's Date, ${what}`, async () => {
    await using service = ReferenceService.start();
    const now = Date.now();
    const header = (ahead: number) => new Date(now + ahead).toUTCString();
    const headers = { date: header(date), "retry-after": header(retryAfter) };
    service.misbehave("create thread", answer(503, "", headers));
    await using gateway = gatewayTo(service, { retryAfter: LONG });
    const dropped = new AbortController();
    const waits: number[] = [];
    const { signal } = dropped;
    const onWait = ({ milliseconds }: Wait) => {
      waits.push(milliseconds);
      dropped.abort();
    };
    await assertRejects(() => gateway.createThread({ signal, onWait }));
    assertEquals(waits, [expected]);
  });
}

Deno.test("a refused connection is tried once more, and then is an error", async () => {
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
} as const;

const TIMEOUTS: readonly (readonly [keyof typeof BEFORE, Behaviour, string])[] =
  [
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
      "create thread",
      body(["No"], { status: 401, end: "hang" }),
      "Cannot create a thread: the service answered 401, the API key was rejected (check APP_API_KEY)",
    ],
  ];

for (const [operation, behaviour, expected] of TIMEOUTS) {
  Deno.test(`"${operation}" is given up, once, with ${expected}`, async () => {
    await using service = ReferenceService.start();
    service.misbehave(operation, behaviour);
    // Only this operation times out.
    const timeouts = { ...QUICK_TIMEOUTS };
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

for (const operation of ["create thread", "create run", "stream"] as const) {
  Deno.test(`an answer to "${operation}" that came while the process was stopped is read`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service, { answer: 300 });
    service.misbehave(operation, (_request, context) => {
      stopFor(600); // The time is over, and its timer has not fired.
      return context.normal();
    });
    await converse(gateway);
    assertEquals(service.requests.length, 3);
  });
}

Deno.test("a service that brings no answer after a stop is given up after the grace period", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service, { answer: 300, grace: 20 });
  service.misbehave("create thread", (_request, { signal }) => {
    stopFor(600);
    return aborted(signal);
  });
  await assertRejects(
    () => gateway.createThread(),
    ServiceError,
    "did not answer within 0.3 s",
  );
});

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
    "HTML that does not say so",
    answer(200, "<html>"),
    "a web page came (status 200), perhaps the sign-in page of a network or a proxy",
  ],
  [
    "a web page",
    answer(200, "<html>", { "content-type": "text/html" }),
    "a web page came (status 200), perhaps the sign-in page of a network or a proxy",
  ],
  [
    "no body",
    answer(204),
    "the answer (status 204) is not a JSON object",
  ],
  [
    "a JSON array",
    answer(201, "[]"),
    "the answer (status 201) is not a JSON object",
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
    assertEquals(
      message,
      `Cannot create a thread: ${reason}; check the base URL`,
    );
    assertEquals(service.requests.length, 1);
  });

  Deno.test(`runTurn() says of ${what} that the run may have started`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("create run", behaviour);
    const { message } = await assertRejects(
      () => converse(gateway),
      ServiceError,
    );
    assertEquals(
      message,
      `Cannot start a run: ${reason}; the run may have started, so it is not tried again`,
    );
    assertEquals(service.requests.length, 2);
  });
}

Deno.test("an answer in JSON counts, whatever its content type says", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const type = { "content-type": "text/html" };
  service.misbehave("create thread", answer(200, '{"thread_id":"t"}', type));
  assertEquals(await gateway.createThread(), "t");
});

Deno.test("onExchange() is called for each request, including retries", async () => {
  await using service = ReferenceService.start();
  const exchanges: Exchange[] = [];
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts: QUICK_TIMEOUTS,
    onExchange: (exchange) => exchanges.push(exchange),
  });
  service.misbehave("create run", answer(429));
  await converse(gateway);
  assertEquals(
    exchanges.map(({ operation, status }) => [operation, status]),
    [
      ["create thread", 200],
      ["create run", 429],
      ["create run", 200],
      ["stream run", 200],
    ],
  );
});
