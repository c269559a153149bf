import { getEventListeners } from "node:events";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { ServiceError } from "../../../../lib/gateway.ts";
import { Deadline } from "../../../../lib/io.ts";
import { unchanged } from "../../../../lib/text.ts";
import { FakeClock } from "../../../support/clocks.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
  hang,
  progress,
} from "../../../support/service/behaviours.ts";
import type { Operation } from "../../../support/service/exchange.ts";
import { ReferenceService } from "../../../support/service/service.ts";
import { testRows } from "../../../support/tables.ts";
import { serviceId } from "../../../support/texts.ts";
import {
  createThread,
  gatewayTo,
  requestsOf,
  startService,
  turnOf,
} from "../../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const REASON = new Error("Enough");

const step = progress("plan", "started");
const resumable = events([step], { firstId: 1 });
const ANSWERS: Readonly<Record<string, Behaviour>> = {
  "none": hang(),
  "a part": body(['{"thread_id":'], { end: "hang" }),
  "503": answer(503),
  "429": answer(429),
  "headers": body([], { end: "hang" }),
  "an event": events([step], { end: "hang" }),
  "an event with an id": resumable,
};

/**
 * The answer to an operation, and what is seen before the abort: the request, the
 * client's note of its answer, or an event.
 */
testRows(
  'an abort after the {seen} of "{operation}" that is answered by {answer} rejects with the reason of the signal',
  "operation | answer | seen",
  `
create thread | none                | request
create thread | a part              | answer
create thread | 503                 | wait
create run    | none                | request
create run    | a part              | answer
create run    | 429                 | wait
stream        | none                | request
stream        | headers             | answer
stream        | an event            | progress
stream        | an event with an id | wait
`,
  async ({ seen, ...row }) => {
    const operation = row.operation as Operation;
    const behaviour = ANSWERS[row.answer] ?? hang();
    await using service = startService({ [operation]: [behaviour] });
    const happened = Promise.withResolvers<void>();
    const long = 600_000;
    const pauses = { retry: [long], reconnect: [long], lost: long };
    await using gateway = gatewayTo(service, pauses, {
      log: (line) => {
        const isEnd = line.startsWith(operation) && seen === "answer";
        if (isEnd) happened.resolve();
      },
    });
    const controller = new AbortController();
    const { signal } = controller;
    const call = async () => {
      const events = async function* () {
        yield* gateway.createThread({ signal });
        yield* turnOf(gateway, { signal });
      };
      for await (const { type } of events()) {
        if (type === seen) happened.resolve();
      }
    };

    const rejection = assertRejects(call);
    const request = await service.waitFor(operation);
    if (seen !== "request") await happened.promise;
    await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(REASON);

    assertStrictEquals(await rejection, REASON);
    if (seen !== "wait") assertEquals(await request.ended, "dropped");
    assertEquals(service.requests.at(-1), request);
  },
);

Deno.test("a signal that is aborted already keeps every request back", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  const signal = AbortSignal.abort(REASON);
  for (
    const call of [
      gateway.createThread({ signal }),
      turnOf(gateway, { signal }),
    ]
  ) {
    const next = () => call[Symbol.asyncIterator]().next();
    assertStrictEquals(await assertRejects(next), REASON);
  }
  assertEquals(service.requests, []);
});

for (const first of ["abort", "limit"]) {
  Deno.test(`of an abort and a time limit in the same moment, the ${first} counts if it is the first`, async () => {
    using clock = new FakeClock();
    await using service = startService({ "create run": [hang()] });
    await using gateway = gatewayTo(service);
    const controller = new AbortController();
    using deadline = new Deadline(1, controller.signal);
    const turn = turnOf(gateway, deadline)[Symbol.asyncIterator]();
    const rejection = assertRejects(() => turn.next());
    await service.waitFor("create run");
    if (first === "limit") clock.pass();
    controller.abort(REASON);
    if (first === "abort") clock.pass();
    const error = await rejection;
    if (first === "abort") assertStrictEquals(error, REASON);
    else assert(error instanceof ServiceError);
  });
}

Deno.test("calls leave no listener on a signal that outlives them", async () => {
  await using service = ReferenceService.start({ ids: true });
  const { signal } = new AbortController();
  {
    await using gateway = gatewayTo(service);
    service.misbehave("create thread", answer(503));
    const threadId = await createThread(gateway, { signal });
    using deadline = new Deadline(60_000, signal);
    for (const options of [{ signal }, deadline]) {
      const turn = (prompt: string) =>
        gateway.runTurn(serviceId(threadId), unchanged(prompt), options);
      service.misbehave("stream", resumable);
      await Array.fromAsync(turn("2 + 2"));
      await assertRejects(() => Array.fromAsync(turn("please fail")));
      const left = turn("hello")[Symbol.asyncIterator]();
      await left.next(); // the run
      await left.next(); // the first event
      assert(getEventListeners(signal, "abort").length > 0);
      await left.return?.();
    }
  }
  assertEquals(requestsOf("stream", service.requests).length, 6);
  assertEquals(getEventListeners(signal, "abort"), []);
});
