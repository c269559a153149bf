import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
} from "../../../lib/bridge/capabilities.ts";
import { Sessions } from "../../../lib/bridge/sessions.ts";
import { ServiceError } from "../../../lib/gateway.ts";
import { isUpdate, MemoryEditor, READS_FILES } from "../../support/editor.ts";
import { FakeGateway } from "../../support/fake_gateway.ts";

const CANCELLED = { stopReason: "cancelled" };
const END_TURN = { stopReason: "end_turn" };
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

Deno.test("initialize answers the same for every version and again, and agents/list needs none (interface 4.2)", async () => {
  await using editor = new MemoryEditor();

  const list = await editor.request("agents/list");
  assertEquals(list.result, AGENTS_LIST_RESULT);
  for (const params of [{ protocolVersion: 1 }, { protocolVersion: 2 }, {}]) {
    const { result } = await editor.request("initialize", params);
    assertEquals(result, INITIALIZE_RESULT);
  }
});

Deno.test("a session is opened after initialize alone (interface 3)", async () => {
  await using editor = new MemoryEditor();

  await editor.notify("initialize");
  for (const method of ["session/new", "session/resume", "session/load"]) {
    assertEquals(
      await errorOf(editor, method, { sessionId: "thread-1" }),
      `-32600 Invalid request: initialize has to come before ${method}`,
    );
  }
  assertEquals(editor.gateway.threads, 0);
});

const THREAD_IDS: readonly (readonly [threadId: string, isUsed: boolean])[] = [
  ...[["t", true], ["!/%~..", true], ["x".repeat(200), true]] as const,
  ...[["x".repeat(201), false], ["two words", false]] as const,
  ...[["line\n", false], ["\x7f", false], ["ü", false]] as const,
];
for (const [threadId, isUsed] of THREAD_IDS) {
  Deno.test(`a session on the thread ${JSON.stringify(threadId.slice(0, 9))} of ${threadId.length} characters is called ${isUsed ? "so" : "by a UUID"}`, async () => {
    await using editor = new MemoryEditor();
    editor.gateway.creating = () => Promise.resolve(threadId);

    const sessionId = await editor.newSession();
    await editor.request("session/resume", { sessionId });
    await editor.sendPrompt(sessionId, "hello");
    const run = await editor.gateway.started(1);

    if (isUsed) assertEquals(sessionId, threadId);
    else assertMatch(sessionId, UUID);
    assertEquals(run.threadId, threadId);
    assertEquals(run.options.sessionId, sessionId);
  });
}

Deno.test("a session on a thread that an open session has is called by a UUID", async () => {
  await using editor = new MemoryEditor();
  editor.gateway.creating = () => Promise.resolve("thread-1");

  assertEquals(await editor.newSession(), "thread-1");
  assertMatch(await editor.newSession(), UUID);
  await editor.request("session/close", { sessionId: "thread-1" });
  assertEquals(await editor.newSession(), "thread-1");
});

Deno.test("session/resume opens an id on its thread, and asks nothing of the service", async () => {
  for (const sessionId of ["thread-1", "ü 日本", "x".repeat(1024), "..."]) {
    await using editor = new MemoryEditor();
    await editor.request("initialize");

    const { result } = await editor.request("session/resume", { sessionId });
    await editor.sendPrompt(sessionId, "hello");

    assertEquals(result, {});
    assertEquals((await editor.gateway.started(1)).threadId, sessionId);
    assertEquals(editor.gateway.threads, 0);
  }
});

Deno.test("session/resume and session/load refuse an id that is not allowed in a path", async () => {
  await using editor = new MemoryEditor();
  await editor.request("initialize");

  for (const sessionId of ["", ".", "..", "\ud800", "x".repeat(1025)]) {
    for (const method of ["session/resume", "session/load"]) {
      assertEquals(
        await errorOf(editor, method, { sessionId }),
        "-32602 Invalid params: sessionId cannot be the id of a chat",
      );
    }
    assertMatch(
      await errorOf(editor, "session/prompt", { sessionId, prompt: "hello" }),
      /^-32002 /,
    );
  }
});

