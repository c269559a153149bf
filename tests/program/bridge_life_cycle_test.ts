import { assert, assertEquals, assertLess } from "@std/assert";
import { processUsage } from "../../tools/bench/processes.ts";
import {
  type ClientOptions,
  commandLine,
  RUN_BY_DENO,
  settings,
  shell,
} from "../support/client_process.ts";
import { Editor } from "../support/editor.ts";
import { complete, events, progress } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

const MIB = 1024 * 1024;
const onWindows = Deno.build.os === "windows"; // It has no signals.

/** A run that has begun: its stream is open, and its first update has arrived. */
interface Run {
  readonly editor: Editor;
  readonly gate: GatedStream;
  readonly sessionId: string;
  readonly id: number;
}

/** Tests a bridge in the middle of a run. */
function testRun(
  name: string,
  fn: (run: Run) => Promise<void>,
  { ignore = false, ...options }: ClientOptions & { ignore?: boolean } = {},
): void {
  Deno.test({
    name,
    ignore,
    async fn() {
      await using service = ReferenceService.start();
      const gate = new GatedStream();
      service.misbehave("stream", gate.behaviour);
      await using editor = new Editor({ env: settings(service), ...options });
      const sessionId = await editor.newSession();
      const id = await editor.sendPrompt(sessionId, "hello");
      gate.progress("plan", "started");
      await editor.update(sessionId, "plan: started");
      await fn({ editor, gate, sessionId, id });
    },
  });
}

testRun(
  "input that ends during a run: the run is finished and answered, exit 0",
  async ({ editor, gate, sessionId, id }) => {
    await editor.client.closeInput();
    gate.progress("plan", "done");
    await editor.update(sessionId, "plan: done");
    gate.complete("Done.");
    const { code, stderr } = await editor.finish();

    assertEquals([code, stderr], [0, ""]);
    const { result } = await editor.response(id);
    assertEquals(result.stopReason, "end_turn");
    assertEquals(editor.texts(sessionId, "agent_message_chunk"), ["Done."]);
  },
);

const SIGNALS = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;
for (const [signal, exitCode] of Object.entries(SIGNALS)) {
  testRun(
    `${signal} drops a run at once: exit ${exitCode}`,
    async ({ editor, gate, id }) => {
      editor.client.kill(signal as Deno.Signal);
      const { code, stderr } = await editor.client.output();

      assertEquals([code, stderr], [exitCode, ""]);
      await gate.dropped;
      assertEquals(editor.messages.filter((answer) => answer.id === id), []);
    },
    { ignore: onWindows },
  );
}

testRun(
  "a reader that is gone in the middle of a run ends the program silently: exit 0",
  async ({ editor, gate }) => {
    await editor.client.stdout.close();
    let hasEnded = false;
    const output = editor.client.output().finally(() => hasEnded = true);
    // On Windows, the first write after the reader is gone still succeeds.
    while (!hasEnded) {
      gate.progress("plan", "done");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }

    const { code, stderr } = await output;
    assertEquals([code, stderr], [0, ""]);
    await gate.dropped;
  },
);

testRun(
  "a bridge whose client was killed ends, although the stream of its run is quiet",
  async ({ editor, gate }) => {
    editor.client.kill("SIGKILL");
    await editor.client.closeInput();

    await gate.dropped;
    await editor.client.output(); // The program has closed it, too.
  },
  // The shell does not replace itself by the program, because a command follows.
  { startedBy: shell('"$@"; :'), ignore: onWindows },
);

/** Lets the parent of a process die as soon as the environment is looked at. */
const PRELOAD = `data:text/javascript,
  let parent = 7;
  Object.defineProperty(Deno, "ppid", { get: () => parent });
  const { get } = Deno.env;
  Deno.env.get = (name) => {
    parent = 1;
    return get(name);
  };
`;

// A binary takes no flags of Deno.
if (RUN_BY_DENO) {
  const [deno, command = "", ...rest] = commandLine();
  testRun(
    "a bridge notices that its client died while it was being loaded",
    async ({ editor, gate }) => {
      await editor.client.closeInput();

      await gate.dropped;
      await editor.client.output();
    },
    {
      program: [deno, command, `--preload=${PRELOAD}`, ...rest],
      ignore: onWindows,
    },
  );
}

Deno.test({
  name:
    "an editor that does not read a run of 100 MB costs no memory, and loses nothing",
  ignore: Deno.build.os !== "linux", // It reads /proc.
  async fn() {
    const COUNT = 10_000;
    const status = "x".repeat(10_000);
    let taken = 0;
    function* steps() {
      for (; taken < COUNT; taken++) yield progress(`${taken}`, status);
      yield complete("Done.");
    }
    await using service = ReferenceService.start();
    await using editor = new Editor({ env: settings(service) });
    const sessionId = await editor.newSession();
    await editor.prompt(sessionId, "hello");
    service.misbehave("stream", events(steps, { chunkSize: 16_384 }));
    const before = await processUsage(editor.client.pid);

    editor.client.stdout.pause();
    const id = await editor.send("session/prompt", { sessionId, prompt: "x" });
    await service.waitFor("stream", 2);
    // The only sign of a paused stream is that no event is taken from it.
    let seen = -1;
    for (let still = 0; still < 20; still++) {
      if (taken > seen) still = 0;
      seen = taken;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const takenUnread = taken;
    const { peak } = await processUsage(editor.client.pid);
    editor.client.stdout.resume();
    await editor.finish();
    const { result } = await editor.response(id);

    assert(takenUnread < COUNT, "the service could send everything");
    assertLess(peak - before.peak, 64 * MIB);
    assertEquals(result.stopReason, "end_turn");
    const texts = editor.steps(sessionId).slice(4);
    assertEquals(texts.length, COUNT);
    assert(texts.every((text, i) => text === `${i}: ${status}`));
  },
});

Deno.test("a long run can be cancelled, whatever memory was collected since its start", async () => {
  function* steps() {
    for (let i = 1; i <= 20_000; i++) yield progress("step", `${i}`);
  }
  await using service = ReferenceService.start();
  await using editor = new Editor({ env: settings(service) });
  service.misbehave(
    "stream",
    events(steps, { end: "hang", chunkSize: 65_536 }),
  );
  const sessionId = await editor.newSession();
  const id = await editor.sendPrompt(sessionId, "hi");
  const { ended } = await service.waitFor("stream");
  await editor.update(sessionId, "step: 20000");

  await editor.notify("session/cancel", { sessionId });

  const { result } = await editor.response(id);
  assertEquals(result.stopReason, "cancelled");
  assertEquals(await ended, "dropped");
});
