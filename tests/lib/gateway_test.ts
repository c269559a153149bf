import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  RemoteGateway,
  type RunEvent,
  ServiceError,
} from "../../lib/gateway.ts";
import { VERSION } from "../../lib/version.ts";
import { gatewayTo } from "../support/quick_gateway.ts";
import {
  answer,
  type Behaviour,
  events,
  json,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import type { Operation } from "../support/service/recorded_request.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import {
  complete,
  encodeItem,
  progress,
} from "../support/service/stream_events.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

Deno.test("each request carries the key, the client's version and what its operation asks for (interface 4.1, 5.1)", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  const threadId = await gateway.createThread();
  await Array.fromAsync(
    gateway.runTurn(threadId, "hello", { headers: { traceparent } }),
  );

  const shown = service.requests.map(({ operation, headers }) => [
    operation,
    headers.get("x-api-key"),
    headers.get("user-agent"),
    headers.get("accept"),
    headers.get("accept-encoding"),
    headers.get("content-type"),
    headers.get("traceparent"),
  ]);
  const agent = `agent-gateway/${VERSION}`;
  const any = "gzip,br"; // as fetch sends it
  assertEquals(shown, [
    ["create thread", TEST_KEY, agent, "*/*", any, null, null],
    [
      "create run",
      TEST_KEY,
      agent,
      "*/*",
      any,
      "application/json",
      traceparent,
    ],
    [
      "stream",
      TEST_KEY,
      agent,
      "text/event-stream",
      "identity",
      null,
      traceparent,
    ],
  ]);
  assertEquals(service.requests.map(({ body }) => body), [
    "",
    '{"agentName":"the-brain","prompt":"hello","wait":false}',
    "",
  ]);
});

Deno.test("each path begins with the base URL's path", async () => {
  await using service = ReferenceService.start({ prefix: "/api/v1" });
  await using gateway = gatewayTo(service);
  const turn = gateway.runTurn(await gateway.createThread(), "2 + 2");
  assertEquals((await Array.fromAsync(turn)).flat().at(-1), {
    event: "complete",
    reply: "2 + 2 = 4",
  });
  for (const { path } of service.requests) {
    assert(path.startsWith("/api/v1/threads"), path);
  }
});

Deno.test("ids are percent-encoded in paths", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("create thread", json({ thread_id: "a/../b ?#%2e" }));
  service.misbehave("create run", json({ run_id: "ü/.../" }));
  service.misbehave("stream", events([complete("Done.")]));

  const threadId = await gateway.createThread();
  await Array.fromAsync(gateway.runTurn(threadId, "hello"));

  assertEquals(service.requests.map(({ path }) => path), [
    "/threads",
    "/threads/a%2F..%2Fb%20%3F%23%252e/runs",
    "/threads/a%2F..%2Fb%20%3F%23%252e/runs/%C3%BC%2F...%2F/stream",
  ]);
});

const BAD_IDS: readonly (readonly [id: unknown, complaint: string])[] = [
  [undefined, "no"],
  ["", "an empty"],
  [".", "a malformed"],
  ["..", "a malformed"],
  ["\ud800", "a malformed"],
  [null, "a malformed"],
  [1, "a malformed"],
  ["x".repeat(1025), "a malformed"],
  ["ü".repeat(513), "a malformed"],
  [["a"], "a malformed"],
  [{ id: "a" }, "a malformed"],
];

for (const [id, complaint] of BAD_IDS) {
  const name = JSON.stringify(id)?.slice(0, 20) ?? "a missing id";

  Deno.test(`createThread() refuses ${name} (interface 7)`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("create thread", json({ thread_id: id, run_id: "a" }));
    const error = await assertRejects(
      () => gateway.createThread(),
      ServiceError,
    );
    assertEquals(
      error.message,
      `Cannot create a thread: the answer holds ${complaint} thread_id`,
    );
  });

  Deno.test(`runTurn() refuses ${name} for a run`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    const threadId = await gateway.createThread();
    service.misbehave("create run", json({ run_id: id, thread_id: "a" }));
    const error = await assertRejects(
      () => Array.fromAsync(gateway.runTurn(threadId, "hello")),
      ServiceError,
    );
    assertEquals(
      error.message,
      `Cannot start a run: the answer holds ${complaint} run_id; ` +
        "the run may have started, so it is not tried again",
    );
    assertEquals(service.requests.length, 2);
  });
}

const DONE: readonly RunEvent[] = [
  { event: "progress", node: "plan", status: "started" },
  { event: "complete", reply: "Done." },
];

Deno.test("nothing is delivered after complete (interface 4.1)", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave(
    "stream",
    events([
      progress("plan", "started"),
      complete("Done."),
      progress("late", "started"),
      complete("Done again."),
    ]),
  );
  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  assertEquals((await Array.fromAsync(turn)).flat(), DONE);
});

for (const encoding of ["gzip", "deflate"] as const) {
  Deno.test(`a stream is read although the service compresses it by ${encoding}`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    const plain = new Blob([
      encodeItem(progress("plan", "started")).slice(),
      encodeItem(complete("Done.")).slice(),
    ]);
    const packed = await new Response(
      plain.stream().pipeThrough(new CompressionStream(encoding)),
    ).bytes();
    service.misbehave(
      "stream",
      answer(200, packed, { "content-encoding": encoding }),
    );
    const turn = gateway.runTurn(await gateway.createThread(), "hello");
    assertEquals((await Array.fromAsync(turn)).flat(), DONE);
  });
}

