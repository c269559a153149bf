import { assert, assertEquals, assertMatch } from "@std/assert";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { serveStreams } from "../support/service/service.ts";
import { openChat, test } from "../support/tmux_screen.ts";

const REPLY = "# A\n- **b** *c* `d`\n> e\n\n```diff\n@@ -1 +1 @@\n-f\n+g\n```";

/** What is coloured. Each says the same without its colour: see docs/accessibility.md. */
const COLOURED = [
  ...["✓", "✗", "error:"],
  ...["-", "`", ">", "```", "@@ -1 +1 @@", "-f", "+g"], // of a reply
];

test("what is coloured says the same without its colour, and only three colours of the terminal are used", async () => {
  const run = new GatedStream();
  const failed = events([{ event: "error" }]);
  const streams = [events([complete(REPLY)]), failed, run.behaviour];
  await using service = serveStreams(...streams);
  await using screen = await openChat(service, { isQuiet: false });
  await screen.enter("one");
  await screen.waitFor(/\+g\n```\n\n>$/);
  await screen.enter("two");
  await screen.waitFor("error: ");
  await screen.enter("three");
  run.progress("plan", "started");
  await screen.enter("four");
  await screen.press("C-r", "o");
  await screen.waitFor(/plan: started.*\n> four\n> four\nsearch: o$/);
  await screen.press("C-g", "C-c");
  await screen.waitFor("Stopped following the run, and dropped 1");
  await screen.enter("exit");
  await screen.waitFor(/--thread thread-1\n\[0\]\$/);

  let isColoured = false;
  const coloured = new Set<string>();
  for (const part of `39m${screen.written}`.split("\x1b[")) {
    const [, code, text = ""] =
      /^(?:(\d*)m|[?\d;]*[A-Za-z])([^]*)$/.exec(part) ??
        [];
    if (code !== undefined) assertMatch(code, /^(?:1|3|22|23|31|32|36|39)$/);
    if (/^3\d$/.test(code ?? "")) isColoured = code !== "39";
    if (isColoured && text.trim() !== "") coloured.add(text.trim());
  }
  assertEquals(coloured, new Set(COLOURED));
  assert(screen.written.includes("\x1b[36m-\x1b[39m \x1b[1m**b**\x1b[22m"));
});
