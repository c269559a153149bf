import { assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import {
  type Behaviour,
  complete,
  events,
  progress,
  sleep,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";

// Cancellations at random moments are in
// tests/lib/bridge/generated_conversations_test.ts.

Deno.test("200 sessions each run a prompt at once, and lose nothing", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessions: string[] = [];
  for (let i = 0; i < 200; i++) sessions.push(await editor.newSession());
  const allOpen = service.waitFor("stream", sessions.length);
  const stream: Behaviour = (_, { prompt }) => {
    async function* steps(signal: AbortSignal) {
      await allOpen;
      for (let step = 0; step < 20; step++) {
        yield progress("step", `${step}`);
        await sleep(0, signal);
      }
      yield complete(`Done: ${prompt}`);
    }
    return events(steps)();
  };
  service.misbehave("stream", stream, Infinity);

  const answers = await Promise.all(
    sessions.map((id) => editor.prompt(id, `for ${id}`)),
  );
  const { code, stderr } = await editor.finish();

  assertEquals([code, stderr], [0, ""]);
  const steps = Array.from({ length: 20 }, (_, step) => `step: ${step}`);
  for (const [i, sessionId] of sessions.entries()) {
    assertEquals(answers[i]?.result, { stopReason: "end_turn" });
    assertEquals(editor.steps(sessionId), steps);
    assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
      `Done: for ${sessionId}`,
    ]);
  }
});
