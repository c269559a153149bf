import { assertEquals } from "@std/assert";
import { settings } from "./client.ts";
import { Editor } from "./editor.ts";
import { ReferenceService } from "./service/service.ts";

Deno.test("a prompt's progress and reply are updates before its response (interface 4.2, 6)", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessionId = await editor.newSession();

  const response = await editor.prompt(sessionId, "hello");

  assertEquals(response.result, { stopReason: "end_turn" });
  assertEquals(editor.messages.at(-1), response);
  assertEquals(editor.texts(sessionId, "agent_thought_chunk"), [
    "plan: started\n",
    "recall: no earlier prompt\n",
    "write: started\n",
    "write: done\n",
  ]);
  assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
    "Hello! I am the-brain. Ask me something, or what you said before.",
  ]);
  assertEquals((await editor.finish()).code, 0);
});
