import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
} from "../../../lib/bridge/acp.ts";
import { type RequestId, RpcError } from "../../../lib/bridge/json_rpc.ts";
import { Bridge } from "../../../lib/bridge/methods.ts";
import { ServiceError } from "../../../lib/gateway.ts";
import {
  createBridge,
  createSessions,
  FakeGateway,
  FakePeer,
  notification,
  prompt,
  request,
  sessionIdIn,
} from "../../support/bridge_ends.ts";

const CANCELLED = { stopReason: "cancelled" };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

Deno.test("initialize answers the same for every version and again, and agents/list needs none (interface 4.2)", async () => {
  const { bridge, peer } = createBridge();

  bridge.receive(request("a", "agents/list"));
  bridge.receive(request(1, "initialize", { protocolVersion: 1 }));
  bridge.receive(request(2, "initialize", { protocolVersion: 2 }));
  bridge.receive(request(3, "initialize"));
  await bridge.idle();

  assertEquals(peer.sent, [
    { id: "a", result: AGENTS_LIST_RESULT },
    ...[1, 2, 3].map((id) => ({ id, result: INITIALIZE_RESULT })),
  ]);
});

Deno.test("session/new and session/resume before initialize are invalid requests (interface 3)", async () => {
  const { bridge, peer, gateway } = createBridge();

  bridge.receive(notification("initialize"));
  for (const id of ["session/new", "session/resume"]) {
    bridge.receive(request(id, id, { sessionId: "thread-1" }));
  }
  await bridge.idle();

  const why = "-32600 Invalid request: initialize has to come before";
  assertEquals(
    peer.errors,
    new Map([
      ["session/new", `${why} session/new`],
      ["session/resume", `${why} session/resume`],
    ]),
  );
  assertEquals([peer.sent.length, gateway.threads], [2, 0]);
});

const THREAD_IDS: readonly (readonly [threadId: string, isUsed: boolean])[] = [
  ...[["t", true], ["!/%~..", true], ["x".repeat(200), true]] as const,
  ...[["x".repeat(201), false], ["two words", false]] as const,
  ...[["line\n", false], ["\x7f", false], ["ü", false]] as const,
];
for (const [threadId, isUsed] of THREAD_IDS) {
  Deno.test(`a session on the thread ${JSON.stringify(threadId.slice(0, 9))} of ${threadId.length} characters is called ${isUsed ? "so" : "by a UUID"}`, async () => {
    const { bridge, gateway, peer } = await createSessions(0);
    gateway.creating = () => Promise.resolve(threadId);

    bridge.receive(request(1, "session/new"));
    await bridge.idle();
    const sessionId = sessionIdIn(peer.sent[0]);
    bridge.receive(request(2, "session/resume", { sessionId }));
    bridge.receive(prompt(3, sessionId, "hello"));

    if (isUsed) assertEquals(sessionId, threadId);
    else assertMatch(sessionId, UUID);
    assertEquals(gateway.run.threadId, threadId);
    assertEquals(gateway.run.options.sessionId, sessionId);
  });
}

Deno.test("a session on a thread that an open session has is called by a UUID", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  gateway.creating = () => Promise.resolve(first);

  bridge.receive(request(1, "session/new"));
  await peer.count(1);
  bridge.receive(request(2, "session/close", { sessionId: first }));
  await bridge.idle();
  bridge.receive(request(3, "session/new"));
  await bridge.idle();

  assertMatch(sessionIdIn(peer.sent[0]), UUID);
  assertEquals(sessionIdIn(peer.sent[2]), first);
});

Deno.test("session/resume opens an id on its thread, and asks nothing of the service", async () => {
  for (const sessionId of ["thread-1", "ü 日本", "x".repeat(1024), "..."]) {
    const { bridge, gateway, peer } = await createSessions(0);

    bridge.receive(request(1, "session/resume", { sessionId }));
    bridge.receive(prompt(2, sessionId, "hello"));
    await peer.count(1);

    assertEquals(peer.sent, [{ id: 1, result: {} }]);
    assertEquals(gateway.run.threadId, sessionId);
    assertEquals(gateway.threads, 0);
  }
});

