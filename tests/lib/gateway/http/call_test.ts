import { assertEquals, assertRejects } from "@std/assert";
import { Deadline } from "../../../../lib/io.ts";
import { ServiceError } from "../../../../lib/gateway.ts";
import { TIMEOUTS } from "../../../../lib/gateway/timeouts.ts";
import {
  answer,
  type Behaviour,
  body,
  hang,
} from "../../../support/service/behaviours.ts";
import { ReferenceService } from "../../../support/service/service.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  createThread,
  gatewayTo,
  requestsOf,
  takeTurn,
} from "../../../support/turns.ts";
import { serviceId } from "../../../support/texts.ts";
import { unchanged } from "../../../../lib/text.ts";
import { redacted } from "../../../support/texts.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

Deno.test("the program waits as long as docs/networks.md says", () => {
  assertEquals(TIMEOUTS, {
    ...{ answer: 60_000, errorText: 2_000, idle: 600_000 },
    drain: 100,
    ...{ retry: [500, 1_000, 2_000], reopen: [0, 500, 1_000] },
    outOfFiles: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000],
    reconnect: [500, 1_000, 2_000, 4_000, 8_000, 15_000],
    ...{ lost: 2_000, lastAttempt: 60_000 },
    ...{ outage: 120_000, resume: 600_000, steady: 5_000 },
    retryAfter: 30_000,
  });
});

const SEND = "error sending request from a for b: client error (SendRequest): ";
const CONNECT = "error sending request for url (b): client error (Connect): ";

/** How often a request that fails so is sent, and why again. */
const REJECTIONS: Readonly<Record<string, readonly [number, ...string[]]>> = {
  [`${SEND}connection closed`]: [4, "connection closed"],
  [`${SEND}connection closed before message completed`]: [1],
  [`${CONNECT}Connection refused`]: [4, "connection refused"],
  [`${CONNECT}Too many open files`]: [5, "too many open files"],
};

for (const [text, expected] of Object.entries(REJECTIONS)) {
  Deno.test(`a POST is sent ${expected[0]} times after ${text}`, async () => {
    await using gateway = gatewayTo({ url: "http://127.0.0.1" });
    const { fetch } = globalThis;
    let requests = 0;
    globalThis.fetch = () => {
      requests++;
      const cause = new Error(text);
      return Promise.reject(new TypeError("failed", { cause }));
    };
    const reasons = new Set<string>();
    const turn = async () => {
      for await (
        const event of gateway.runTurn(serviceId("t"), unchanged("hello"))
      ) {
        if (event?.type === "wait") reasons.add(event.reason);
      }
    };
    try {
      await assertRejects(turn);
    } finally {
      globalThis.fetch = fetch;
    }
    assertEquals([requests, ...reasons], expected);
  });
}

Deno.test("a Retry-After of an hour is told for each status after which nothing has run, and for no other", async () => {
  const outcomes: unknown[] = [];
  for (const status of [429, 502]) {
    for (const operation of ["create thread", "create run"] as const) {
      const late = answer(status, "", { "retry-after": "3600" });
      const { error, waits } = await takeTurn({ [operation]: [late] });
      outcomes.push(error?.failure.advice, waits.length);
    }
  }
  const again = ["Try again in 60 min", 0];
  assertEquals(outcomes, [...again, ...again, ...again, undefined, 0]);
});

const stalled = body(["No"], { status: 404, end: "hang" });
const LATE = "The service did not answer within 1 min.";
const MAY_RUN =
  "The run may have started, so the prompt was not retried. (thread t)";

for (
  const [operation, start, message] of [
    ["create thread", "", `${LATE} Try again later.`],
    ["create thread", '{"thread_id":', `${LATE} Try again later.`],
    ["create run", "", `${LATE} ${MAY_RUN}`],
  ] as const
) {
  Deno.test(`"${operation}" that is not answered in time but for "${start}" is dropped, once: ${message}`, async () => {
    using clock = new FakeClock();
    const late = body(function* () {
      yield start;
      clock.pass();
    }, { end: "hang" });
    const never: Behaviour = (...request) => {
      clock.pass();
      return hang()(...request);
    };
    const silent = start === "" ? never : late;
    const answers = { [operation]: [silent] };
    const turn = await takeTurn(answers, { answer: 60_000 });
    assertEquals(turn.error?.message, redacted(message));
    assertEquals(requestsOf(operation, turn.requests).length, 1);
    assertEquals(turn.endings.at(-1), "dropped");
  });
}

Deno.test("the text of an error that stalls costs 2 s and not the status, also at the time limit", async () => {
  const message = "The service answered 404: No. Check the base URL.";
  const { error, endings } = await takeTurn({ "create thread": [stalled] }, {
    errorText: 1,
  });
  assertEquals(error?.message, message);
  assertEquals(endings, ["dropped"]);

  for (const operation of ["create thread", "stream"] as const) {
    await using service = ReferenceService.start();
    service.misbehave(operation, stalled);
    using clock = new FakeClock();
    await using gateway = gatewayTo(service);
    const { fetch } = globalThis;
    globalThis.fetch = async (...request) => {
      const response = await fetch(...request);
      if (response.status === 404) clock.pass();
      return response;
    };
    try {
      using deadline = new Deadline(1);
      const error = await assertRejects(async () => {
        const threadId = await createThread(gateway, deadline);
        await Array.fromAsync(
          gateway.runTurn(serviceId(threadId), unchanged("hi"), deadline),
        );
      }, ServiceError);
      assertEquals(error.failure.status, 404);
    } finally {
      globalThis.fetch = fetch;
    }
  }
});

const MIB = 1024 * 1024;
const HTML = { "content-type": "text/html" };

Deno.test("a JSON answer may hold 1 MiB, and be labelled as a web page", async () => {
  const text = '{"thread_id":"t"}'.padEnd(MIB);
  const page = answer(200, text, HTML);
  const { error } = await takeTurn({ "create thread": [page] });
  assertEquals(error, undefined);
});

const endless = body(function* () {
  for (;;) yield " ".repeat(10_000);
});
const TOO_LARGE = "The answer is larger than 1 MiB";
const PAGE =
  "The service answered 200 with a web page, perhaps the sign-in page of a network or proxy";

const NO_OBJECT = (status: number) =>
  `The answer (status ${status}) is not a JSON object`;
const LONG = answer(200, '{"thread_id":"t"}'.padEnd(MIB + 1));

const BAD_ANSWERS: Readonly<Record<string, readonly [Behaviour, string]>> = {
  "one byte more": [LONG, TOO_LARGE],
  "an endless answer": [endless, TOO_LARGE],
  "a web page that does not say so": [answer(200, "<html>"), PAGE],
  "a web page": [answer(200, "<p>", HTML), PAGE],
  "words that are labelled as a page": [
    answer(200, "OK", HTML),
    NO_OBJECT(200),
  ],
  "no body": [answer(204), NO_OBJECT(204)],
  "an array": [answer(201, "[]"), NO_OBJECT(201)],
};

for (const [what, [behaviour, reason]] of Object.entries(BAD_ANSWERS)) {
  Deno.test(`a POST that is answered by ${what} is an error, once`, async () => {
    const thread = await takeTurn({ "create thread": [behaviour] });
    const run = await takeTurn({ "create run": [behaviour] });
    assertEquals([thread.error?.message, run.error?.message], [
      `${reason}. Check the base URL.`,
      `${reason}. ${MAY_RUN}`,
    ]);
    assertEquals([thread.requests.length, run.requests.length], [1, 2]);
  });
}
