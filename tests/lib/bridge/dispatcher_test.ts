import { assert, assertEquals, assertMatch } from "@std/assert";
import { Sessions } from "../../../lib/bridge/sessions.ts";
import { VERSION } from "../../../lib/version.ts";
import { isUpdate, MemoryEditor, READS_FILES } from "../../support/editor.ts";
import { FakeGateway } from "../../support/fake_gateway.ts";

const CANCELLED = { stopReason: "cancelled" };
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

/** Loads a session; returns what was sent before the answer, and its ids. */
async function load(editor: MemoryEditor, sessionId: string) {
  const start = editor.messages.length;
  const params = { sessionId, cwd: "/", mcpServers: [] };
  const { result } = await editor.request("session/load", params);
  assertEquals(result, { sessionId });
  const updates = editor.messages.slice(start, -1).filter(isUpdate)
    .map(({ params }) => params);
  assertEquals(editor.messages.length - start, updates.length + 1);
  assert(updates.every((each) => each.sessionId === sessionId));
  return updates.map(({ update: { sessionUpdate, content, messageId } }) => ({
    said: `${sessionUpdate.replace("_message_chunk", "")}: ${content.text}`,
    messageId,
  }));
}

const NOTE = "agent: Earlier messages are not shown here.";

Deno.test("session/load sends the conversation again: prompts that failed or were cancelled too, no contents of files, no progress", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  const { gateway } = editor;
  const prompt = async (text: string, uri?: string) => {
    const uris = uri === undefined ? [] : [uri];
    const id = await editor.sendPrompt(sessionId, text, ...uris);
    if (uri !== undefined) {
      const [question] = await editor.questions(1);
      assert(question);
      await editor.answer(question, { content: "secret" });
    }
    const run = await gateway.started(gateway.runs.length + 1);
    return { run, ended: () => editor.response(id) };
  };
  assertEquals(await load(editor, sessionId), []);
  const [earlier] = await load(editor, "thread-9");
  assertEquals(earlier?.said, NOTE);

  const one = await prompt("one", "file:///a");
  one.run.progress("plan", "started");
  one.run.complete("One.");
  await one.ended();
  const reply = editor.messages.find(({ params }) =>
    params?.update?.content?.text === "One."
  );
  const failed = await prompt("two");
  failed.run.fail(new TypeError("no"));
  await failed.ended();
  const cancelled = await prompt("three");
  await editor.notify("session/cancel", { sessionId });
  await editor.rest();
  cancelled.run.complete("Three.");
  await cancelled.ended();
  await editor.request("session/prompt", { sessionId, prompt: " " });
  const running = await prompt("four");
  await editor.prompt(sessionId, "refused");

  const loaded = await load(editor, sessionId);
  running.run.complete("Four.");
  await running.ended();
  await editor.request("session/close", { sessionId });
  const again = await load(editor, sessionId);

  const said = [
    ...["user: one [f](file:///a)", "agent: One.", "user: two", "user: three"],
    "user: four",
  ];
  assertEquals(loaded.map((each) => each.said), said);
  assertEquals(again.map((each) => each.said), [...said, "agent: Four."]);
  assertEquals(again.slice(0, -1), loaded); // the same ids
  assertEquals(loaded[1]?.messageId, reply?.params.update.messageId);
  assertEquals(new Set(again.map((each) => each.messageId)).size, 6);
});

Deno.test("of the sessions that were closed, 10,000 are remembered", async () => {
  const gateway = new FakeGateway();
  gateway.creating = () => Promise.resolve("thread 1");
  const sessions = new Sessions({ gateway });
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
    assertEquals((await editor.response(id)).result, CANCELLED);
  }
});

Deno.test("a second prompt in a session is refused, and says what to do", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  await editor.sendPrompt(sessionId, "one");
  await editor.gateway.started(1);

  assertEquals(
    await errorOf(editor, "session/prompt", { sessionId, prompt: "two" }),
    "-32600 Invalid request: a prompt is running in this chat; wait for its answer or cancel it",
  );
  assertEquals(editor.gateway.runs.length, 1);
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
