import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../support/clocks.ts";
import { isUpdate, MemoryEditor, READS_FILES } from "../../support/editor.ts";

const CANCELLED = { stopReason: "cancelled" };

Deno.test("a run's progress and reply are updates, in order, before the prompt's response (interface 4.2, 6)", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const ids = new Set<string>();
  for (const number of [1, 2]) {
    const start = editor.messages.length;
    const id = await editor.sendPrompt(sessionId, "hello");
    const run = await editor.gateway.started(number);
    run.progress("plan", "started");
    run.progress("", "");
    run.complete("Hello!");
    const { result } = await editor.response(id);

    assertEquals(result, { stopReason: "end_turn" });
    const updates = editor.messages.slice(start, -1).filter(isUpdate)
      .map(({ params }) => params.update);
    assertEquals(
      updates.map(({ sessionUpdate, content }) => [
        ...[sessionUpdate, content.type, content.text],
      ]),
      [
        ["agent_thought_chunk", "text", "plan: started  \n"],
        ["agent_thought_chunk", "text", ":   \n"],
        ["agent_message_chunk", "text", "Hello!"],
      ],
    );
    const [first, second] = updates;
    assertEquals(first?._meta, { node: "plan", status: "started" });
    assertEquals(second?._meta, { node: "", status: "" });
    assertEquals(first?.messageId, second?.messageId);
    for (const { messageId } of updates) ids.add(messageId);
  }
  assertEquals(ids.size, 4); // thoughts and reply, of two turns
});

Deno.test("nothing of a run follows its cancellation, also if the editor did not read", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const id = await editor.sendPrompt(sessionId, "hello");
  const run = await editor.gateway.started(1);
  run.progress("plan", "started");
  await editor.update(sessionId, "plan: started  \n");
  editor.pause();
  for (let i = 0; i < 10; i++) run.progress("x", "y".repeat(100_000));
  await editor.rest();

  await editor.notify("session/cancel", { sessionId });
  run.complete("Too late.");
  await editor.rest();
  editor.resume();
  const { result } = await editor.response(id);

  assertEquals(result, CANCELLED);
  assertEquals(editor.messages.at(-1), await editor.response(id));
  const { length } = editor.texts(sessionId, "agent_thought_chunk");
  assert(length < 10, `${length} updates`);
});

Deno.test("nothing is asked of an editor that does not offer to read files; its last initialize counts", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  await editor.request("initialize", {});
  const start = editor.messages.length;

  await editor.sendPrompt(sessionId, "explain", "file:///a");
  const { prompt } = await editor.gateway.started(1);

  assertEquals(prompt, "explain [f](file:///a)");
  assertEquals(editor.messages.length, start);
});

Deno.test("a cancellation in the middle of the reads starts no run, and takes back what is still asked", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  const uris = ["file:///a", "file:///b"];
  const id = await editor.sendPrompt(sessionId, "explain", ...uris);
  const [a] = await editor.questions(1);
  assert(a !== undefined);
  await editor.answer(a, { content: "a" });
  const [, b] = await editor.questions(2);
  assert(b !== undefined);

  await editor.notify("session/cancel", { sessionId });
  const { result } = await editor.response(id);
  await editor.answer(b, { content: "late" });
  await editor.rest();

  assertEquals(result, CANCELLED);
  assertEquals(editor.gateway.runs, []);
  const taken = editor.messages.filter(({ method }) =>
    method === "$/cancel_request"
  );
  assertEquals(taken.map(({ params }) => params), [{ requestId: b.id }]);
});

Deno.test("the end of the input ends the reads: the prompt runs with its links", async () => {
  using clock = new FakeClock(); // else they would end after 10 s
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  await editor.sendPrompt(sessionId, "explain", "file:///a", "file:///b");
  const [a] = await editor.questions(1);
  assert(a !== undefined);
  await editor.answer(a, { content: "a" });
  await editor.questions(2);

  const ended = editor.finish();
  const run = await editor.gateway.started(1);
  run.complete("Done.");
  await editor.rest();
  clock.pass(); // the distance of the response
  await ended;

  assertEquals(
    run.prompt,
    "explain [f](file:///a) [f](file:///b)" +
      '\n\n<context uri="file:///a">\na\n</context>',
  );
});

Deno.test("session/load keeps its distance from the conversation", async () => {
  using clock = new FakeClock();
  await using editor = new MemoryEditor();
  await editor.request("initialize", { protocolVersion: 1 });
  const id = await editor.send("session/load", { sessionId: "earlier" });
  await editor.update("earlier", "Earlier messages are not shown here.");
  await editor.rest();
  const { length } = editor.messages;
  clock.pass();
  await editor.response(id);
  assertEquals(editor.messages.length, length + 1);
});

/** The titles that a session has got. */
function titles(editor: MemoryEditor): readonly unknown[] {
  return editor.messages.flatMap(({ params }) =>
    params?.update?.sessionUpdate === "session_info_update"
      ? [params.update.title]
      : []
  );
}

/** Runs a prompt to its reply. */
async function complete(editor: MemoryEditor, sessionId: string, text: string) {
  const id = await editor.sendPrompt(sessionId, text);
  const { runs } = editor.gateway;
  const run = await editor.gateway.started(runs.length + 1);
  run.complete("Done.");
  return await editor.response(id);
}

Deno.test("a new session gets a title right after the first response end_turn, and never a second one", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  assertEquals(titles(editor), []);
  const failed = await editor.sendPrompt(sessionId, "failed");
  (await editor.gateway.started(1)).fail(new TypeError("no"));
  await editor.response(failed);
  assertEquals(titles(editor), []);

  const { id } = await complete(editor, sessionId, "\nfirst\nmore");
  await editor.rest();
  const [response, title] = editor.messages.slice(-2);
  assertEquals(response?.id, id);
  assertEquals(title?.params.update, {
    sessionUpdate: "session_info_update",
    title: "first",
  });
  await complete(editor, sessionId, "second");
  await editor.rest();
  assertEquals(titles(editor), ["first"]);
});

Deno.test("no title is sent in a session that was loaded, resumed or closed, nor to a client that names no protocol version", async () => {
  await using editor = new MemoryEditor();
  await editor.request("initialize", { protocolVersion: 1 });
  for (const method of ["session/load", "session/resume"]) {
    await editor.request(method, { sessionId: method });
    await complete(editor, method, "hello");
  }

  const closed = await editor.newSession();
  await editor.request("session/close", { sessionId: closed });
  await editor.request("session/resume", { sessionId: closed });
  await complete(editor, closed, "hello");

  const closing = await editor.newSession();
  const id = await editor.sendPrompt(closing, "hello");
  (await editor.gateway.started(4)).complete("Done.");
  await editor.update(closing, "Done.");
  await editor.request("session/close", { sessionId: closing });
  const { result } = await editor.response(id);
  assertEquals(result, { stopReason: "end_turn" });

  await complete(editor, await editor.newSession({}), "hello");
  await editor.rest();
  assertEquals(titles(editor), []);
});
