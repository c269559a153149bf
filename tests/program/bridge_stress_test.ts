import { assert, assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor, isQuestion, isUpdate } from "../support/editor.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import {
  type Behaviour,
  complete,
  events,
  progress,
  sleep,
} from "../support/service/behaviours.ts";
import { ReferenceService } from "../support/service/service.ts";
import type { RecordedRequest } from "../support/service/exchange.ts";

/** Repeats a failure: `STRESS_SEED=N deno task test tests/program/bridge_stress_test.ts`. */
const SEED = Number(
  Deno.env.get("STRESS_SEED") ?? crypto.getRandomValues(new Uint32Array(1))[0],
);

/** Cancels a prompt in each of the possible ways. */
const CANCELS: readonly ((
  editor: Editor,
  sessionId: string,
  requestId: number,
) => Promise<unknown>)[] = [
  (editor, sessionId) => editor.notify("session/cancel", { sessionId }),
  (editor, sessionId) => editor.send("session/cancel", { sessionId }),
  (editor, _, requestId) => editor.notify("$/cancel_request", { requestId }),
];

const STEPS = 8;

Deno.test(`200 prompts over ten sessions are cancelled at random moments (seed ${SEED})`, async () => {
  const random = randomNumbers(SEED);
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const created = new Map<string, PromiseWithResolvers<void>>();
  const hung: RecordedRequest[] = [];
  const prompts = new Map<unknown, string>(); // by the ids of their requests
  const createRun: Behaviour = (_, { prompt = "", normal }) => {
    created.get(prompt)?.resolve();
    return normal();
  };
  // Every other run never completes: only a cancellation ends it.
  const stream: Behaviour = (request, { prompt = "" }) => {
    const hangs = random(2) === 0;
    if (hangs) hung.push(request);
    async function* steps(signal: AbortSignal) {
      for (let step = 0; step < STEPS; step++) {
        yield progress(prompt, `${step}`);
        await sleep(random(3), signal);
      }
      if (!hangs) yield complete(prompt);
    }
    return events(steps, { end: hangs ? "hang" : "close" })();
  };
  service.misbehave("create run", createRun, Infinity);
  service.misbehave("stream", stream, Infinity);

  const runSession = async (sessionId: string) => {
    for (let i = 0; i < 20; i++) {
      const prompt = `${sessionId} ${i}`;
      const arrival = Promise.withResolvers<void>();
      created.set(prompt, arrival);
      const moment = random(STEPS + 2);
      const cancel = CANCELS[random(CANCELS.length)];
      assert(cancel !== undefined);

      const id = await editor.send("session/prompt", { sessionId, prompt });
      prompts.set(id, prompt);
      if (moment === STEPS) await arrival.promise;
      else if (moment < STEPS) {
        await editor.update(sessionId, `${prompt}: ${moment}`);
      }
      await cancel(editor, sessionId, id);
      const { result } = await editor.response(id);

      assert(["cancelled", "end_turn"].includes(result.stopReason));
    }
  };
  const sessions: string[] = [];
  for (let i = 0; i < 10; i++) sessions.push(await editor.newSession());
  await Promise.all(sessions.map(runSession));
  for (const request of hung) assertEquals(await request.ended, "dropped");
  for (const request of service.requests) await request.ended;
  const output = await editor.finish();

  assertEquals([output.code, output.stderr], [0, ""]);
  const steps = new Map<string, number>(); // the number of steps so far, by prompt
  const answered = new Set<string>();
  for (const message of editor.messages) {
    if (isUpdate(message)) {
      const { sessionId, update } = message.params;
      const [, prompt = "", step] =
        /^(.*): (\d)\s+$/.exec(update.content.text) ??
          ["", update.content.text, `${STEPS}`];
      assert(prompt.startsWith(sessionId), "an update is in a wrong session");
      assert(!answered.has(prompt), "an update follows its prompt's answer");
      assertEquals(Number(step), steps.get(prompt) ?? 0);
      steps.set(prompt, Number(step) + 1);
    } else {
      assert(!isQuestion(message), "the bridge asks something");
      const prompt = prompts.get(message.id);
      if (prompt === undefined) continue; // the answer to another request
      answered.add(prompt);
      if (message.result.stopReason === "end_turn") {
        assertEquals(steps.get(prompt), STEPS + 1);
      }
    }
  }
  assertEquals(answered.size, 200);
});

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