Deno.test("session/resume refuses an id that is not allowed in a path", async () => {
  const { bridge, peer } = await createSessions(0);
  const ids = ["", ".", "..", "\ud800", "x".repeat(1025)];

  for (const id of ids) {
    bridge.receive(request(id, "session/resume", { sessionId: id }));
  }
  await bridge.idle();
  bridge.receive(request(1, "session/close", { sessionId: "." }));
  await bridge.idle();

  const why = "-32602 Invalid params: sessionId cannot be the id of a chat";
  assertEquals(
    peer.errors,
    new Map<RequestId, string>([
      ...ids.map((id) => [id, why] as const),
      [1, '-32002 Session not found: "."'],
    ]),
  );
});

Deno.test("session/resume leaves a session that is open as it is, with its prompt", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(request(2, "session/resume", { sessionId: first }));
  bridge.receive(prompt(3, first, "refused"));
  gateway.run.complete("One.");
  await bridge.idle();

  assertEquals(peer.order, [2, 3, "One.", 1]);
  assertEquals(gateway.runs.length, 1);
});

Deno.test("session/close cancels what runs, answers after its prompt, and forgets the session at once", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);
  bridge.receive(prompt(1, first, "hello"));

  bridge.receive(request(2, "session/close", { sessionId: first }));
  bridge.receive(request(3, "session/close", { sessionId: first }));
  bridge.receive(prompt(4, first, "hello"));
  bridge.receive(notification("session/cancel", { sessionId: first }));
  bridge.receive(prompt(5, second, "hello"));
  gateway.run.complete("Hello!");
  await bridge.idle();

  assertEquals(
    peer.sent.filter((message) => "id" in message)
      .map((answer) => "error" in answer ? answer.error.code : answer),
    [
      -32002,
      -32002,
      { id: 1, result: CANCELLED },
      { id: 2, result: {} },
      { id: 5, result: { stopReason: "end_turn" } },
    ],
  );
});

Deno.test("session/resume opens a session that was closed", async () => {
  const { bridge, gateway, first: sessionId } = await createSessions(1);

  bridge.receive(request(1, "session/close", { sessionId }));
  bridge.receive(request(2, "session/resume", { sessionId }));
  bridge.receive(prompt(3, sessionId, "hello"));

  assertEquals(gateway.run.threadId, sessionId);
});

Deno.test("session/cancel drops the run of its session, as a notification and as a request", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(prompt(2, second, "two"));

  bridge.receive(notification("session/cancel", { sessionId: first }));
  bridge.receive(request(3, "session/cancel", { sessionId: "unknown" }));
  await peer.count(2);
  bridge.receive(request(4, "session/cancel", { sessionId: second }));
  await bridge.idle();

  assertEquals(peer.sent, [
    { id: 3, result: {} },
    { id: 1, result: CANCELLED },
    { id: 4, result: {} },
    { id: 2, result: CANCELLED },
  ]);
  assert(gateway.run.options.signal?.aborted);
});

Deno.test("$/cancel_request drops the run of its prompt, and nothing without an id", async () => {
  const { bridge, peer, first, second } = await createSessions(2);
  bridge.receive(prompt(null, first, "one"));
  bridge.receive(prompt(2, second, "two"));

  bridge.receive(notification("$/cancel_request", {}));
  bridge.receive(notification("$/cancel_request", { requestId: 2 }));
  await peer.count(1);
  bridge.receive(notification("$/cancel_request", { requestId: null }));
  await bridge.idle();

  assertEquals(peer.sent, [
    { id: 2, result: CANCELLED },
    { id: null, result: CANCELLED },
  ]);
});

Deno.test("notifications are never answered, whatever is wrong with them", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);

  for (const params of [undefined, null, [], "x", {}, { sessionId: 1 }]) {
    bridge.receive(notification("session/cancel", params));
    bridge.receive(notification("$/cancel_request", params));
  }
  bridge.receive(notification("nope"));
  bridge.receive(notification("session/new"));
  bridge.receive(notification("session/close", { sessionId: first }));
  bridge.receive(
    notification("session/prompt", { sessionId: first, prompt: "hello" }),
  );
  await bridge.idle();

  assertEquals(peer.sent, []);
  assertEquals([gateway.threads, gateway.runs.length], [1, 0]);
});

