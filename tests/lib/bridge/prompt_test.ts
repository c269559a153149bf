import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../support/clocks.ts";
import {
  isQuestion,
  isUpdate,
  MemoryEditor,
  READS_FILES,
} from "../../support/editor.ts";

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

const NAMES = [
  ...["%s%20%", "{}{0}", `"'\``, "\\\\u0022\\", "$1$&$$", "🙂\0", "\u2028"],
  ...["x".repeat(70_000)],
];
Deno.test("updates are whole lines of JSON, whatever is in them", async () => {
  for (const name of NAMES) {
    await using editor = new MemoryEditor();
    const sessionId = name.slice(0, 1000);
    await editor.request("initialize");
    await editor.request("session/resume", { sessionId });
    const id = await editor.sendPrompt(sessionId, "hello");
    const run = await editor.gateway.started(1);
    for (let i = 0; i < 20; i++) run.progress(name, `${name}${i % 18}`);
    run.complete(name);
    await editor.response(id);

    const texts = Array.from(
      { length: 20 },
      (_, i) => `${name}: ${name}${i % 18}  \n`,
    );
    assertEquals(editor.texts(sessionId, "agent_thought_chunk"), texts);
    assertEquals(editor.texts(sessionId, "agent_message_chunk"), [name]);
  }
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

Deno.test("the trace context of a prompt goes along with its run, and with no other", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession();
  const trace = { traceparent: "00-1-2-01", tracestate: "a=1" };
  const prompt = "hello";

  for (const _meta of [{ ...trace, other: "x" }, undefined, "x", null]) {
    const params = { sessionId, prompt, _meta };
    const id = await editor.send("session/prompt", params);
    const run = await editor.gateway.started(editor.gateway.runs.length + 1);
    run.complete("Done.");
    await editor.response(id);
  }

  assertEquals(
    editor.gateway.runs.map(({ options }) => options.headers),
    [trace, {}, {}, {}],
  );
});

Deno.test("the files that a prompt links to are read through the editor, and follow its text", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);

  await editor.sendPrompt(sessionId, "explain", "file:///a", "file:///b");
  const questions = await editor.questions(2);
  await editor.rest();
  assertEquals(editor.gateway.runs, []);
  for (const question of questions.toReversed()) {
    const { path, sessionId: asked } = question.params;
    assertEquals(asked, sessionId);
    await editor.answer(question, { content: `text of ${path}\n` });
  }

  assertEquals(
    (await editor.gateway.started(1)).prompt,
    "explain [f](file:///a) [f](file:///b)" +
      '\n\n<context uri="file:///a">\ntext of /a\n</context>' +
      '\n\n<context uri="file:///b">\ntext of /b\n</context>',
  );
});

const NO_OFFERS: readonly unknown[] = [
  ...[false, "true", undefined].map((readTextFile) => ({
    clientCapabilities: { fs: { readTextFile } },
  })),
  { clientCapabilities: { fs: { writeTextFile: true } } },
  ...[true, null].map((fs) => ({ clientCapabilities: { fs } })),
  ...[{ clientCapabilities: null }, { fs: { readTextFile: true } }],
  ...[{}, null, undefined],
];
Deno.test("nothing is asked of an editor that does not offer to read files; its last initialize counts", async () => {
  for (const offers of NO_OFFERS) {
    await using editor = new MemoryEditor();
    const sessionId = await editor.newSession(READS_FILES);
    await editor.request("initialize", offers);
    const start = editor.messages.length;

    await editor.sendPrompt(sessionId, "explain", "file:///a");
    const { prompt } = await editor.gateway.started(1);

    assertEquals(prompt, "explain [f](file:///a)", JSON.stringify(offers));
    assertEquals(editor.messages.length, start);
  }
});

Deno.test("a cancellation in the middle of the reads starts no run", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  const uris = ["file:///a", "file:///b"];
  const id = await editor.sendPrompt(sessionId, "explain", ...uris);
  const [a, b] = await editor.questions(2);
  assert(a !== undefined && b !== undefined);
  await editor.answer(a, { content: "a" });

  await editor.notify("session/cancel", { sessionId });
  const { result } = await editor.response(id);
  await editor.answer(b, { content: "late" });
  await editor.rest();

  assertEquals(result, CANCELLED);
  assertEquals(editor.gateway.runs, []);
});

Deno.test("no file is asked for a prompt that was cancelled while it waited", async () => {
  await using editor = new MemoryEditor();
  const sessionId = await editor.newSession(READS_FILES);
  await editor.sendPrompt(sessionId, "one");
  const dropped = Promise.withResolvers<void>();
  (await editor.gateway.started(1)).dropping = dropped.promise;

  await editor.notify("session/cancel", { sessionId });
  const waiting = await editor.sendPrompt(sessionId, "two", "file:///a");
  await editor.notify("session/cancel", { sessionId });
  await editor.rest();
  dropped.resolve();
  const { result } = await editor.response(waiting);

  assertEquals(result, CANCELLED);
  assertEquals(editor.messages.filter(isQuestion), []);
});

Deno.test("the end of the input ends the reads: the prompt runs with its links", async () => {
  using _clock = new FakeClock(); // else they would end after 10 s
  const lines: string[] = [];
  await using editor = new MemoryEditor({ log: (text) => lines.push(text) });
  const sessionId = await editor.newSession(READS_FILES);
  await editor.sendPrompt(sessionId, "explain", "file:///a", "file:///b");
  const [, b] = await editor.questions(2);
  assert(b !== undefined);
  await editor.answer(b, { content: "b" });

  const ended = editor.finish();
  const run = await editor.gateway.started(1);
  run.complete("Done.");
  await ended;

  assertEquals(
    run.prompt,
    "explain [f](file:///a) [f](file:///b)" +
      '\n\n<context uri="file:///b">\nb\n</context>',
  );
  const asked = `asked fs/read_text_file session=${sessionId}`;
  assertEquals(lines.filter((line) => line.startsWith("asked")), [
    `${asked}: answered`,
    `${asked}: no answer`,
  ]);
});