Deno.test("session/resume leaves a session that is open as it is, with its prompt", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const first = await editor.sendPrompt(sessionId, "one");
  const { result } = await editor.request("session/resume", { sessionId });
  const refused = await editor.prompt(sessionId, "refused");
  editor.gateway.run.complete("One.");

  assertEquals(result, {});
  assertEquals(
    refused.error?.message,
    "Invalid request: a prompt is running in this session; wait for its answer or cancel it",
  );
  assertEquals(refused.error?.code, -32600);
  assertEquals((await editor.response(first)).result, END_TURN);
  assertEquals(editor.gateway.runs.length, 1);
});

Deno.test("session/close cancels what runs, answers after its prompt, and forgets the session at once", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const other = await editor.newSession();
  const prompt = await editor.sendPrompt(sessionId, "hello");
  const dropped = Promise.withResolvers<void>();
  (await editor.gateway.started(1)).dropping = dropped.promise;

  const close = await editor.send("session/close", { sessionId });
  const late = await editor.sendPrompt(sessionId, "late");
  await editor.sendPrompt(other, "hello");
  await editor.gateway.started(2);
  assertEquals(order(editor).at(-1), late);
  dropped.resolve();
  await editor.response(close);

  assertEquals(order(editor).slice(-3), [late, prompt, close]);
  assertEquals((await editor.response(late)).error?.code, -32002);
  assertEquals((await editor.response(prompt)).result, CANCELLED);
  assertEquals((await editor.response(close)).result, {});
});

Deno.test("session/resume and session/load open a session that was closed, on its thread", async () => {
  for (const method of ["session/resume", "session/load"]) {
    for (const threadId of ["thread-1", "thread 1"]) {
      await using editor = new MemoryEditor();
      editor.gateway.creating = () => Promise.resolve(threadId);
      const sessionId = await editor.newSession();

      await editor.request("session/close", { sessionId });
      const { result } = await editor.request(method, { sessionId });
      await editor.sendPrompt(sessionId, "hello");

      assertEquals(result, {});
      assertEquals((await editor.gateway.started(1)).threadId, threadId);
    }
  }
});

/** Loads a session; returns what was sent before the answer, and its ids. */
async function load(editor: MemoryEditor, sessionId: string) {
  const start = editor.messages.length;
  const params = { sessionId, cwd: "/", mcpServers: [] };
  const { result } = await editor.request("session/load", params);
  assertEquals(result, {});
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

  const one = await prompt("one", "file:///a");
  one.run.progress("plan", "started");
  one.run.complete("One.");
  await one.ended();
  const [reply] = editor.messages.slice(-2);
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
  assert(reply && isUpdate(reply));
  assertEquals(loaded[1]?.messageId, reply.params.update.messageId);
  assertEquals(new Set(again.map((each) => each.messageId)).size, 6);
});

Deno.test("session/load of a session of an earlier process begins with a note", async () => {
  await using editor = new MemoryEditor();
  await editor.request("initialize");

  const first = await load(editor, "thread-9");
  const id = await editor.sendPrompt("thread-9", "hello");
  (await editor.gateway.started(1)).complete("Hello!");
  await editor.response(id);
  const second = await load(editor, "thread-9");

  assertEquals(first.map(({ said }) => said), [NOTE]);
  assertEquals(
    second.map(({ said }) => said),
    [NOTE, "user: hello", "agent: Hello!"],
  );
  assertEquals(editor.gateway.threads, 0);
});

Deno.test("session/load waits for an editor that reads slowly, and what is said meanwhile comes once", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const text = "x".repeat(300_000);
  for (const number of [1, 2]) {
    const id = await editor.sendPrompt(sessionId, `${number}`);
    (await editor.gateway.started(number)).complete(text);
    await editor.response(id);
  }
  const running = await editor.sendPrompt(sessionId, "3");
  const run = await editor.gateway.started(3);
  editor.pause();

  const id = await editor.send("session/load", { sessionId });
  await editor.rest();
  run.complete("Done.");
  await editor.rest();
  editor.resume();
  await editor.response(id);
  await editor.response(running);

  assertEquals(editor.texts(sessionId, "user_message_chunk"), ["1", "2", "3"]);
  assertEquals(
    editor.texts(sessionId, "agent_message_chunk").filter((one) =>
      one === "Done."
    ).length,
    1,
  );
});

