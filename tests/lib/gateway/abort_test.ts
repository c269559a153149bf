import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import type { Timeouts } from "../../../lib/gateway/timeouts.ts";
import { RemoteGateway } from "../../../lib/gateway.ts";
import { ServiceError } from "../../../lib/gateway/service_error.ts";
import { QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  events,
  hang,
} from "../../support/service/behaviours.ts";
import { GatedStream } from "../../support/service/gated_stream.ts";
import type {
  Ending,
  Operation,
} from "../../support/service/recorded_request.ts";
import { ReferenceService, TEST_KEY } from "../../support/service/service.ts";
import { complete, progress } from "../../support/service/stream_events.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

function gatewayTo(
  service: { readonly url: string },
  timeouts = QUICK_TIMEOUTS,
): RemoteGateway {
  return new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    timeouts,
  });
}

/** Retry pauses that are longer than the test. */
const NO_HURRY: Timeouts = {
  ...QUICK_TIMEOUTS,
  retry: [60_000, 60_000, 60_000],
  reconnect: [60_000],
  retryAfter: 60_000,
};

/**
 * Lets the client reach its next step, which cannot be observed. If the time is
 * too short, the test checks less but does not fail.
 */
function nextTasks(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

interface Phase {
  readonly when: string;
  readonly operation: Operation;
  readonly behaviour: Behaviour;
  /** The abort waits until the client has the status. */
  readonly answered?: boolean;
  /** How the answer ends for the service. */
  readonly ended: Ending;
}

const PHASES: readonly Phase[] = [
  {
    when: "before an answer",
    operation: "create run",
    behaviour: hang(),
    ended: "dropped",
  },
  {
    when: "in the middle of a JSON answer",
    operation: "create run",
    behaviour: body(['{"run_id":'], { end: "hang" }),
    answered: true,
    ended: "dropped",
  },
  {
    when: "in the middle of an error's body",
    operation: "create run",
    behaviour: body(["No"], { status: 500, end: "hang" }),
    ended: "dropped",
  },
  {
    when: "before a request is repeated",
    operation: "create run",
    behaviour: answer(429),
    answered: true,
    ended: "complete",
  },
  {
    when: "before the headers of the stream",
    operation: "stream",
    behaviour: hang(),
    ended: "dropped",
  },
  {
    when: "before the first byte of the stream",
    operation: "stream",
    behaviour: body([], { end: "hang" }),
    answered: true,
    ended: "dropped",
  },
];

for (const { when, operation, behaviour, answered, ended } of PHASES) {
  Deno.test(`runTurn() rejects with the signal's reason when it is aborted ${when}`, async () => {
    await using service = ReferenceService.start();
    const status = Promise.withResolvers<void>();
    await using gateway = new RemoteGateway({
      baseUrl: service.url,
      apiKey: TEST_KEY,
      timeouts: NO_HURRY,
      onExchange: (exchange) => {
        if (exchange.operation.startsWith(operation)) status.resolve();
      },
    });
    const threadId = await gateway.createThread();
    service.misbehave(operation, behaviour);
    const controller = new AbortController();
    const reason = new Error("Enough");

    const { signal } = controller;
    const turn = gateway.runTurn(threadId, "hello", { signal }).next();
    const request = await service.waitFor(operation);
    if (answered) await status.promise;
    await nextTasks();
    controller.abort(reason);

    assertStrictEquals(await assertRejects(() => turn), reason);
    assertEquals(await request.ended, ended);
    assertEquals(service.requests.at(-1), request);
  });
}

Deno.test("createThread() rejects with the signal's reason", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("create thread", hang());
  const controller = new AbortController();
  const reason = new Error("Enough");

  const pending = gateway.createThread({ signal: controller.signal });
  const request = await service.waitFor("create thread");
  controller.abort(reason);

  assertStrictEquals(await assertRejects(() => pending), reason);
  assertEquals(await request.ended, "dropped");
});

Deno.test("a signal that is aborted already keeps every request back", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const reason = new Error("Enough");
  const signal = AbortSignal.abort(reason);
  const creation = await assertRejects(() => gateway.createThread({ signal }));
  const turn = gateway.runTurn("a", "hello", { signal });
  assertStrictEquals(creation, reason);
  assertStrictEquals(await assertRejects(() => turn.next()), reason);
  assertEquals(service.requests, []);
});

