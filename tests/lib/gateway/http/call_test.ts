import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../../../lib/gateway.ts";
import { Deadline } from "../../../../lib/io.ts";
import { unchanged } from "../../../../lib/text.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  answer,
  type Behaviour,
  body,
  hang,
  json,
} from "../../../support/service/behaviours.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { serviceId } from "../../../support/texts.ts";
import { gatewayTo, startService, takeTurn } from "../../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const MIB = 1024 * 1024;
const HTML = { "content-type": "text/html" };
const HOUR = { "retry-after": "3600" };
const MAY_RUN =
  "The run may have started, so the prompt was not retried. (thread t)";

const endless = body(function* () {
  for (;;) yield " ".repeat(10_000);
});
const full = (length: number) =>
  answer(200, '{"thread_id":"t"}'.padEnd(length), HTML);

const TOO_LARGE = "The answer is larger than 1 MiB";
const PAGE =
  "The service answered 200 with a web page, perhaps the sign-in page of a network or proxy";
const NO_OBJECT = "The answer (status 200) is not a JSON object";

/**
 * An answer that is given to each `POST` of an operation, what is told, and what follows
 * it for a thread and for a run. By default, those are final.
 */
const ANSWERS: readonly (readonly [
  what: string,
  answer: Behaviour,
  reason: string,
  thread?: string,
  run?: string,
])[] = [
  [
    "429 for an hour",
    answer(429, "", HOUR),
    "The service answered 429",
    "Try again in 60 min.",
    "The prompt did not run. Try again in 60 min.",
  ],
  [
    "502 for an hour",
    answer(502, "", HOUR),
    "The service answered 502",
    "Try again in 60 min.",
  ],
  ["a byte more than 1 MiB", full(MIB + 1), TOO_LARGE],
  ["an endless answer", endless, TOO_LARGE],
  ["a web page", answer(200, "<p>", HTML), PAGE],
  ["a web page that does not say so", answer(200, "<html>"), PAGE],
  ["words that are labelled as a page", answer(200, "OK", HTML), NO_OBJECT],
  ["no body", answer(204), NO_OBJECT.replace("200", "204")],
  ["an array", answer(201, "[]"), NO_OBJECT.replace("200", "201")],
];

for (const [what, behaviour, reason, thread, run] of ANSWERS) {
  Deno.test(`a POST that is answered by ${what} is sent once: ${reason}`, async () => {
    const threads = await takeTurn({ "create thread": [behaviour] });
    assertEquals(threads.told, [
      `${reason}. ${thread ?? "Check the base URL."}`,
    ]);
    assertEquals(threads.requests.length, 1);
    const runs = await takeTurn({ "create run": [behaviour] });
    assertEquals(runs.told, [`${reason}. ${run ?? MAY_RUN}`]);
    assertEquals(runs.requests.length, 2);
  });
}

Deno.test("a JSON answer may hold 1 MiB, and be labelled as a web page", async () => {
  const { told } = await takeTurn({ "create thread": [full(MIB)] });
  assertEquals(told, ["Done."]);
});

const BAD_IDS: readonly unknown[] = [
  ...[undefined, "", ".", "..", "\ud800", null, 1, ["a"], { id: "a" }],
  ...["x".repeat(1025), "ü".repeat(513)],
  ...[TEST_KEY, `run-${TEST_KEY.toUpperCase()}-1`],
];

for (const id of BAD_IDS) {
  Deno.test(`the id ${JSON.stringify(id)?.slice(0, 40)} cannot be used (interface 7)`, async () => {
    const type = id === null ? "null" : typeof id;
    for (const operation of ["create thread", "create run"] as const) {
      const field = operation === "create run" ? "run_id" : "thread_id";
      const behaviour = json({ [field]: id, other: 1 });
      const { error, requests } = await takeTurn({ [operation]: [behaviour] });
      const reason = id === undefined
        ? `The answer contains no ${field}, only: other`
        : type === "string"
        ? `The answer contains a malformed ${field}`
        : `The ${field} in the answer must be a string, not ${type}`;
      assertEquals(`${error?.failure.reason}`, reason);
      const fate = field === "run_id" ? "may have run" : "refused";
      assertEquals(error?.fate, fate);
      assertEquals(requests.length, field === "run_id" ? 2 : 1);
    }
  });
}

const LATE = "The service did not answer within 1 min.";

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
      clock.elapse(60_000);
    }, { end: "hang" });
    const never: Behaviour = (...request) => {
      clock.elapse(60_000);
      return hang()(...request);
    };
    const answers = { [operation]: [start === "" ? never : late] };
    const turn = await takeTurn(answers, { answer: 60_000 });
    assertEquals(turn.told, [message]);
    assertEquals(turn.requests.at(-1)?.operation, operation);
    assertEquals(turn.endings.at(-1), "dropped");
  });
}

const stalled = body(["No"], { status: 404, end: "hang" });

Deno.test("the text of an error that stalls costs 2 s and not the status", async () => {
  const turn = await takeTurn({ "create thread": [stalled] }, { errorText: 1 });
  assertEquals(turn.told, [
    "The service answered 404: No. Check the base URL.",
  ]);
  assertEquals(turn.endings, ["dropped"]);
});

for (const operation of ["create thread", "stream"] as const) {
  Deno.test(`the status of an answer to "${operation}" is told although the time is over before its text has come`, async () => {
    await using service = startService({ [operation]: [stalled] });
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
        await Array.fromAsync(gateway.createThread(deadline));
        const prompt = unchanged("hi");
        await Array.fromAsync(
          gateway.runTurn(serviceId("t"), prompt, deadline),
        );
      }, ServiceError);
      assertEquals(error.status, 404);
    } finally {
      globalThis.fetch = fetch;
    }
  });
}