Deno.test("session/load sends the replies that were sent, at whatever moment their prompts were cancelled", async () => {
  let shown = 0;
  for (let steps = 0; steps < 60; steps++) {
    await using editor = new MemoryEditor();
    const sessionId = await editor.newSession();
    const id = await editor.sendPrompt(sessionId, "hello");
    const run = await editor.gateway.started(1);
    await editor.rest();

    await editor.notify("session/cancel", { sessionId });
    for (let i = 0; i < steps; i++) await undefined;
    run.complete("Hello!");
    await editor.response(id);
    const replies = editor.texts(sessionId, "agent_message_chunk");
    const loaded = await load(editor, sessionId);

    assertEquals(
      loaded.map(({ said }) => said),
      ["user: hello", ...replies.map((text) => `agent: ${text}`)],
      `${steps} steps`,
    );
    shown += replies.length;
  }
  assert(shown > 0 && shown < 60, `${shown} replies`);
});

Deno.test("of the sessions that were closed, 10,000 are remembered", async () => {
  const gateway = new FakeGateway();
  gateway.creating = () => Promise.resolve("thread 1");
  const peer = { send() {}, sendInTurn: () => Promise.resolve() };
  const sessions = new Sessions({ gateway, peer });
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

Deno.test("session/cancel drops the run of its session, as a notification and as a request", async () => {
  await using editor = new MemoryEditor();
  const sessions = [await editor.newSession(), await editor.newSession()];
  const [first, second] = sessions;
  const prompts: number[] = [];
  for (const [i, id] of sessions.entries()) {
    prompts.push(await editor.sendPrompt(id, "hello"));
    await editor.gateway.started(i + 1);
  }
  const [one, two] = prompts;

  await editor.notify("session/cancel", { sessionId: first });
  const unknown = await editor.request("session/cancel", { sessionId: "no" });
  const known = await editor.request("session/cancel", { sessionId: second });
  await editor.rest();

  assertEquals([unknown.result, known.result], [{}, {}]);
  assertEquals((await editor.response(one)).result, CANCELLED);
  assertEquals((await editor.response(two)).result, CANCELLED);
  for (const { options } of editor.gateway.runs) {
    assert(options.signal?.aborted);
  }
});

Deno.test("$/cancel_request drops the run of its prompt, with any kind of id, and nothing without one", async () => {
  const ids = ["-1", '"-1"', "null", "1.5", '""', "9007199254740991"];
  await using editor = new MemoryEditor();
  const sessions = new Map<string, string>();
  for (const id of ids) {
    const sessionId = await editor.newSession();
    sessions.set(id, sessionId);
    const params = JSON.stringify({ sessionId, prompt: "hello" });
    const line = `{"id":${id},"method":"session/prompt","params":${params}}`;
    await editor.sendLine(line);
  }
  const cancel = async (params: string) => {
    const start = editor.stdout.length;
    const line = `{"method":"$/cancel_request","params":${params}}`;
    await editor.sendLine(line);
    await editor.rest();
    return editor.stdout.slice(start);
  };
  await editor.gateway.started(ids.length);

  for (const none of ["{}", "[]", "null", '{"requestId":9007199254740990}']) {
    assertEquals(await cancel(none), "");
  }
  for (const id of ids) {
    assertEquals(
      await cancel(`{"requestId":${id}}`),
      `{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"cancelled"}}\n`,
    );
  }
});

Deno.test("a prompt waits until the cancelled one before it was answered, and starts no run if it is cancelled meanwhile", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const start = editor.messages.length;
  const one = await editor.sendPrompt(sessionId, "one");
  const dropped = Promise.withResolvers<void>();
  (await editor.gateway.started(1)).dropping = dropped.promise;

  await editor.notify("session/cancel", { sessionId });
  const two = await editor.sendPrompt(sessionId, "two");
  const refused = await editor.sendPrompt(sessionId, "refused");
  await editor.notify("session/cancel", { sessionId });
  const three = await editor.sendPrompt(sessionId, "three");
  await editor.rest();
  assertEquals(order(editor).slice(start), [refused]);
  dropped.resolve();
  (await editor.gateway.started(2)).complete("Three.");
  await editor.response(three);

  assertEquals(order(editor).slice(start + 1), [one, two, "Three.", three]);
  assertEquals(editor.gateway.run.prompt, "three");
  assertEquals((await editor.response(refused)).error?.code, -32600);
  assertEquals((await editor.response(two)).result, CANCELLED);
});

Deno.test("notifications are never answered, whatever is wrong with them", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const start = editor.messages.length;

  for (const params of [undefined, null, [], "x", {}, { sessionId: 1 }]) {
    await editor.notify("session/cancel", params);
    await editor.notify("$/cancel_request", params);
  }
  await editor.notify("nope");
  await editor.notify("session/new");
  await editor.notify("session/close", { sessionId });
  await editor.notify("session/prompt", { sessionId, prompt: "hello" });
  await editor.rest();

  assertEquals(editor.messages.slice(start), []);
  const { threads, runs } = editor.gateway;
  assertEquals([threads, runs.length], [1, 0]);
});

