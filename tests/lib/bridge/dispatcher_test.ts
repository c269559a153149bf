import { assert, assertEquals, assertMatch } from "@std/assert";
import { Sessions } from "../../../lib/bridge/sessions.ts";
import { VERSION } from "../../../lib/version.ts";
import { play } from "../../support/bridge_transcript.ts";
import { isUpdate, MemoryEditor } from "../../support/editor.ts";
import { FakeGateway } from "../../support/fake_gateway.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What arrived, in short: the ids of answers, and the texts of updates. */
function order(editor: MemoryEditor): readonly unknown[] {
  return editor.messages.map((message) =>
    isUpdate(message) ? message.params.update.content.text : message.id
  );
}

/** The code and the message of the error that a request is answered with. */
async function errorOf(
  editor: MemoryEditor,
  method: string,
  params?: unknown,
): Promise<string> {
  const { error } = await editor.request(method, params);
  return `${error?.code} ${error?.message}`;
}

Deno.test("initialize answers the same for every version and again, and agents/list needs none (interface 3, 4.2)", async () => {
  await using editor = new MemoryEditor();

  const [agent, ...others] =
    (await editor.request("agents/list")).result.agents;
  assertEquals([agent.id, agent.name, others], ["the-brain", "the-brain", []]);
  assert(agent.title && agent.description);
  for (const params of [{ protocolVersion: 1 }, { protocolVersion: 2 }, {}]) {
    const { result } = await editor.request("initialize", params);
    assertEquals(result.protocolVersion, 1);
    const { serverInfo, capabilities, agentInfo, agentCapabilities } = result;
    assertEquals(result.authMethods, []);
    const name = "agent-gateway";
    assertEquals(serverInfo, { name, version: VERSION });
    const title = "Agent Gateway";
    assertEquals(agentInfo, { name, title, version: VERSION });
    assertEquals(capabilities, { agents: true });
    assertEquals(agentCapabilities, {
      loadSession: true,
      promptCapabilities: { embeddedContext: true },
      sessionCapabilities: { close: {}, resume: {} },
    });
  }
});

Deno.test("a session is opened after initialize alone (interface 3)", async () => {
  await using editor = new MemoryEditor();

  await editor.notify("initialize");
  for (const method of ["session/new", "session/resume", "session/load"]) {
    assertEquals(
      await errorOf(editor, method, { sessionId: "thread-1" }),
      `-32600 Invalid request: call initialize before ${method}`,
    );
  }
  assertEquals(editor.gateway.threads, 0);

  await editor.request("initialize");
  const { result } = await editor.request("session/new");
  assertEquals(result, { sessionId: "thread-1" });
});

const THREAD_IDS: readonly (readonly [threadId: string, isUsed: boolean])[] = [
  ...[["t", true], ["!/%~..", true], ["x".repeat(200), true]] as const,
  ...[["x".repeat(201), false], ["two words", false]] as const,
  ...[["line\n", false], ["\x7f", false], ["ü", false]] as const,
];
Deno.test("a session is called like its thread, or by a UUID if that is no good id or in use", async () => {
  for (const [threadId, isUsed] of THREAD_IDS) {
    await using editor = new MemoryEditor();
    editor.gateway.creating = () => Promise.resolve(threadId);

    const sessionId = await editor.newSession();
    await editor.sendPrompt(sessionId, "hello");
    const run = await editor.gateway.started(1);
    const second = await editor.newSession();
    await editor.request("session/close", { sessionId });
    const third = await editor.newSession();

    if (isUsed) assertEquals([sessionId, third], [threadId, threadId]);
    else assertMatch(sessionId, UUID);
    assertMatch(second, UUID);
    assertEquals(run.threadId, threadId);
    assertEquals(run.options.sessionId, sessionId);
  }
});

Deno.test("session/resume and session/load open an id that is allowed in a path", async () => {
  await using editor = new MemoryEditor();
  await editor.request("initialize");

  for (const method of ["session/resume", "session/load"]) {
    for (const sessionId of ["ü 日本", "x".repeat(1024), "..."]) {
      const { result } = await editor.request(method, { sessionId });
      assertEquals(result, { sessionId });
    }
    for (const sessionId of ["", ".", "..", "\ud800", "x".repeat(1025)]) {
      assertEquals(
        await errorOf(editor, method, { sessionId }),
        "-32602 Invalid params: sessionId cannot be the id of a chat",
      );
    }
  }
  assertEquals(editor.gateway.threads, 0);
});

