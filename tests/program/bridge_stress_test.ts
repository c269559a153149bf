import { assert, assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { Editor, isUpdate, type Question } from "../support/editor.ts";
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

/** Fails instead of waiting forever. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`It is not over after ${ms} ms`)),
    ms,
  );
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

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
      const moment = random(STEPS + 3);
      const cancel = CANCELS[random(CANCELS.length)];
      const delay = random(20);
      assert(cancel !== undefined);

      const id = await editor.send("session/prompt", { sessionId, prompt });
      prompts.set(id, prompt);
      if (moment === STEPS) await arrival.promise;
      if (moment === STEPS + 1) {
        await sleep(delay, new AbortController().signal);
      }
      if (moment < STEPS) {
        await editor.update(sessionId, `${prompt}: ${moment}\n`);
      }
      await cancel(editor, sessionId, id);
      const { result } = await editor.response(id);

      assert(["cancelled", "end_turn"].includes(result.stopReason));
    }
  };
  const sessions: string[] = [];
  for (let i = 0; i < 10; i++) sessions.push(await editor.newSession());
  await within(60_000, Promise.all(sessions.map(runSession)));
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
        /^(.*): (\d)\n$/.exec(update.content.text) ??
          ["", update.content.text, `${STEPS}`];
      assert(prompt.startsWith(sessionId), "an update is in a wrong session");
      assert(!answered.has(prompt), "an update follows its prompt's answer");
      assertEquals(Number(step), steps.get(prompt) ?? 0);
      steps.set(prompt, Number(step) + 1);
    } else {
      assert(!("method" in message), "the bridge asks something");
      const prompt = prompts.get(message.id);
      if (prompt === undefined) continue; // the answer to another request
      assert(!answered.has(prompt), "a prompt is answered twice");
      answered.add(prompt);
      if (message.result.stopReason === "end_turn") {
        assertEquals(steps.get(prompt), STEPS + 1);
      }
    }
  }
  assertEquals(answered.size, 200);
});

Deno.test("200 sessions run a prompt each at once, and lose nothing", async () => {
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
    sessions.map((sessionId) => editor.prompt(sessionId, sessionId)),
  );
  const { code, stderr } = await editor.finish();

  assertEquals([code, stderr], [0, ""]);
  const steps = Array.from({ length: 20 }, (_, step) => `step: ${step}\n`);
  for (const [i, sessionId] of sessions.entries()) {
    assertEquals(answers[i]?.result, { stopReason: "end_turn" });
    assertEquals(editor.texts(sessionId, "agent_thought_chunk"), steps);
    assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
      `Done: ${sessionId}`,
    ]);
  }
});

/** A prompt that links to three files, in a session of an editor that offers them. */
function promptWithLinks(editor: Editor, sessionId: string): Promise<number> {
  const links = ["a", "b", "c"].map((name) => ({
    type: "resource_link",
    name,
    uri: `file:///${sessionId}/${name}`,
  }));
  const prompt = [{ type: "text", text: "explain " }, ...links];
  return editor.send("session/prompt", { sessionId, prompt });
}

async function openSessions(editor: Editor, count: number): Promise<string[]> {
  await editor.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  const created = [];
  for (let i = 0; i < count; i++) created.push(editor.request("session/new"));
  return (await Promise.all(created)).map(({ result }) => result.sessionId);
}

Deno.test("200 sessions with three file links each: all texts arrive, and no read is asked twice", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessions = await openSessions(editor, 200);

  const ids = await Promise.all(
    sessions.map((sessionId) => promptWithLinks(editor, sessionId)),
  );
  const questions = await editor.questions(600);
  for (const question of questions.toReversed()) {
    await editor.answer(question, {
      content: `text of ${question.params.path}`,
    });
  }
  for (const id of ids) {
    assertEquals((await editor.response(id)).result, {
      stopReason: "end_turn",
    });
  }
  const { code, stderr } = await editor.finish();

  assertEquals([code, stderr], [0, ""]);
  assertEquals((await editor.questions(600)).length, 600);
  const paths = questions.map(({ params }: Question) => params.path);
  assertEquals(new Set(paths).size, 600);
  for (const sessionId of sessions) {
    const uris = ["a", "b", "c"].map((name) => `file:///${sessionId}/${name}`);
    const contexts = uris.map((uri) =>
      `\n\n<context uri="${uri}">\ntext of ${uri.slice(7)}\n</context>`
    );
    assertEquals(editor.texts(sessionId, "agent_message_chunk"), [
      `You said: explain [a](${uris[0]}) [b](${uris[1]}) [c](${uris[2]})` +
      contexts.join(""),
    ]);
  }
});

Deno.test("200 prompts that are cancelled in the middle of their reads answer cancelled, and none runs", async () => {
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  const sessions = await openSessions(editor, 200);
  const ids = await Promise.all(
    sessions.map((sessionId) => promptWithLinks(editor, sessionId)),
  );
  const questions = await editor.questions(600);
  for (const question of questions.slice(0, 300)) {
    if (question.params.path.endsWith("a")) {
      await editor.answer(question, { content: "a" });
    }
  }

  for (const sessionId of sessions) {
    await editor.notify("session/cancel", { sessionId });
  }
  for (const id of ids) {
    assertEquals((await editor.response(id)).result, {
      stopReason: "cancelled",
    });
  }
  for (const question of questions.slice(300)) {
    await editor.answer(question, { content: "too late" });
  }
  const { code, stderr } = await editor.finish();

  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    service.requests.filter(({ operation }) => operation !== "create thread"),
    [],
  );
});