const UNKNOWN_METHODS = [
  ...["", "nope", "Initialize", "toString", "__proto__", "_ext/method"],
  ...["authenticate", "session/list", "session/update", "$/cancel_request"],
];
Deno.test("a request for an unknown method answers -32601 (interface 7)", async () => {
  await using editor = new MemoryEditor();
  for (const method of UNKNOWN_METHODS) {
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

Deno.test("a failed request is answered with its error, and the next one works (interface 7)", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const operation = "create thread";
  const error = new ServiceError({
    operation,
    reason: "no answer",
    stage: "refused",
  });
  editor.gateway.creating = () => Promise.reject(error);

  const why = "-32010 Cannot start a chat: no answer";
  assertEquals(await errorOf(editor, "session/new"), why);
  const failed = await editor.sendPrompt(sessionId, "hello");
  const run = await editor.gateway.started(1);
  run.progress("plan", "started");
  await editor.update(sessionId, "plan: started  \n");
  run.fail(new TypeError("a defect"));
  const { error: reason } = await editor.response(failed);
  const next = await editor.sendPrompt(sessionId, "again");
  (await editor.gateway.started(2)).complete("Done.");

  assertEquals(reason?.message, "Internal error: a defect");
  assertEquals((await editor.response(next)).result, END_TURN);
});

Deno.test("requests run side by side: one that hangs delays no other", async () => {
  await using editor = new MemoryEditor();
  const sessions = [await editor.newSession(), await editor.newSession()];
  const [first = "", second = ""] = sessions;
  const start = editor.messages.length;
  const thread = Promise.withResolvers<string>();
  editor.gateway.creating = () => thread.promise;

  const created = await editor.send("session/new");
  const prompts = [
    await editor.sendPrompt(first, "one"),
    await editor.sendPrompt(second, "two"),
  ];
  const list = await editor.send("agents/list");
  await editor.response(list);
  const one = await editor.gateway.started(1);
  const two = await editor.gateway.started(2);
  one.progress("a", "1");
  await editor.update(first, "a: 1  \n");
  two.progress("b", "1");
  await editor.update(second, "b: 1  \n");
  one.complete("One.");
  await editor.response(prompts[0]);
  two.complete("Two.");
  await editor.response(prompts[1]);
  thread.resolve("thread-9");
  await editor.response(created);

  assertEquals(
    order(editor).slice(start),
    [
      list,
      "a: 1  \n",
      "b: 1  \n",
      "One.",
      prompts[0],
      "Two.",
      prompts[1],
      created,
    ],
  );
});

Deno.test("the log tells of each message, a request after its answer, and never the service's words", async () => {
  const lines: string[] = [];
  await using editor = new MemoryEditor({
    log: (text, milliseconds = 0) => {
      assert(milliseconds >= 0);
      lines.push(text);
    },
  });
  const sessionId = await editor.newSession();
  const params = { sessionId, prompt: "hello" };
  lines.length = 0;

  await editor.request("session/cancel", { sessionId });
  await editor.request("session/prompt", { ...params, sessionId: "s" });
  const id = await editor.send("session/prompt", params);
  const run = await editor.gateway.started(1);
  run.fail(
    new ServiceError({
      ...{ operation: "stream run", reason: "the run failed", stage: "failed" },
      ...{ detail: "secret", threadId: "t-1", runId: "r-1" },
    }),
  );
  await editor.response(id);
  await editor.notify("session/cancel", { sessionId });
  await editor.sendLine("not JSON");
  await editor.rest();

  assertEquals(lines.map((line) => line.replace(sessionId, "S")), [
    "session/cancel id=3 session=S: {}",
    'session/prompt id=4 session=s: error -32002, Session not found: "s"',
    "session/prompt id=5 session=S: error -32603, stream run thread=t-1 run=r-1: the run failed",
    "session/cancel session=S: notification",
    "invalid line: error -32700, Parse error: the line is not valid JSON",
  ]);
});