Deno.test("an abort while an event is awaited drops the stream", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.progress("plan", "started");
  const controller = new AbortController();
  const reason = new Error("Enough");

  const threadId = await gateway.createThread();
  const { signal } = controller;
  const turn = gateway.runTurn(threadId, "hello", { signal });
  await turn.next();
  const pending = turn.next();
  controller.abort(reason);

  assertStrictEquals(await assertRejects(() => pending), reason);
  await gate.dropped;
});

Deno.test("an abort drops a stream that has outlived a garbage collection", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.progress("plan", "started");
  const controller = new AbortController();
  const reason = new Error("Enough");

  const threadId = await gateway.createThread();
  const { signal } = controller;
  const turn = gateway.runTurn(threadId, "hello", { signal });
  await turn.next();
  const pending = turn.next();
  for (let i = 0; i < 3; i++) {
    await nextTasks(); // A weak reference lasts until the task ends.
    collectGarbage();
  }
  controller.abort(reason);

  assertStrictEquals(await assertRejects(() => pending), reason);
  await gate.dropped;
});

Deno.test("nothing is delivered after an abort, not even what has arrived", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.progress("plan", "started");
  const controller = new AbortController();
  const reason = new Error("Enough");

  const threadId = await gateway.createThread();
  const { signal } = controller;
  const turn = gateway.runTurn(threadId, "hello", { signal });
  await turn.next();
  gate.complete("Done.");
  const { ended } = await gate.opened;
  assertEquals(await ended, "complete");
  await nextTasks();
  controller.abort(reason);

  assertStrictEquals(await assertRejects(() => turn.next()), reason);
});

Deno.test("an abort before a stream is resumed ends the turn", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service, NO_HURRY);
  service.misbehave("stream", events([progress("a", "b")], { firstId: 1 }));
  const controller = new AbortController();
  const reason = new Error("Enough");

  const threadId = await gateway.createThread();
  const { signal } = controller;
  const turn = gateway.runTurn(threadId, "hello", { signal });
  await turn.next();
  const pending = turn.next();
  await service.requests.at(-1)?.ended;
  await nextTasks();
  controller.abort(reason);

  assertStrictEquals(await assertRejects(() => pending), reason);
  assertEquals(service.requests.length, 3);
});

Deno.test("an abort after complete drops the stream and keeps the reply", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.send(complete("Done."));
  const controller = new AbortController();

  const threadId = await gateway.createThread();
  const { signal } = controller;
  const turn = gateway.runTurn(threadId, "hello", { signal });
  const { value } = await turn.next();
  controller.abort();

  assertEquals(value, [{ event: "complete", reply: "Done." }]);
  assertEquals((await turn.next()).done, true);
  await gate.dropped;
});

Deno.test("calls leave no listener on a signal that outlives them", async () => {
  await using service = ReferenceService.start({ ids: true });
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  let added = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (
    type: string,
    listener: EventListenerOrEventListenerObject,
  ) => {
    added++;
    listeners.add(listener);
    addEventListener.call(signal, type, listener);
  };
  signal.removeEventListener = (
    type: string,
    listener: EventListenerOrEventListenerObject,
  ) => {
    listeners.delete(listener);
    removeEventListener.call(signal, type, listener);
  };
  {
    await using gateway = gatewayTo(service);
    const turn = (prompt: string) =>
      gateway.runTurn(threadId, prompt, { signal });
    service.misbehave("create thread", answer(503));
    const threadId = await gateway.createThread({ signal });
    await Array.fromAsync(turn("hello"));
    service.misbehave("stream", events([progress("a", "b")], { firstId: 1 }));
    await Array.fromAsync(turn("2 + 2")); // resumed
    await assertRejects(
      () => Array.fromAsync(turn("please fail")),
      ServiceError,
    );
    const left = turn("hello");
    await left.next();
    await left.return(undefined);
  }
  assert(added > 10, `${added} listeners were added`);
  assertEquals(listeners.size, 0);
});
