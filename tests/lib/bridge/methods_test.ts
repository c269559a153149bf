import { assertEquals, assertNotEquals } from "@std/assert";
import { INITIALIZE_RESULT } from "../../../lib/bridge/acp.ts";
import {
  createBridge,
  createSessions,
  prompt,
  request,
  textOf,
} from "../../support/bridge_ends.ts";

for (
  const params of [{ protocolVersion: 1 }, { protocolVersion: 2 }, undefined]
) {
  Deno.test(`initialize with params ${JSON.stringify(params)} answers with version 1 (interface 4.2)`, async () => {
    const { bridge, peer } = createBridge();

    bridge.receive(request(1, "initialize", params));
    bridge.receive(request(2, "initialize", params));
    await bridge.idle();

    assertEquals(INITIALIZE_RESULT.protocolVersion, 1);
    assertEquals(peer.sent, [
      { id: 1, result: INITIALIZE_RESULT },
      { id: 2, result: INITIALIZE_RESULT },
    ]);
  });
}

Deno.test("agents/list answers before initialize (interface 4.2)", async () => {
  const { bridge, peer } = createBridge();

  bridge.receive(request("a", "agents/list"));
  await bridge.idle();

  assertEquals(peer.sent, [{
    id: "a",
    result: {
      agents: [{
        id: "the-brain",
        name: "the-brain",
        title: "The Brain",
        description: "The remote agent that this client sends every prompt to",
      }],
    },
  }]);
});

Deno.test("each session has a thread of its own (interface 2, 1.3)", async () => {
  const { bridge, gateway, first, second } = await createSessions(2);

  bridge.receive(prompt(1, second, "two"));
  bridge.receive(prompt(2, first, "one"));

  assertNotEquals(first, second);
  assertEquals(
    gateway.runs.map(({ threadId, prompt }) => [threadId, prompt]),
    [["thread-2", "two"], ["thread-1", "one"]],
  );
});

Deno.test("a run's progress and reply are updates, in order, before the prompt's response (interface 4.2, 6)", async () => {
  const { bridge, gateway, peer, first: sessionId } = await createSessions(1);

  bridge.receive(prompt(7, sessionId, "hello"));
  gateway.run.progress("plan", "started");
  gateway.run.progress("", "");
  gateway.run.complete("Hello!");
  await bridge.idle();

  const thought = (text: string, _meta: unknown) => ({
    method: "session/update",
    params: {
      sessionId,
      update: {
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text },
        _meta,
      },
    },
  });
  assertEquals(peer.sent, [
    thought("plan: started\n", { node: "plan", status: "started" }),
    thought(": \n", { node: "", status: "" }),
    {
      method: "session/update",
      params: {
        sessionId,
        update: {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: "Hello!" },
        },
      },
    },
    { id: 7, result: { stopReason: "end_turn" } },
  ]);
});

Deno.test("two sessions run at once, and their updates interleave", async () => {
  const { bridge, gateway, peer, first, second } = await createSessions(2);
  bridge.receive(prompt(1, first, "one"));
  bridge.receive(prompt(2, second, "two"));
  const [one, two] = gateway.runs;

  one?.progress("a", "1");
  await peer.count(1);
  two?.progress("b", "1");
  await peer.count(2);
  one?.progress("a", "2");
  await peer.count(3);
  two?.complete("Two.");
  await peer.count(5);
  one?.complete("One.");
  await bridge.idle();

  assertEquals(
    peer.sent.map((message) => "id" in message ? message.id : textOf(message)),
    ["a: 1\n", "b: 1\n", "a: 2\n", "Two.", 2, "One.", 1],
  );
});

Deno.test("a second prompt while one runs in the session is an invalid request", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);

  bridge.receive(prompt(1, first, "one"));
  bridge.receive(prompt(2, first, "two"));
  await peer.count(1);
  gateway.run.complete("One.");
  await bridge.idle();
  bridge.receive(prompt(3, first, "three"));

  assertEquals(peer.sent.at(0), {
    id: 2,
    error: {
      code: -32600,
      message:
        "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
    },
  });
  assertEquals(peer.sent.at(-1), { id: 1, result: { stopReason: "end_turn" } });
  assertEquals(gateway.runs.map(({ prompt }) => prompt), ["one", "three"]);
});

Deno.test("a session/new that hangs delays nothing", async () => {
  const { bridge, gateway, peer, first } = await createSessions(1);
  const thread = Promise.withResolvers<string>();
  gateway.creating = () => thread.promise;

  bridge.receive(request(1, "session/new"));
  bridge.receive(prompt(2, first, "hello"));
  bridge.receive(request(3, "agents/list"));
  await peer.count(1);
  gateway.run.complete("Hello!");
  await peer.count(3);
  thread.resolve("thread-9");
  await bridge.idle();

  const ids = peer.sent.map((message) => "id" in message ? message.id : "-");
  assertEquals(ids, [3, "-", 2, 1]);
});

Deno.test("the trace context of a prompt goes along with its run, and with no other", async () => {
  const { bridge, gateway, first } = await createSessions(1);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  bridge.receive(request(1, "session/prompt", {
    sessionId: first,
    prompt: "one",
    _meta: { traceparent, tracestate: "a=1", other: "x" },
  }));
  gateway.run.complete("One.");
  await bridge.idle();
  bridge.receive(prompt(2, first, "two"));

  assertEquals(gateway.runs.map(({ options }) => options.headers), [
    { traceparent, tracestate: "a=1" },
    {},
  ]);
});