Deno.test("session/load sends the conversation again: prompts that failed or were cancelled too, no contents of files, no progress", async () => {
  const prompt = JSON.stringify({
    sessionId: "thread-1",
    prompt: [
      { type: "text", text: "one" },
      { type: "resource", resource: { uri: "file:///a", text: "secret" } },
    ],
  });
  const editor = await play(`
    > 1 initialize {"protocolVersion":1}
    < 1 1
    > 2 session/new
    < 2 thread-1
    > 3 session/load thread-1
    < 3 thread-1
    > 4 session/load thread-9
    < thread-9 agent_message_chunk: Earlier messages are not shown here.
    ~ 40
    < 4 thread-9
    > 5 session/prompt ${prompt}
    @ 1 thread-1 one [a](file:///a)\\n\\n<context uri=\\"file:///a\\">\\nsecret\\n</context>
    * 1 plan: started
    < thread-1 agent_thought_chunk: plan: started
    * 1 = One.
    < thread-1 agent_message_chunk: One.
    ~ 40
    < 5 end_turn
    < thread-1 session_info_update: one a
    > 6 session/prompt thread-1 two
    @ 2 thread-1 two
    * 2 ! no
    < 6 -32603 Internal error
    > 7 session/prompt thread-1 three
    @ 3 thread-1 three
    > session/cancel {"sessionId":"thread-1"}
    < 7 cancelled
    > 8 session/prompt thread-1 four
    @ 4 thread-1 four
    > 9 session/close thread-1
    < 8 cancelled
    < 9 {}
    > 10 session/load thread-1
    < thread-1 user_message_chunk: one [a](file:///a)
    < thread-1 agent_message_chunk: One.
    < thread-1 user_message_chunk: two
    < thread-1 user_message_chunk: three
    < thread-1 user_message_chunk: four
    ~ 40
    < 10 thread-1`);
  const ids = (text: string) =>
    editor.messages.map(({ params }) => params?.update)
      .filter((update) => update?.content?.text === text)
      .map(({ messageId }) => messageId);
  const [live, loaded] = ids("One.");
  assertEquals(live, loaded);
  assertEquals(new Set([live, ...ids("two"), ...ids("three")]).size, 3);
});

Deno.test("of the sessions that were closed, 10,000 are remembered", async () => {
  const gateway = new FakeGateway();
  gateway.creating = () => Promise.resolve("thread 1");
  const sessions = new Sessions(gateway);
  const { id } = await sessions.create();
  const close = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await sessions.close(sessions.open(`${count} ${i}`).id);
    }
  };
  await sessions.close(id);

  for (const count of [9_999, 9_998]) {
    await close(count);
    assertEquals(sessions.open(id).threadId, "thread 1");
    await sessions.close(id);
  }
  await close(10_000);
  assertEquals(sessions.open(id).threadId, id);
});

Deno.test("a connection is opened ahead when a session is opened again, and after each reply, but not after a failure", async () => {
  await using editor = new MemoryEditor();
  const { gateway } = editor;
  const sessionId = await editor.newSession();
  assertEquals(gateway.prepared, 0);
  for (const method of ["session/resume", "session/load"]) {
    await editor.request(method, { sessionId });
  }
  assertEquals(gateway.prepared, 2);

  for (const isGood of [true, false]) {
    const id = await editor.sendPrompt(sessionId, "hello");
    const run = await gateway.started(gateway.runs.length + 1);
    if (isGood) run.complete("Hello!");
    else run.fail(new Error("no"));
    await editor.response(id);
  }

  assertEquals(gateway.prepared, 3);
});

Deno.test("$/cancel_request drops the run of its prompt, with any kind of id, and nothing without one", async () => {
  const ids = [-1, "-1", null, 1.5, "", Number.MAX_SAFE_INTEGER];
  await using editor = new MemoryEditor();
  for (const id of ids) {
    const params = { sessionId: await editor.newSession(), prompt: "hello" };
    const method = "session/prompt";
    await editor.sendLine(JSON.stringify({ id, method, params }));
  }
  const start = editor.messages.length;
  await editor.gateway.started(ids.length);

  for (const params of [{}, [], null, { requestId: -2 }]) {
    await editor.notify("$/cancel_request", params);
  }
  await editor.rest();
  assertEquals(editor.messages.slice(start), []);
  for (const id of ids) {
    await editor.notify("$/cancel_request", { requestId: id });
    await editor.rest();
    assertEquals(order(editor).at(-1), id);
    assertEquals((await editor.response(id)).result.stopReason, "cancelled");
  }
});

Deno.test("a notification with wrong params is ignored", async () => {
  await using editor = new MemoryEditor();
  for (const params of [undefined, null, [], "x", {}, { sessionId: 1 }]) {
    await editor.notify("session/cancel", params);
    await editor.notify("$/cancel_request", params);
  }
  await editor.rest();
  assertEquals(editor.messages, []);
});

Deno.test("a request for an unknown method answers -32601 (interface 7)", async () => {
  await using editor = new MemoryEditor();
  for (const method of ["", "Initialize", "toString", "session/list"]) {
    const expected = `-32601 Method not found: "${method}"`;
    assertEquals(await errorOf(editor, method, {}), expected);
  }
});

Deno.test("a prompt in an unknown session answers -32002, and a request that names none -32602", async () => {
  await using editor = new MemoryEditor();
  await editor.newSession();
  const methods = ["close", "prompt", "cancel", "resume", "load"];
  const params = { sessionId: "other", prompt: "hello" };

  assertEquals(
    await errorOf(editor, "session/prompt", params),
    '-32002 Session not found: "other"',
  );
  assertEquals((await editor.request("session/close", params)).result, {});
  for (const method of methods.map((name) => `session/${name}`)) {
    for (const params of [{ prompt: "hello" }, []]) {
      assertEquals(
        await errorOf(editor, method, params),
        "-32602 Invalid params: sessionId is not a string",
      );
    }
  }
  assertEquals(editor.gateway.runs, []);
});
