import { assert, assertEquals, assertFalse } from "@std/assert";
import { json } from "../support/service/behaviours.ts";
import { BANNER, QUIET, Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";

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
  await using session = await Session.open({
    setUp: (service) => {
      service.misbehave("create thread", json({ thread_id: HOSTILE }));
      service.misbehave("create run", json({ message: HOSTILE }, 400));
    },
  });
  const { screen } = session;
  const title = await screen.title();
  await session.play(`
    enter agent-gateway
    ${BANNER.replace("thread-1", "abcdefghijkl")}
    | >
    enter one
    | ...
    | > one
    | error: The service answered 400: abcdefghijkl.
    |
    | >
    enter two`);
  session.run.progress(HOSTILE, HOSTILE);
  await session.play(`
    | ...
    | > two
    | ⠋ abcdefghijkl: abcdefghijkl  0.0 s  Ctrl-C stops`);
  session.reply(`${HOSTILE}\n\t${HOSTILE}\r\n`);
  await session.play(`
    ${BANNER.replace("thread-1", "abcdefghijkl")}
    | > one
    | error: The service answered 400: abcdefghijkl.
    |
    | > two
    |   abcdefghijkl: abcdefghijkl  0.0 s
    | ✓ total  0.0 s
    |
    | abcdefghijkl
    |         abcdefghijkl
    |
    |
    | >`);
  assertEquals(await screen.title(), title);
  // OSC, DCS, reset, C1 CSI and a bell: the program itself does not use them.
  for (const code of ["\x1b]", "\x1bP", "\x1bc", "\x9b", "\x07"]) {
    assertFalse(screen.written.includes(code), JSON.stringify(code));
  }
});

session(
  "standard error that is redirected gets plain lines, and a reply is cleaned and styled all the same",
  `
  enter agent-gateway 2> log
  asked create thread
  enter hello
  progress plan: done
  reply ^[[31m**all**^[[m
  | [0]$ agent-gateway 2> log
  | hello
  | **all**
  press C-d
  | ...
  | **all**
  | [0]$
  enter cat -v log
  | [0]$ agent-gateway 2> log
  | hello
  | **all**
  | [0]$ cat -v log
  ${BANNER.slice(BANNER.indexOf("|", 5), BANNER.indexOf("| Ctrl-J"))}
  | plan: done
  | [0]$
`,
  {
    check({ screen }) {
      const styled = "\x1b[1m**all**\x1b[22m";
      assert(screen.written.includes(styled));
      assertFalse(screen.written.replace(styled, "").includes("\x1b"));
    },
  },
);

session(
  "a reply that is redirected is not changed, and the prompt stays on the terminal",
  `
  enter agent-gateway -q > reply
  | [0]$ agent-gateway -q > reply
  |
  | >
  enter hello
  reply ^[[31mred^[[m
  | ...
  | > hello
  |
  | >
  press C-d
  | ...
  | >
  | [0]$
  enter cat -v reply
  | [0]$ agent-gateway -q > reply
  |
  | > hello
  |
  | >
  | [0]$ cat -v reply
  | ^[[31mred^[[m
  | [0]$
`,
);

for (const setting of ["TERM=", "env -u TERM", "CI=true"]) {
  session(
    `${setting} yields plain lines, a prompt sign, no escape codes`,
    `
    enter ${setting} agent-gateway
    | ...
    | thread thread-1
    | Ctrl-C: stop, command: exit
    | >
    enter hello
    progress plan: started
    progress plan: done
    reply Hello!
    | ...
    | > hello
    | plan: started
    | plan: done
    | Hello!
    | >
    press C-d
    | ...
    | >
    | agent-gateway --thread thread-1
    | [0]$
  `,
    {
      check: ({ screen }) => assertFalse(screen.written.includes("\x1b")),
    },
  );
}

test("a resize erases nothing above the status line and the prompt; copies of them may stay", async () => {
  await using session = await Session.open();
  const { screen } = session;
  await session.play(`${QUIET}
    enter hello
    reply one^Jtwo^Jthree
    | ...
    | three
    |
    | >`);
  let prompt = "> How many rows does a line take, and who tells the terminal?";
  await screen.type(prompt.slice(2));
  for (const columns of [57, 100, 30, 80]) {
    await screen.resize(columns);
    await screen.type("!");
    prompt += "!";
    const rows = prompt.match(RegExp(`.{1,${columns}}`, "g")) ?? [];
    const shown = rows.map((row) => row.trimEnd()).join("\n");
    const text = await screen.waitFor(shown);
    assert(text.includes("> hello\n\none\ntwo\nthree\n\n"), text);
  }
});

session(
  "NO_COLOR=1 leaves no colour (https://no-color.org)",
  `
  enter NO_COLOR=1 agent-gateway
  | ...
  |
  | >
  enter plan
  progress plan: done
  reply # Plan^J^J- **all** \`tests\`
  | ...
  | - **all** \`tests\`
  |
  | >
  enter again
  match ^error: 
`,
  {
    setUp(service) {
      service.misbehave("create run", json({ run_id: "run-1" }));
      service.misbehave("create run", json({}, 400));
    },
    async check({ screen }) {
      assertFalse((await screen.colours()).includes("\x1b"));
    },
  },
);

session(
  "-p in a terminal shows the reply alone, without a control character",
  `
  enter agent-gateway -q -p one
  reply # One^J^[[2Jtwo
  | [0]$ agent-gateway -q -p one
  | # One
  | two
  | [0]$
  prompts one
`,
  {
    check: ({ screen }) => assertFalse(screen.written.includes("\x1b[?")), // a mode
  },
);

session(
  "- in a terminal takes what is typed up to Ctrl-D as one prompt",
  `
  enter agent-gateway -q -p why -
  enter one
  enter two
  press C-d
  reply 1
  match ^1$
  prompts why^J^Jone^Jtwo
`,
);
