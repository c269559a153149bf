import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isNewDeno, settings } from "../support/client_process.ts";
import { complete, events, hang } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { promptsOf, serveStreams } from "../support/service/service.ts";
import {
  banner,
  openChat,
  QUIET,
  Screen,
  test,
} from "../support/tmux_screen.ts";

const LINES = 1_000_000;

/** A reply that takes a terminal a while. */
const LONG_REPLY = Array.from({ length: LINES }, (_, i) => `line ${i}`)
  .join("\n");

test("Ctrl-C drops a run and the prompts that wait, and what is typed stays", async () => {
  const run = new GatedStream();
  const answers = ["Two.", "Three."].map((text) => events([complete(text)]));
  await using service = serveStreams(run.behaviour, ...answers);
  await using screen = await openChat(service, { isQuiet: false });
  await screen.enter("one");
  run.progress("plan", "started");
  const rows = [...banner(service), "> one"];
  await screen.play(
    [...rows, "⠋ plan: started  0.0 s  Ctrl-C stops"],
    "enter two",
    "enter three",
    "type fo",
    /^queued: two\nqueued: three\n> fo$/m,
    "press C-c",
  );
  rows.push("✗ plan: started  0.0 s", "✗ total  0.0 s");
  rows.push(
    "Stopped following the run, and dropped 2 queued prompts. The run may continue on",
    " the service.", // wrapped by the terminal
    "",
  );
  await screen.shows(...rows, "> fo");
  await run.dropped;

  await screen.play(
    "type ur",
    "press Up",
    [...rows, "> three"],
    "press Up",
    [...rows, "> two"],
    "press Enter",
    [...rows, "> two", "✓ total  0.0 s", "", "Two.", "", ">"],
  );
  assertEquals(promptsOf(service), ["one", "two"]);
});

// Before Deno 2.9, a process may not signal itself.
await isNewDeno() &&
  test("one Ctrl-C ends the loop of a shell, and starts no other run", async () => {
    await using service = serveStreams(hang(), events([complete("Two.")]));
    await using screen = await Screen.open({ env: settings(service) });
    await screen.enter("for i in 1 2; do agent-gateway -q -p $i; done");
    await service.waitFor("stream");

    await screen.play("press C-c", "see [130]$");
    assertEquals(promptsOf(service), ["1"]);
  });

for (const dumb of ["", "TERM=dumb "]) {
  test(`${dumb}Ctrl-C stops a reply that is being written, and the next prompt works`, async () => {
    await using service = serveStreams(
      events([complete(LONG_REPLY)]),
      events([complete("Short.")]),
    );
    await using screen = await Screen.open({ env: settings(service) });
    await screen.play(
      `enter ${dumb}agent-gateway -q`,
      /^>$/m,
      "enter much",
      /^line \d+$/m,
      "press C-c",
    );
    const shown = await screen.waitFor(
      /line (\d+)\n+Dropped the rest of the reply\.\n+>$/,
    );
    const [, last] = /line (\d+)\n+Dropped/.exec(shown) ?? [];
    assert(Number(last) < LINES - 1, last);
    await screen.play(
      "enter more",
      /^> more\n+Short\.\n+>$/m,
      "press C-d",
      /\[0\]\$$/,
    );
  });
}

test("Ctrl-C clears what was typed, and Up brings it back; two at an empty prompt leave", async () => {
  await using service = serveStreams();
  await using screen = await openChat(service);
  await screen.play(
    "type one",
    "press M-Enter",
    "type two",
    [...QUIET, "> one", "  two"],
    "press C-c",
    [...QUIET, ">"],
    "press C-c",
    [...QUIET, "Ctrl-C again leaves", ">"],
    "press Up",
    [...QUIET, "Ctrl-C again leaves", "> one", "  two"],
    "press C-c",
    [...QUIET, "Ctrl-C again leaves", ">"],
    "press C-c C-c",
    /^Ctrl-C again leaves\n>\n\[130\]\$$/m,
  );
});

test("Ctrl-C with TERM=dumb drops a run; at the prompt, two of them leave", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play("enter TERM=dumb agent-gateway -q", /^>$/m);
  // The second one within 2 s leaves; a later one counts as a first one again.
  let shown = "";
  for (let count = 1; !shown.endsWith("[130]$"); count++) {
    await screen.press("C-c");
    const again = `(?:> \\^C\nCtrl-C again leaves\n){${count}}>$`;
    shown = await screen.waitFor(RegExp(`${again}|> \\^C\n\\[130\\]\\$$`));
  }

  assertStringIncludes(shown, "Ctrl-C again leaves");

  await screen.play(
    "enter TERM=dumb agent-gateway",
    /: exit\n>$/,
    "enter hello",
  );
  run.progress("plan", "started");
  await screen.play(
    /^plan: started$/m, // The headers of the stream are read.
    "press C-c",
    /Stopped following the run\. The run may continue on the service\.\n>$/,
  );
  await run.dropped;
});