const UNKNOWN_METHODS = [
  ...["", "nope", "Initialize", "toString", "__proto__", "_ext/method"],
  ...["authenticate", "session/load", "session/update", "$/cancel_request"],
];
Deno.test("a request for an unknown method answers -32601 (interface 7)", async () => {
  const { bridge, peer } = createBridge();

  for (const id of UNKNOWN_METHODS) bridge.receive(request(id, id, {}));
  await bridge.idle();

  const why = (id: string) => `-32601 Method not found: "${id}"`;
  const errors = new Map(UNKNOWN_METHODS.map((id) => [id, why(id)]));
  assertEquals(peer.errors, errors);
});

Deno.test("a request that names an unknown session answers -32002, and one that names none -32602", async () => {
  const { bridge, gateway, peer } = await createSessions(1);
  const methods = ["session/prompt", "session/close", "session/cancel"];

  for (const id of methods.slice(0, 2)) {
    const params = { sessionId: "other", prompt: "hello" };
    bridge.receive(request(`${id} other`, id, params));
  }
  for (const id of [...methods, "session/resume"]) {
    bridge.receive(request(id, id, { prompt: "hello" }));
  }
  await bridge.idle();

  const unknown = '-32002 Session not found: "other"';
  const none = "-32602 Invalid params: sessionId is not a string";
  assertEquals(
    peer.errors,
    new Map([
      ["session/prompt other", unknown],
      ["session/close other", unknown],
      ...[...methods, "session/resume"].map((id) => [id, none] as const),
    ]),
  );
  assertEquals(gateway.runs, []);
});

Deno.test("a failed request is answered with its error, and the next one works (interface 7)", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  const operation = "create thread";
  const error = new ServiceError({ operation, reason: "no answer" });
  gateway.creating = () => Promise.reject(error);

  bridge.receive(request(1, "session/new"));
  bridge.receive(prompt(2, first, "hello"));
  gateway.run.progress("plan", "started");
  await peer.count(2);
  gateway.run.fail(error);
  await bridge.idle();
  bridge.receive(prompt(3, first, "again"));
  gateway.run.complete("Done.");
  await bridge.idle();

  const failure = {
    code: -32010,
    message: "Cannot start a chat: no answer",
    data: { operation },
  };
  assertEquals(peer.order, [1, "plan: started\n", 2, "Done.", 3]);
  assertEquals(peer.sent[0], { id: 1, error: failure });
  assertEquals(peer.sent[2], { id: 2, error: failure });
});

Deno.test("requests run side by side: one that hangs delays no other", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);
  const thread = Promise.withResolvers<string>();
  gateway.creating = () => thread.promise;

  bridge.receive(request(1, "session/new"));
  bridge.receive(prompt(2, first, "one"));
  bridge.receive(prompt(3, second, "two"));
  bridge.receive(request(4, "agents/list"));
  await peer.count(1);
  const [one, two] = gateway.runs;
  one?.progress("a", "1");
  await peer.count(2);
  two?.progress("b", "1");
  await peer.count(3);
  one?.complete("One.");
  await peer.count(5);
  two?.complete("Two.");
  await peer.count(7);
  thread.resolve("thread-9");
  await bridge.idle();

  assertEquals(peer.order, [4, "a: 1\n", "b: 1\n", "One.", 2, "Two.", 3, 1]);
});

Deno.test("Bridge reports each message, a request after its answer", async () => {
  const reported: unknown[] = [];
  const peer = new FakePeer();
  const bridge = new Bridge({
    gateway: new FakeGateway(),
    peer,
    log: {
      answered({ error, milliseconds, ...answered }) {
        assert(milliseconds >= 0);
        const sent = peer.sent.length;
        reported.push({ ...answered, ...error && { code: error.code }, sent });
      },
      asked() {},
    },
  });
  const [cancel, close] = ["session/cancel", "session/close"] as const;
  const params = { sessionId: "s" };

  bridge.receive(request(1, cancel, params));
  await bridge.idle();
  bridge.receive(request(2, close, params));
  bridge.receive(notification(cancel, params));
  const error = new RpcError(-32700, "Parse error");
  bridge.receive({ kind: "invalid", id: null, error });
  await bridge.idle();

  assertEquals(reported, [
    { id: 1, method: cancel, ...params, result: {}, sent: 1 },
    { method: cancel, ...params, sent: 1 },
    { id: null, code: -32700, sent: 2 },
    { id: 2, method: close, ...params, code: -32002, sent: 3 },
  ]);
});
