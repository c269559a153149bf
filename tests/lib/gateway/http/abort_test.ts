import { getEventListeners } from "node:events";
import { Deadline } from "../../../../lib/io.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  RemoteGateway,
  ServiceError,
  type TurnEvent,
  type TurnOptions,
} from "../../../../lib/gateway.ts";
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
import {
  ReferenceService,
  TEST_KEY,
} from "../../../support/service/service.ts";
import {
  createThread,
  gatewayTo,
  QUICK_TIMEOUTS,
  requestsOf,
  startService,
} from "../../../support/turns.ts";
import { serviceId } from "../../../support/texts.ts";
import { unchanged } from "../../../../lib/text.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const REASON = new Error("Enough");

/** The events of a turn, for a test that takes them one by one. */
function start(
  gateway: RemoteGateway,
  options?: TurnOptions,
): AsyncIterator<TurnEvent> {
  return gateway.runTurn(serviceId("t"), unchanged("hello"), options)
    [Symbol.asyncIterator]();
}

const step = progress("plan", "started");
const part = body(['{"thread_id":'], { end: "hang" });
const empty = body([], { end: "hang" });
const silent = events([step], { end: "hang" });
const resumable = events([step], { firstId: 1 });

/**
 * The answer to an operation, and what is seen before the abort: the request, the
 * client's note of its answer, or an event.
 */
const PHASES: readonly (readonly [Operation, Behaviour, string])[] = [
  ["create thread", hang(), "request"],
  ["create thread", part, "answer"],
  ["create thread", answer(503), "wait"],
  ["create run", hang(), "request"],
  ["create run", part, "answer"],
  ["create run", answer(429), "wait"],
  ["stream", hang(), "request"],
  ["stream", empty, "answer"],
  ["stream", silent, "progress"],
  ["stream", resumable, "wait"],
];

for (const [operation, behaviour, seen] of PHASES) {
  Deno.test(`an abort after the ${seen} of "${operation}" ends the call with the signal's reason`, async () => {
    await using service = startService({ [operation]: [behaviour] });
    const happened = Promise.withResolvers<void>();
    const pauses = { retry: [600_000], reconnect: [600_000] };
    await using gateway = new RemoteGateway({
      baseUrl: service.url,
      apiKey: TEST_KEY,
      timeouts: { ...QUICK_TIMEOUTS, ...pauses },
      log: (line) => {
        const isIt = line.startsWith(operation);
        if (isIt && seen === "answer") happened.resolve();
      },
    });
    const controller = new AbortController();
    const { signal } = controller;
    const call = async () => {
      for await (const event of gateway.createThread({ signal })) {
        if (event.type === seen) happened.resolve();
      }
      for await (
        const event of gateway.runTurn(serviceId("t"), unchanged("hello"), {
          signal,
        })
      ) {
        if (event.type === seen) happened.resolve();
      }
    };

    const rejection = assertRejects(call);
    const request = await service.waitFor(operation);
    if (seen !== "request") await happened.promise;
    await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(REASON);

    assertStrictEquals(await rejection, REASON);
    const ended = seen === "wait" ? "complete" : "dropped";
    assertEquals(await request.ended, ended);
    assertEquals(service.requests.at(-1), request);
  });
}

Deno.test("a signal that is aborted already keeps every request back", async () => {
  await using service = startService();
  await using gateway = gatewayTo(service);
  const signal = AbortSignal.abort(REASON);
  const turn = gateway.runTurn(serviceId("t"), unchanged("hello"), { signal });
  for (const call of [gateway.createThread({ signal }), turn]) {
    assertStrictEquals(
      await assertRejects(() => call[Symbol.asyncIterator]().next()),
      REASON,
    );
  }
  assertEquals(service.requests, []);
});

Deno.test("of an abort and a time limit in the same moment, the first one counts", async () => {
  for (const first of ["abort", "limit"]) {
    using clock = new FakeClock();
    await using service = startService({ "create run": [hang()] });
    await using gateway = gatewayTo(service);
    const controller = new AbortController();
    using deadline = new Deadline(1, controller.signal);
    const turn = start(gateway, deadline);
    const rejection = assertRejects(() => turn.next());
    await service.waitFor("create run");
    if (first === "limit") clock.pass();
    controller.abort(REASON);
    if (first === "abort") clock.pass();
    const error = await rejection;
    const found = error instanceof ServiceError ? "limit" : "abort";
    assertEquals(found, first);
    if (first === "abort") assertStrictEquals(error, REASON);
  }
});

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
