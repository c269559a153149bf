import { assert, assertEquals } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { promptsOf, serveStreams } from "../support/service/service.ts";
import { banner, Screen, test } from "../support/tmux_screen.ts";

const LINES = 1_000_000;

/** A reply that takes a terminal a while. */
const LONG_REPLY = Array.from({ length: LINES }, (_, i) => `line ${i}`)
  .join("\n");

/** Longer than the second in which a Ctrl-C after a drop or a reply does nothing. */
function quietIsOver(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_100));
}

test("Ctrl-C drops a run and the prompts that wait, and what is typed stays", async () => {
  const run = new GatedStream();
  const answers = ["Two.", "Three."].map((text) => events([complete(text)]));
  await using service = serveStreams(run.behaviour, ...answers);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway");
  await screen.shows(...banner(service), ">");
  await screen.enter("one");
  run.progress("plan", "started");
  const rows = [...banner(service), "> one"];
  await screen.shows(...rows, "⠋ plan: started  0.0 s  Ctrl-C stops");
  await screen.enter("two");
  await screen.enter("three");
  await screen.type("fo");
  await screen.waitFor(/^> two\n> three\n> fo$/m);

  await screen.press("C-c");
  rows.push("✗ plan: started  0.0 s", "✗ total  0.0 s");
  rows.push(
    "Run dropped, and 2 waiting prompts; the run may still go on at the service",
    "",
  );
  await screen.shows(...rows, "> fo");
  await run.dropped;

  await screen.type("ur");
  await screen.press("Up");
  await screen.shows(...rows, "> three");
  await screen.press("Up");
  await screen.shows(...rows, "> two");
  await screen.press("Enter");
  await screen.shows(...rows, "> two", "✓ total  0.0 s", "", "Two.", "", ">");
  assertEquals(promptsOf(service), ["one", "two"]);
});

for (const dumb of ["", "TERM=dumb "]) {
  test(`${dumb}Ctrl-C stops a reply that is being written, and the next prompt works`, async () => {
    await using service = serveStreams(
      events([complete(LONG_REPLY)]),
      events([complete("Short.")]),
    );
    await using screen = await Screen.open({ env: settings(service) });
    await screen.enter(`${dumb}agent-gateway -q`);
    await screen.waitFor(/^>$/m);
    await screen.enter("much");
    await screen.waitFor(/^line \d+$/m);

    await screen.press("C-c");
    const shown = await screen.waitFor(
      /line (\d+)\n+Rest of the reply dropped\n+>$/,
    );
    const [, last] = /line (\d+)\n+Rest of/.exec(shown) ?? [];
    assert(Number(last) < LINES - 1, last);
    await screen.enter("more");

    await screen.waitFor(/^> more\n+Short\.\n+>$/m);
    await screen.press("C-d");
    await screen.waitFor(/\[0\]\$$/);
  });
}

test("Ctrl-C just after a reply does nothing; later, two of them leave", async () => {
  await using service = serveStreams(events([complete("Hello!")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -q");
  await screen.shows("[0]$ agent-gateway -q", "", ">");
  await screen.enter("hello");
  const rows = ["[0]$ agent-gateway -q", "", "> hello", "", "Hello!", ""];
  await screen.shows(...rows, ">");

  await screen.press("C-c");
  await quietIsOver(); // There is nothing to wait for.
  // On a busy machine, Ctrl-C may come more than a second after the reply.
  if ((await screen.text()).includes("leaves")) {
    rows.push("Ctrl-C again leaves");
    await quietIsOver();
  }
  await screen.type("still here");
  await screen.shows(...rows, "> still here");
  await screen.press("C-u");
  await screen.shows(...rows, ">");
  await screen.press("C-c");
  await screen.shows(...rows, "Ctrl-C again leaves", ">");
  await screen.press("C-c");

  await screen.shows(...rows, "Ctrl-C again leaves", ">", "[130]$");
});

test("Ctrl-C clears what was typed and does not count as the first of two; Up brings it back", async () => {
  await using service = serveStreams();
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway -q");
  const rows = ["[0]$ agent-gateway -q", ""];
  await screen.shows(...rows, ">");
  await screen.type("one");
  await screen.press("M-Enter");
  await screen.type("two");
  await screen.shows(...rows, "> one", "  two");

  await screen.press("C-c");
  await screen.shows(...rows, ">");
  await screen.press("C-c");
  rows.push("Ctrl-C again leaves");
  await screen.shows(...rows, ">");
  await screen.press("Up");

  await screen.shows(...rows, "> one", "  two");
});

test("Ctrl-C with TERM=dumb drops a run; at the prompt, two of them leave", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("TERM=dumb agent-gateway");
  await screen.waitFor(/^>$/m);
  await screen.enter("hello");
  run.progress("plan", "started");
  await screen.waitFor(/^plan: started$/m); // The headers of the stream are read.

  await screen.press("C-c");
  await screen.waitFor(
    /Run dropped; the run may still go on at the service\n>$/,
  );
  await run.dropped;
  await quietIsOver();
  await screen.press("C-c");
  await screen.waitFor(/^> \^C\nCtrl-C again leaves\n>$/m);
  await screen.press("C-c");

  await screen.waitFor(/^> \^C\n.+\n\[130\]\$$/m);
});
