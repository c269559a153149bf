import { runClient, settings } from "../support/client_process.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { serveStreams } from "../support/service/service.ts";
import { banner, Screen, test } from "../support/tmux_screen.ts";

/** Before Deno 2.9, a process needs a permission to signal itself: Ctrl-Z does nothing. */
const canStop = !/ \(deno 2\.[0-8]\./.test(
  (await runClient({ args: ["--version"], env: {} })).stdout,
);

test(`Ctrl-Z at the prompt ${canStop ? "stops, and fg goes on with" : "keeps"} what was typed`, async () => {
  await using service = serveStreams(events([complete("Welcome back.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway");
  const rows = banner(service);
  await screen.shows(...rows, ">");
  await screen.type("hel");
  await screen.shows(...rows, "> hel");

  await screen.press("C-z");
  if (canStop) {
    rows.push("> hel", "", "[1]+  Stopped                 agent-gateway");
    await screen.shows(...rows, "[148]$");
    await screen.enter("fg");
    rows.push("[148]$ fg", "agent-gateway");
    await screen.shows(...rows, "> hel");
  }

  await screen.enter("lo");
  rows.push("> hello", "✓ total  0.0 s", "", "Welcome back.", "");
  await screen.shows(...rows, ">");
});

test(`Ctrl-Z during a run ${canStop ? "stops, and fg shows how far it has come" : "does nothing"}`, async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway");
  const rows = banner(service);
  await screen.shows(...rows, ">");
  await screen.enter("hello");
  run.progress("plan", "started");
  rows.push("> hello");
  await screen.shows(...rows, "⠋ plan: started  0.0 s  Ctrl-C stops");

  await screen.press("C-z");
  if (canStop) {
    rows.push("⠋ plan: started  0.0 s  Ctrl-C stops", "");
    rows.push("[1]+  Stopped                 agent-gateway");
    await screen.shows(...rows, "[148]$");
  }
  run.progress("plan", "done");
  if (canStop) {
    await screen.enter("fg");
    rows.push("[148]$ fg", "agent-gateway");
  }
  await screen.shows(...rows, "⠋ plan: done  0.0 s  Ctrl-C stops");

  run.complete("Done.");
  rows.push("✓ plan: done  0.0 s", "✓ total  0.0 s", "", "Done.", "");
  await screen.shows(...rows, ">");
});
