import {
  assert,
  assertEquals,
  assertFalse,
  assertStringIncludes,
} from "@std/assert";
import { settings } from "../support/client_process.ts";
import {
  complete,
  events,
  json,
  progress,
} from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import {
  addStream,
  promptsOf,
  ReferenceService,
  serveStreams,
} from "../support/service/service.ts";
import {
  banner,
  KEYS,
  openChat,
  Screen,
  test,
} from "../support/tmux_screen.ts";

/** The text `abcdefghijkl`, with commands to a terminal in between. */
const HOSTILE = [
  "a\x1b[31mb", // red
  "\x1b[2J\x1b[Hc", // clear the screen
  "\x1b]0;owned\x07d", // retitle
  "\x1b]8;;https://evil.example\x07e\x1b]8;;\x07", // link
  "\x1b]52;c;b3duZWQ=\x07f", // write to the clipboard
  "\x1bPq#0;2;0;0;0\x1b\\g", // draw a picture
  "\x9b31mh\x9d0;owned\x9ci", // the same in C1
  "\u202ej\u202c", // right to left
  "\x07\x08\x0e\x7fk\x1bc", // bell, backspace, reset
  "\x1b[?1049hl", // another screen
].join("");

test("text from the service cannot command the terminal", async () => {
  const run = new GatedStream();
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({ thread_id: HOSTILE }));
  service.misbehave("create run", json({ message: HOSTILE }, 400));
  addStream(service, run.behaviour);
  await using screen = await Screen.open({ env: settings(service) });
  const title = await screen.title();

  await screen.enter("agent-gateway");
  const rows = [
    ...banner(service).slice(0, 3),
    "thread abcdefghijkl",
    KEYS,
    "",
  ];
  await screen.play([...rows, ">"], "enter one");
  rows.push(
    "> one",
    "error: The service answered 400: abcdefghijkl.",
    "",
  );
  await screen.play([...rows, ">"], "enter two");
  run.progress(HOSTILE, HOSTILE);
  rows.push("> two");
  await screen.shows(
    ...rows,
    "⠋ abcdefghijkl: abcdefghijkl  0.0 s  Ctrl-C stops",
  );
  run.complete(`${HOSTILE}\n\t${HOSTILE}\r\n`);
  rows.push("  abcdefghijkl: abcdefghijkl  0.0 s", "✓ total  0.0 s", "");
  rows.push("abcdefghijkl", "        abcdefghijkl", "", "");
  await screen.shows(...rows, ">");

  assertEquals(await screen.title(), title);
  // OSC, DCS, reset, C1 CSI and a bell: the program itself does not use them.
  for (const code of ["\x1b]", "\x1bP", "\x1bc", "\x9b", "\x07"]) {
    assertFalse(screen.written.includes(code), JSON.stringify(code));
  }
});

test("standard error that is redirected gets plain lines, and a reply is cleaned and styled all the same", async () => {
  await using service = serveStreams(
    events([progress("plan", "done"), complete("\x1b[31m**all**\x1b[m")]),
  );
  await using screen = await Screen.open({ env: settings(service) });

  await screen.enter("agent-gateway 2> log");
  await service.waitFor("create thread");
  await screen.enter("hello");
  const rows = ["[0]$ agent-gateway 2> log", "hello", "**all**"];
  await screen.shows(...rows);
  const styled = "\x1b[1m**all**\x1b[22m";
  assert(screen.written.includes(styled));
  assertFalse(screen.written.replace(styled, "").includes("\x1b"));

  await screen.play("press C-d", [...rows, "[0]$"], "enter cat -v log", [...[
    ...rows,
    "[0]$ cat -v log",
    ...banner(service).slice(1, 4),
  ], ...["plan: done", "[0]$"]]);
});

test("a reply that is redirected is not changed, and the prompt stays on the terminal", async () => {
  const reply = events([complete("\x1b[31mred\x1b[m")]);
  await using service = serveStreams(reply);
  await using screen = await Screen.open({ env: settings(service) });

  await screen.play("enter agent-gateway -q > reply", [
    "[0]$ agent-gateway -q > reply",
    "",
    ">",
  ], "enter hello");
  const rows = ["[0]$ agent-gateway -q > reply", "", "> hello", ""];
  await screen.play(
    [...rows, ">"],
    "press C-d",
    [...rows, ">", "[0]$"],
    "enter cat -v reply",
    [...[...rows, ">", "[0]$ cat -v reply", "^[[31mred^[[m", "[0]$"]],
  );
});

for (const setting of ["TERM=", "env -u TERM", "CI=true"]) {
  test(`${setting} yields plain lines, a prompt sign, no escape codes`, async () => {
    const stream = events([
      progress("plan", "started"),
      progress("plan", "done"),
      complete("Hello!"),
    ]);
    await using service = serveStreams(stream);
    await using screen = await Screen.open({ env: settings(service) });

    await screen.enter(`${setting} agent-gateway`);
    const [, ...rows] = banner(service).slice(0, 4);
    rows.push("Ctrl-C: stop, command: exit");
    await screen.play(
      [`[0]$ ${setting} agent-gateway`, ...rows, ">"],
      "enter hello",
      /^> hello\nplan: started\nplan: done\nHello!\n>$/m,
      "press C-d",
      /^>\nagent-gateway --thread thread-1\n\[0\]\$$/m,
    );

    assertFalse(screen.written.includes("\x1b"));
  });
}

test("a resize erases nothing above the status line and the prompt; copies of them may stay", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await openChat(service);
  await screen.enter("hello");
  await run.opened;
  run.complete("one\ntwo\nthree");
  const above = "> hello\n\none\ntwo\nthree\n\n";
  await screen.waitFor(`${above}>`);
  let prompt = "> How many rows does a line take, and who tells the terminal?";
  await screen.type(prompt.slice(2));

  for (const columns of [57, 100, 30, 80]) {
    await screen.resize(columns);
    await screen.type("!");
    prompt += "!";
    const rows = prompt.match(RegExp(`.{1,${columns}}`, "g")) ?? [];
    const shown = rows.map((row) => row.trimEnd()).join("\n");
    assertStringIncludes(await screen.waitFor(shown), above);
  }
});

test("NO_COLOR=1 leaves no colour (https://no-color.org)", async () => {
  await using service = serveStreams(
    events([progress("plan", "done"), complete("# Plan\n\n- **all** `tests`")]),
    events([]),
  );
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play(
    "enter NO_COLOR=1 agent-gateway",
    /^>$/m,
    "enter plan",
    "see \n- **all** `tests`\n",
    "enter again",
    "see error: ",
  );

  assertFalse((await screen.colours()).includes("\x1b"));
});

test("-p in a terminal shows the reply alone, without a control character", async () => {
  await using service = serveStreams(events([complete("# One\n\x1b[2Jtwo")]));
  await using screen = await Screen.open({ env: settings(service) });

  await screen.play("enter agent-gateway -q -p one", [
    "[0]$ agent-gateway -q -p one",
    "# One",
    "two",
    "[0]$",
  ]);
  assertFalse(screen.written.includes("\x1b[?")); // no mode was switched
  assertEquals(promptsOf(service), ["one"]);
});

test("- in a terminal takes what is typed up to Ctrl-D as one prompt", async () => {
  await using service = serveStreams(events([complete("1")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play(
    "enter agent-gateway -q -p why -",
    "enter one",
    "enter two",
    "press C-d",
    /^1$/m,
  );
  assertEquals(promptsOf(service), ["why\n\none\ntwo"]);
});
