import { assertEquals, assertFalse, assertNotMatch } from "@std/assert";
import { settings } from "../support/client_process.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { serveStreams } from "../support/service/service.ts";
import { banner, Screen, test } from "../support/tmux_screen.ts";

test("--plain shows progress as lines, the total at the end, and no spinner; what is typed during a run shows when the prompt is back", async () => {
  const run = new GatedStream();
  const second = events([complete("**Two.**")]);
  await using service = serveStreams(run.behaviour, second);
  await using screen = await Screen.open({ env: settings(service) });
  await screen.enter("agent-gateway --plain");
  const rows = banner(service).map((row) => row.replace(/; screen .*/, ""));
  rows[0] = "[0]$ agent-gateway --plain";
  await screen.play([...rows, ">"], "enter one");
  run.progress("plan", "started");
  rows.push("> one", "plan: started");
  await screen.shows(...rows);

  const { length } = screen.written;
  await screen.type("two");
  run.progress("plan", "done");
  run.progress("write", "started");
  rows.push("plan: done", "write: started");
  await screen.shows(...rows);
  const lines = screen.written.slice(length);
  assertEquals(lines, "plan: done\r\nwrite: started\r\n");
  run.complete("One.");
  rows.push("total 0.0 s", "", "One.", "");
  await screen.play([...rows, "> two"], "press Enter", [
    ...rows,
    "> two",
    "total 0.0 s",
    "",
    "**Two.**",
    "",
    ">",
  ]);
  assertNotMatch(screen.written, RegExp("\x1b\\[[\\d;]*m")); // no style
});

test("-p writes the lines of a script, and draws nothing; Ctrl-C ends it with 130", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  const [, ...rows] = banner(service).slice(0, 4);
  rows.unshift("[0]$ agent-gateway -p hello");
  const { length } = screen.written;
  await screen.enter("agent-gateway -p hello");
  run.progress("plan", "started");
  run.progress("plan", "started");
  run.progress("write", "started");
  rows.push("plan: started", "write: started");
  await screen.shows(...rows);
  assertFalse(screen.written.slice(length).includes("\x1b"));

  await screen.play("press C-c", /^write: started\n(?:\^C)?\n?\[130\]\$$/m);
  await run.dropped;
});
