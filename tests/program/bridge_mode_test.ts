import { assert, assertEquals } from "@std/assert";
import { afterEach, beforeEach, it } from "@std/testing/bdd";
import { settings } from "../support/client_process.ts";
import { Editor, READS_FILES } from "../support/editor.ts";
import { events, progress } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

let service: ReferenceService;
let editor: Editor;

beforeEach(() => {
  service = ReferenceService.start();
  editor = new Editor({ env: settings(service) });
});

afterEach(async () => {
  await editor[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

it("a long run can be cancelled, whatever memory was collected since its start", async () => {
  function* steps() {
    for (let i = 1; i <= 20_000; i++) yield progress("step", `${i}`);
  }
  service.misbehave(
    "stream",
    events(steps, { end: "hang", chunkSize: 65_536 }),
  );
  const sessionId = await editor.newSession();
  const id = await editor.send("session/prompt", { sessionId, prompt: "hi" });
  const { ended } = await service.waitFor("stream");
  await editor.update(sessionId, "step: 20000");

  await editor.notify("session/cancel", { sessionId });
  const { result } = await editor.response(id);

  assertEquals(result.stopReason, "cancelled");
  assertEquals(await ended, "dropped");
});

it("the trace context of a prompt travels on the two requests of its run", async () => {
  const sessionId = await editor.newSession();
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const good = { traceparent, tracestate: "vendor=1" };

  for (const _meta of [good, null]) {
    await editor.request("session/prompt", { sessionId, prompt: "hi", _meta });
  }

  assertEquals(
    service.requests.map(({ operation, headers }) => [
      operation,
      headers.get("traceparent"),
      headers.get("tracestate"),
    ]),
    [
      ["create thread", null, null],
      ["create run", traceparent, "vendor=1"],
      ["stream", traceparent, "vendor=1"],
      ["create run", null, null],
      ["stream", null, null],
    ],
  );
});

it("of a file that is larger than a line may be the agent is told that it was not read, and the prompt runs", async () => {
  const sessionId = await editor.newSession(READS_FILES);
  const uris = ["file:///a", "file:///b"];
  const id = await editor.sendPrompt(sessionId, "explain", ...uris);
  const [first] = await editor.questions(1);
  assert(first !== undefined);

  // Not many times the limit: it has 10 s to arrive, on a busy machine, too.
  await editor.write(`{"id":${first.id},"result":{"content":"`);
  await editor.write(new Uint8Array(17 * 1024 * 1024).fill(0x61));
  await editor.write('"}}\n');
  const [, second] = await editor.questions(2);
  assert(second !== undefined);
  await editor.answer(second, { content: "text of b" });
  await editor.answer(first, { content: "too late" });
  const { result } = await editor.response(id);

  assertEquals(result.stopReason, "end_turn");
  const { prompt } = JSON.parse((await service.waitFor("create run")).body);
  assertEquals(
    prompt,
    'explain [f](file:///a) [f](file:///b)\n\n<context uri="file:///a">\n(not read: larger than 1 MiB)\n</context>\n\n<context uri="file:///b">\ntext of b\n</context>',
  );
});