for (const type of ["text/html", "Text/HTML; charset=utf-8"]) {
  Deno.test(`a stream that is ${type} is an error`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    service.misbehave("create thread", json({ thread_id: "t" }));
    service.misbehave("create run", json({ run_id: "r" }));
    service.misbehave(
      "stream",
      answer(200, "<title>Sign in</title>", { "content-type": type }),
    );
    const turn = gateway.runTurn(await gateway.createThread(), "hello");
    const { message } = await assertRejects(() => turn.next(), ServiceError);
    assertEquals(
      message,
      'Cannot follow the run: a web page came (status 200, "Sign in"), perhaps the ' +
        "sign-in page of a network or a proxy; the run may still go on at the " +
        "service (thread t, run r)",
    );
    assertEquals(service.requests.length, 3);
  });
}

Deno.test("a stream is read whatever its status in 2xx and its content type", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const headers = { "content-type": "image/png" };
  const items = [progress("plan", "started"), complete("Done.")];
  service.misbehave("stream", events(items, { status: 206, headers }));
  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  assertEquals((await Array.fromAsync(turn)).flat(), DONE);
});

Deno.test("the reply does not wait for the end of the stream", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.send(progress("plan", "started"), complete("Done."));

  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  assertEquals((await Array.fromAsync(turn)).flat(), DONE);

  const { ended } = await gate.opened;
  assertEquals(await Promise.race([ended, "open"]), "open");
  gate.end();
  assertEquals(await ended, "complete");
});

Deno.test("a stream that goes on after complete is dropped", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service, { drain: 1 });
  const endless = events(function* () {
    yield* [progress("plan", "started"), complete("Done.")];
    for (;;) yield progress("late", "started");
  });
  service.misbehave("stream", endless);
  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  assertEquals((await Array.fromAsync(turn)).flat(), DONE);
  assertEquals(await service.requests[2]?.ended, "dropped");
});

Deno.test("a gateway that is disposed of waits until no stream is open", async () => {
  await using service = ReferenceService.start();
  const gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.send(complete("Done."));
  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  await Array.fromAsync(turn);

  const disposal = gateway[Symbol.asyncDispose]().then(() => "disposed");
  const first = await Promise.race([disposal, gate.opened.then(() => "open")]);
  assertEquals(first, "open");
  gate.end();
  assertEquals(await disposal, "disposed");
});

Deno.test("each turn has a connection of its own, for its POST and its GET", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const threadId = await gateway.createThread();
  for (let turn = 0; turn < 3; turn++) {
    await Array.fromAsync(gateway.runTurn(threadId, "hello"));
  }
  const places = service.requests.map(({ connection }) => connection);
  const numbers = places.map((place) => [...new Set(places)].indexOf(place));
  assertEquals(numbers, [0, 1, 1, 2, 2, 3, 3]);
});

Deno.test("each repetition of a POST has a connection of its own", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  service.misbehave("create thread", answer(503), 3);
  await gateway.createThread();
  assertEquals([service.requests.length, service.connections], [4, 4]);
});

Deno.test("the session and the run are named to onExchange(), and the run to onRunStarted()", async () => {
  await using service = ReferenceService.start();
  const told: unknown[] = [];
  await using gateway = new RemoteGateway({
    baseUrl: service.url,
    apiKey: TEST_KEY,
    onExchange: ({ operation, sessionId, runId }) =>
      told.push([operation, sessionId, runId]),
  });
  service.misbehave("create run", json({ run_id: "r" }));
  service.misbehave("stream", events([complete("Done.")]));
  const sessionId = "s";
  const threadId = await gateway.createThread({ sessionId });
  await Array.fromAsync(gateway.runTurn(threadId, "hello", {
    sessionId,
    onRunStarted: (runId) => told.push(runId),
  }));
  assertEquals(told, [
    ["create thread", "s", undefined],
    ["create run", "s", undefined],
    "r",
    ["stream run", "s", "r"],
  ]);
});

const FAILURES: readonly (readonly [string, Operation, Behaviour])[] = [
  ["a refused run", "create run", answer(500)],
  ["a refused stream", "stream", answer(500)],
  [
    "a stream that broke",
    "stream",
    events([progress("a", "b")], {
      end: "break",
    }),
  ],
  ["a stream that ended early", "stream", events([progress("a", "b")])],
];

for (const [what, operation, behaviour] of FAILURES) {
  Deno.test(`a run on the same thread works after ${what}`, async () => {
    await using service = ReferenceService.start();
    await using gateway = gatewayTo(service);
    const threadId = await gateway.createThread();
    service.misbehave(operation, behaviour);
    await assertRejects(
      () => Array.fromAsync(gateway.runTurn(threadId, "1 + 1")),
      ServiceError,
    );
    const turn = await Array.fromAsync(gateway.runTurn(threadId, "2 + 2"));
    assertEquals(turn.flat().at(-1), { event: "complete", reply: "2 + 2 = 4" });
  });
}

Deno.test("runTurn() sends nothing before its first event is asked for", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const turn = gateway.runTurn(await gateway.createThread(), "hello");
  await turn.return(undefined);
  assertEquals(service.requests.length, 1);
});

Deno.test("a turn that is left drops its stream", async () => {
  await using service = ReferenceService.start();
  await using gateway = gatewayTo(service);
  const gate = new GatedStream();
  service.misbehave("stream", gate.behaviour);
  gate.progress("plan", "started");
  for await (
    const events of gateway.runTurn(await gateway.createThread(), "hello")
  ) {
    assertEquals(events, DONE.slice(0, 1));
    break;
  }
  await gate.dropped;
});
