import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../../../lib/gateway.ts";
import { Deadline } from "../../../../lib/io.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  answer,
  type Behaviour,
  body,
  hang,
} from "../../../support/service/behaviours.ts";
import { stub } from "../../../support/stubs.ts";
import { testRows } from "../../../support/tables.ts";
import {
  gatewayTo,
  startService,
  takeTurn,
  turnOf,
} from "../../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const HOUR = { "retry-after": "3600" };

/** Answers to a `POST` that are not waited for or not repeated, and what is told. */
testRows(
  '"{operation}" that is answered {status} for an hour is sent once: {told}',
  "operation | status | told",
  `
create thread | 429    | The service answered 429. Try again in 60 min.
create run    | 429    | The service answered 429. The prompt did not run. Try again in 60 min.
create thread | 502    | The service answered 502. Try again in 60 min.
create run    | 502    | The service answered 502. The run may have started, so the prompt was not retried. (thread t)
create thread | 204    | The answer (status 204) is not a JSON object. Check the base URL.
create run    | 204    | The answer (status 204) is not a JSON object. The run may have started, so the prompt was not retried. (thread t)
`,
  async (row) => {
    const answers = { [row.operation]: [answer(Number(row.status), "", HOUR)] };
    const { told, requests } = await takeTurn(answers);
    assertEquals(told, [row.told]);
    assertEquals(requests.length, row.operation === "create run" ? 2 : 1);
  },
);

/** What comes of an answer until its time is over, and what is told. */
testRows(
  '"{operation}" that is not answered in time but for "{start}" is dropped, once: {told}',
  "operation | start | told",
  `
create thread |              | The service did not answer within 1 min. Try again later.
create thread | {"thread_id: | The service did not answer within 1 min. Try again later.
create run    |              | The service did not answer within 1 min. The run may have started, so the prompt was not retried. (thread t)
`,
  async (row) => {
    using clock = new FakeClock();
    const late = body(function* () {
      yield row.start;
      clock.elapse(60_000);
    }, { end: "hang" });
    const never: Behaviour = (...request) => {
      clock.elapse(60_000);
      return hang()(...request);
    };
    const answers = { [row.operation]: [row.start === "" ? never : late] };
    const turn = await takeTurn(answers, { answer: 60_000 });
    assertEquals(turn.told, [row.told]);
    assertEquals(turn.requests.at(-1)?.operation, row.operation);
    assertEquals(turn.endings.at(-1), "dropped");
  },
);

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
    using _ = stub(globalThis, {
      async fetch(...request: Parameters<typeof fetch>) {
        const response = await fetch(...request);
        if (response.status === 404) clock.pass();
        return response;
      },
    });
    using deadline = new Deadline(1);
    const error = await assertRejects(async () => {
      await Array.fromAsync(gateway.createThread(deadline));
      await Array.fromAsync(turnOf(gateway, deadline));
    }, ServiceError);
    assertEquals(error.status, 404);
  });
}
