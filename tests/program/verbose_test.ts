import { assert, assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { answer, events, json } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

/** The start of each line. */
const TIME = /^agent-gateway \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;

Deno.test("--verbose tells requests and remote calls, never a key, a prompt or a reply", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({
    env: settings(service),
    args: ["--verbose"],
  });
  await editor.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  const { sessionId } = (await editor.request("session/new")).result;
  service.misbehave("create run", answer(429));
  service.misbehave("create run", json({ message: "no: top secret" }, 422));

  await editor.prompt(sessionId, "top secret");
  const unread = { event: "complete", messages: [{ speech: "top secret" }] };
  service.misbehave("stream", events([unread]));
  const asking = await editor.send("session/prompt", {
    sessionId,
    prompt: [
      { type: "text", text: "top secret" },
      { type: "resource_link", name: "secret", uri: "file:///secret" },
    ],
  });
  const { id } = await editor.waitFor(() =>
    editor.messages.find(({ method }) => method === "fs/read_text_file")
  );
  await editor.sendLine(JSON.stringify({ id, result: { content: "secret" } }));
  await editor.response(asking);
  await editor.request("session/prompt", { sessionId, prompt: [] });
  await editor.notify("session/cancel", { sessionId });
  await editor.sendLine('{"top secret');
  const { stdout, stderr } = await editor.finish();

  assert(stdout.includes("top secret")); // in the details of two failures
  assert(!stderr.includes("secret"), stderr);
  const lines = stderr.trimEnd().split("\n").map((line) =>
    line.replace(TIME, "").replace(/, \d+ ms$/, "")
      .replaceAll(sessionId, "S").replace(/: \{"prot.*/, ": {...}")
      .replaceAll(service.url, "URL").replace(/run=[0-9a-f-]{36}/, "run=R")
      .replace(/request=[0-9a-f-]{36}/, "request=Q")
  );
  assertEquals(lines, [
    "initialize id=1: {...}",
    "create thread request=Q: 200",
    'session/new id=2: {"sessionId":"S"}',
    "create run session=S request=Q: 429",
    "create run session=S request=Q: 422",
    "session/prompt id=3 session=S: error -32603, create run thread=S: 422",
    "create run session=S request=Q: 200",
    "stream run session=S run=R request=Q: 200",
    "stream run session=S run=R request=Q: 1 message had no text that can be read",
    'session/prompt id=4 session=S: {"stopReason":"end_turn"}',
    "session/prompt id=5 session=S: error -32602, Invalid params: prompt contains no text",
    "session/cancel session=S: notification",
    "invalid line: error -32700, Parse error: the line is not valid JSON",
  ]);
});

Deno.test("without --verbose standard error is silent, even about failures", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();

  for (const prompt of ["hello", "please fail", "please break off", " "]) {
    await editor.prompt(sessionId, prompt);
  }
  await editor.sendLine("not JSON");

  assertEquals((await editor.finish()).stderr, "");
});
