import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { complete, events, json } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  addStream,
  promptsOf,
  serveStreams,
} from "../support/service/service.ts";
import { banner, openChat, QUIET, test } from "../support/tmux_screen.ts";

test("a session: banner, prompt, progress, reply, next prompt (interface 1)", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await openChat(service, { isQuiet: false });

  await screen.enter("hello");
  const rows = [...banner(service), "> hello"];
  await screen.shows(...rows, "⠋ waiting  0.0 s  Ctrl-C stops");
  run.progress("plan", "started");
  await screen.shows(...rows, "⠋ plan: started  0.0 s  Ctrl-C stops");
  run.progress("plan", "two steps");
  await screen.shows(...rows, "⠋ plan: two steps  0.0 s  Ctrl-C stops");
  run.progress("write", "started");
  rows.push("  plan: two steps  0.0 s");
  await screen.shows(...rows, "⠋ write: started  0.0 s  Ctrl-C stops");
  run.complete("Hello!\nI am the brain.");

  rows.push("  write: started  0.0 s", "✓ total  0.0 s", "");
  await screen.shows(...rows, "Hello!", "I am the brain.", "", ">");
});

test("an error says what to do, and the next prompt works (interface 7)", async () => {
  await using service = serveStreams();
  service.misbehave("create run", json({ message: "Wrong key" }, 401));
  addStream(service, events([complete("Better.")]));
  await using screen = await openChat(service, { isQuiet: false });

  await screen.enter("one");
  const text = await screen.waitFor(/^error: [^]*^>/m);
  assertMatch(text.replaceAll("\n", ""), /> oneerror: .*401.*APP_API_KEY.*>/);
  assertStringIncludes(
    await screen.colours(),
    "\x1b[31merror:\x1b[39m The service",
  );

  await screen.play("enter two", /^> two\n✓ total .* s\n\nBetter\.\n\n>$/m);
});

test("what is typed during a run is shown below it, and waits for its turn", async () => {
  const first = new GatedStream();
  const second = new GatedStream();
  await using service = serveStreams(first.behaviour, second.behaviour);
  await using screen = await openChat(service, { isQuiet: false });
  await screen.enter("one");
  first.progress("plan", "started");
  await screen.play("see plan: started", "enter two", "type thre");
  first.progress("plan", "done");
  const rows = [...banner(service), "> one"];
  const status = "⠋ plan: done  0.0 s  Ctrl-C stops";
  await screen.shows(...rows, status, "queued: two", "> thre");
  first.complete("1");
  rows.push("✓ plan: done  0.0 s", "✓ total  0.0 s", "", "1", "", "> two");
  await screen.shows(...rows, "⠋ waiting  0.0 s  Ctrl-C stops", "> thre");
  second.complete("2");
  rows.push("✓ total  0.0 s", "", "2", "");
  await screen.play([...rows, "> thre"], "type e", [...rows, "> three"]);
  assertEquals(promptsOf(service), ["one", "two"]);
});

for (const columns of [40, 80]) {
  test(`on ${columns} columns, a prompt of several lines is edited line by line, and sent once`, async () => {
    await using service = serveStreams(events([complete("I see.")]));
    await using screen = await openChat(service, { columns });

    const rows = [...QUIET, "> first"];
    await screen.press("first", "C-j", "third"); // in one read, or in several
    await screen.play("press Up End M-Enter", "type second");
    rows.push("  second");
    await screen.play([...rows, "  third"], "press Enter", [
      ...rows,
      "  third",
      "",
      "I see.",
      "",
      ">",
    ]);
    assertEquals(promptsOf(service), ["first\nsecond\nthird"]);
  });

  test(`on ${columns} columns, a paste is shown, not sent, and undone at once`, async () => {
    await using service = serveStreams(events([complete("I see.")]));
    await using screen = await openChat(service, { columns });

    await screen.type("see: ");
    await screen.paste("one\ntwo\n");
    await screen.play([...QUIET, "> see: one", "  two"], "press C-_", [
      ...QUIET,
      "> see:",
    ]);
    await screen.paste("one\ntwo");
    await screen.play("press Enter", [
      ...QUIET,
      "> see: one",
      "  two",
      "",
      "I see.",
      "",
      ">",
    ]);
    assertEquals(promptsOf(service), ["see: one\ntwo"]);
  });

  test(`on ${columns} columns, wide and joined characters are drawn right at the last column`, async () => {
    await using service = serveStreams();
    await using screen = await openChat(service, { columns });

    await screen.type("a" + "汉".repeat(60));
    const room = Math.floor((columns - 3) / 2);
    const text = (first: string, count: number) => {
      const later = "汉".repeat(count - room).match(
        new RegExp(`.{1,${columns / 2}}`, "g"),
      ) ?? [];
      return [first + "汉".repeat(room), ...later];
    };
    await screen.play(
      [...QUIET, ...text("> a", 60)],
      "press C-a Right Delete Delete",
      [...QUIET, ...text("> a", 58)],
      "type e\u0301",
      "press C-a Delete",
      [...QUIET, ...text("> e\u0301", 58)],
    );
  });
}

test("a prompt higher than the screen scrolls, and is there as a whole when it was sent", async () => {
  await using service = serveStreams(events([complete("I see.")]));
  await using screen = await openChat(service, { columns: 60, rows: 10 });
  const words = Array.from({ length: 300 }, (_, i) => ` ${1000 + i}`).join("");
  await screen.paste(`Look:${words}`);
  const rows = (`> Look:${words}`).match(/.{1,60}/g) ?? [];
  const shown = rows.map((row) => row.trimEnd());
  await screen.waitFor(`${shown.slice(-9).join("\n")}`);

  await screen.play(
    "press C-a",
    "type !",
    /^> !Look: 1000 /m,
    "press Enter",
    /1299\n✓?[^]*I see\.\n\n>$/,
  );
  assertEquals(promptsOf(service), [`!Look:${words}`]);
});
