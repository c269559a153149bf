import { assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { answer, events } from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

const OFFERS = {
  protocolVersion: 1,
  clientCapabilities: { session: { notices: {} } },
};
const UNREADABLE = { event: "complete", messages: [{ role: "assistant" }] };

/** The titles of the notices, without the seconds that are drawn by lot. */
function notices(editor: Editor): unknown[] {
  return editor.messages.flatMap((message) => {
    if (!("method" in message) || !("update" in message.params)) return [];
    const update: Readonly<Record<string, unknown>> = {
      ...message.params.update,
    };
    const { sessionUpdate, severity, title } = update;
    return sessionUpdate === "notice"
      ? [[severity, `${title}`.replace(/\d+ s$/, "N s")]]
      : [];
  });
}

Deno.test("an editor that shows notices gets one for each wait and for a reply that was not understood, and none when it loads the chat", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  service.misbehave("create run", answer(429, "", { "retry-after": "1" }));
  service.misbehave("stream", answer(503));
  service.misbehave("stream", events([UNREADABLE]));
  const sessionId = await editor.newSession(OFFERS);
  await editor.prompt(sessionId, "hello");
  const told = [
    ["info", "The service is busy; again in N s"],
    ["info", "The service is busy; again in N s"],
    [
      "warning",
      'The run completed, but its reply could not be read: 1 message had no text that can be read: {"role":"assistant"}. Ask the operator to run agent-gateway --check -p TEXT',
    ],
  ];
  assertEquals(notices(editor), told);

  const chat = { cwd: "/", mcpServers: [] };
  await editor.request("session/load", { sessionId, ...chat });
  assertEquals(notices(editor), told);
  await editor.request("session/load", { sessionId: "earlier", ...chat });
  const earlier = ["info", "Earlier messages are not shown here."];
  assertEquals(notices(editor), [...told, earlier]);
});

Deno.test("other editors get one update for the reply, and no notice", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  service.misbehave("create run", answer(429));
  service.misbehave("stream", events([UNREADABLE]));
  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, "hello");
  assertEquals(notices(editor), []);
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
    "Run completed.",
  ]);
});

Deno.test("a chat that the service does not know any more cannot be loaded or resumed", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, "hello");
  const gone = answer(404, '{"detail":"No such thread"}');
  service.misbehave("create run", gone);
  const { error } = await editor.prompt(sessionId, "hello");
  // On these words clients start a new chat.
  assertEquals(error?.data, {
    details: `Session not found: ${error?.message}`,
  });
  const chat = { sessionId, cwd: "/", mcpServers: [] };
  assertEquals(
    (await editor.request("session/load", chat)).error?.code,
    -32002,
  );
  await editor.prompt(sessionId, "hello"); // The service knows it again.
  const { result } = await editor.request("session/load", chat);
  assertEquals(result, { sessionId });
  service.misbehave("create run", gone);
  await editor.prompt(sessionId, "hello");
  for (const isClosed of [false, true]) {
    if (isClosed) await editor.request("session/close", { sessionId });
    for (const method of ["session/load", "session/resume"]) {
      const { error } = await editor.request(method, chat);
      assertEquals(error?.code, -32002);
    }
  }
});
