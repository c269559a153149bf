import { assert, assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { ReferenceService } from "../support/service/service.ts";

const MIB = 1024 * 1024;

/** A prompt that links to files, and the bridge's requests for them. */
async function promptWithLinks(editor: Editor, ...paths: string[]) {
  await editor.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  const { sessionId } = (await editor.request("session/new")).result;
  const id = await editor.send("session/prompt", {
    sessionId,
    prompt: paths.map((path) => ({
      type: "resource_link",
      name: "file",
      uri: `file://${path}`,
    })),
  });
  return { id, questions: await editor.questions(paths.length) };
}

Deno.test("an answer of 100 MiB to a read leaves the link a link, and the prompt runs", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const { id, questions } = await promptWithLinks(editor, "/a", "/b");
  const [first, second] = questions;
  assert(first !== undefined && second !== undefined);
  const chunk = new Uint8Array(MIB).fill(0x61);

  await editor.client.write(`{"id":${first.id},"result":{"content":"`);
  for (let i = 0; i < 100; i++) await editor.client.write(chunk);
  await editor.client.write('"}}\n');
  await editor.answer(second, { content: "text of b" });
  await editor.refuse(first, "too long after all");
  const { result } = await editor.response(id);

  assertEquals(result, { stopReason: "end_turn" });
  const refusals = editor.messages.filter((message) => "error" in message);
  assertEquals(refusals, [{
    jsonrpc: "2.0",
    id: null,
    error: {
      code: -32600,
      message: "Invalid request: the line is longer than 67108864 bytes",
    },
  }]);
  assertEquals(
    JSON.parse((await service.waitFor("create run")).body).prompt,
    '[file](file:///a)[file](file:///b)\n\n<context uri="file:///b">\ntext of b\n</context>',
  );
});

Deno.test("of an answer of 60 MiB to a read 1 MiB is taken", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const { id, questions: [question] } = await promptWithLinks(editor, "/a");
  assert(question !== undefined);

  await editor.answer(question, { content: "é".repeat(30 * MIB) });
  const { result } = await editor.response(id);

  assertEquals(result, { stopReason: "end_turn" });
  const { prompt } = JSON.parse((await service.waitFor("create run")).body);
  assert(prompt.endsWith("é\n[61865984 more bytes were left out]\n</context>"));
  assert(prompt.length < 0.6 * MIB);
});
