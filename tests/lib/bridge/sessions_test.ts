import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  createBridge,
  createSessions,
  notification,
  prompt,
  request,
} from "../../support/bridge_ends.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

for (const method of ["session/new", "session/resume"]) {
  Deno.test(`${method} before initialize is an invalid request, and creates no thread (interface 3)`, async () => {
    const { bridge, peer, gateway } = createBridge();

    bridge.receive(request(1, method, { sessionId: "thread-1" }));
    bridge.receive(notification("initialize"));
    bridge.receive(request(2, method, { sessionId: "thread-1" }));
    await bridge.idle();

    const error = {
      code: -32600,
      message: `Invalid request: initialize has to come before ${method}`,
    };
    assertEquals(peer.sent, [{ id: 1, error }, { id: 2, error }]);
    assertEquals(gateway.threads, 0);
  });
}

Deno.test("session/new right after initialize needs no waiting (interface 3)", async () => {
  const { first, gateway } = await createSessions(1);

  assertEquals(first, "thread-1");
  assertEquals(gateway.threads, 1);
});

const THREAD_IDS: readonly (readonly [threadId: string, isUsed: boolean])[] = [
  ["t", true],
  ["!/%~..", true],
  ["x".repeat(200), true],
  ["x".repeat(201), false],
  ["two words", false],
  ["line\n", false],
  ["\x7f", false],
  ["ü", false],
];
for (const [threadId, isUsed] of THREAD_IDS) {
  Deno.test(`a session on the thread ${JSON.stringify(threadId.slice(0, 9))} of ${threadId.length} characters is called ${isUsed ? "so" : "by a UUID"}`, async () => {
    const { bridge, gateway, peer } = await createSessions(0);
    gateway.creating = () => Promise.resolve(threadId);

    bridge.receive(request(1, "session/new"));
    await peer.count(1);
    const [created] = peer.sent;
    assert(created !== undefined && "result" in created);
    const { sessionId } = created.result as { readonly sessionId: string };
    bridge.receive(prompt(2, sessionId, "hello"));

    if (isUsed) assertEquals(sessionId, threadId);
    else assertMatch(sessionId, UUID);
    assertEquals(gateway.run.threadId, threadId);
    assertEquals(gateway.run.options.sessionId, sessionId);
    gateway.run.complete("Hello!");
    await bridge.idle();
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

  const [second, , third] = peer.sent.map((message) =>
    "result" in message
      ? (message.result as { readonly sessionId: string }).sessionId
      : ""
  );
  assertMatch(second ?? "", UUID);
  assertEquals(third, first);
});

for (const sessionId of ["thread-1", "ü 日本", "x".repeat(1024), "..."]) {
  Deno.test(`session/resume opens ${JSON.stringify(sessionId.slice(0, 9))} on its thread, and asks nothing of the service`, async () => {
    const { bridge, gateway, peer } = await createSessions(0);

    bridge.receive(request(1, "session/resume", {
      sessionId,
      cwd: "/",
      mcpServers: [],
    }));
    bridge.receive(prompt(2, sessionId, "hello"));
    assertEquals(gateway.run.threadId, sessionId);
    gateway.run.complete("Hello!");
    await bridge.idle();

    assertEquals(gateway.threads, 0);
    assertEquals(peer.sent[0], { id: 1, result: {} });
    assertEquals(peer.sent.at(-1), {
      id: 2,
      result: { stopReason: "end_turn" },
    });
  });
}

for (const sessionId of ["", ".", "..", "\ud800", "x".repeat(1025)]) {
  Deno.test(`session/resume refuses ${JSON.stringify(sessionId.slice(0, 9))}, which is not allowed in a path`, async () => {
    const { bridge, peer } = await createSessions(0);

    bridge.receive(request(1, "session/resume", { sessionId }));
    await bridge.idle();
    bridge.receive(prompt(2, sessionId, "hello"));
    await bridge.idle();

    assertEquals(peer.sent[0], {
      id: 1,
      error: {
        code: -32602,
        message: "Invalid params: sessionId cannot be the id of a chat",
      },
    });
    const [, refused] = peer.sent;
    assert(refused !== undefined && "error" in refused);
    assertEquals(refused.error.code, -32002);
  });
}

Deno.test("session/resume leaves a session that is open as it is", async () => {
  const { bridge, gateway, peer } = await createSessions(0);
  gateway.creating = () => Promise.resolve("two words");
  bridge.receive(request(1, "session/new"));
  await peer.count(1);
  const [created] = peer.sent;
  assert(created !== undefined && "result" in created);
  const { sessionId } = created.result as { readonly sessionId: string };
  bridge.receive(prompt(2, sessionId, "one"));

  bridge.receive(request(3, "session/resume", { sessionId }));
  await peer.count(2);
  gateway.run.complete("One.");
  await bridge.idle();
  bridge.receive(prompt(4, sessionId, "two"));

  assertEquals(peer.sent[1], { id: 3, result: {} });
  assertEquals(
    gateway.runs.map(({ threadId, prompt }) => [threadId, prompt]),
    [["two words", "one"], ["two words", "two"]],
  );
});

Deno.test("session/resume opens a session that was closed, and its prompt waits for the one that is dropped", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(request(2, "session/close", { sessionId: first }));
  bridge.receive(request(3, "session/resume", { sessionId: first }));
  bridge.receive(prompt(4, first, "two"));
  await peer.count(3);
  while (gateway.runs.length < 2) await undefined;
  gateway.run.complete("Two.");
  await bridge.idle();

  assertEquals(
    peer.sent.map((message) => "id" in message ? message.id : "update"),
    [3, 1, 2, "update", 4],
  );
  assertEquals(gateway.runs.map(({ prompt }) => prompt), ["one", "two"]);
});
