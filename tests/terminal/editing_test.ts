import { assertEquals, assertStringIncludes } from "@std/assert";
import { json } from "../support/service/behaviours.ts";
import { promptsOf } from "../support/service/service.ts";
import { BANNER, CHAT, QUIET, Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";

session(
  "a session: banner, prompt, progress, reply, next prompt (interface 1)",
  `${CHAT}
  enter hello
  | ...
  | > hello
  | ⠋ waiting  0.0 s  Ctrl-C stops
  progress plan: started
  | ...
  | > hello
  | ⠋ plan: started  0.0 s  Ctrl-C stops
  progress plan: two steps
  | ...
  | ⠋ plan: two steps  0.0 s  Ctrl-C stops
  progress write: started
  | ...
  |   plan: two steps  0.0 s
  | ⠋ write: started  0.0 s  Ctrl-C stops
  reply Hello!^JI am the brain.
  ${BANNER}
  | > hello
  |   plan: two steps  0.0 s
  |   write: started  0.0 s
  | ✓ total  0.0 s
  |
  | Hello!
  | I am the brain.
  |
  | >
`,
);

session(
  "an error says what to do, and the next prompt works (interface 7)",
  `${CHAT}
  enter one
  ${BANNER}
  | > one
  | error: The service rejected the API key (401: Wrong key). Check APP_API_KEY.
  |
  | >
  enter two
  reply Better.
  | ...
  | > two
  | ✓ total  0.0 s
  |
  | Better.
  |
  | >
`,
  {
    setUp: (service) =>
      service.misbehave("create run", json({ message: "Wrong key" }, 401)),
    check: async ({ screen }) => {
      const text = await screen.colours();
      assertStringIncludes(text, "\x1b[31merror:\x1b[39m The service");
    },
  },
);

session(
  "what is typed during a run is shown below it, and waits for its turn",
  `${CHAT}
  enter one
  progress plan: started
  | ...
  | ⠋ plan: started  0.0 s  Ctrl-C stops
  enter two
  type thre
  progress plan: done
  ${BANNER}
  | > one
  | ⠋ plan: done  0.0 s  Ctrl-C stops
  | queued: two
  | > thre
  reply 1
  ${BANNER}
  | > one
  | ✓ plan: done  0.0 s
  | ✓ total  0.0 s
  |
  | 1
  |
  | > two
  | ⠋ waiting  0.0 s  Ctrl-C stops
  | > thre
  reply 2
  | ...
  | > two
  | ✓ total  0.0 s
  |
  | 2
  |
  | > thre
  type e
  | ...
  | > three
  prompts one / two
`,
);

for (const columns of [40, 80]) {
  session(
    `on ${columns} columns, a prompt of several lines is edited line by line, and sent once`,
    `${QUIET}
    press first C-j third
    press Up End M-Enter
    type second
    | ...
    |
    | > first
    |   second
    |   third
    press Enter
    reply I see.
    | [0]$ agent-gateway -q
    |
    | > first
    |   second
    |   third
    |
    | I see.
    |
    | >
    prompts first^Jsecond^Jthird
  `,
    { columns },
  );

  session(
    `on ${columns} columns, a paste is shown, not sent, and undone at once`,
    `${QUIET}
    type see:
    paste one^Jtwo^J
    | ...
    |
    | > see:one
    |   two
    press C-_
    | ...
    |
    | > see:
    paste one^Jtwo
    press Enter
    reply I see.
    | [0]$ agent-gateway -q
    |
    | > see:one
    |   two
    |
    | I see.
    |
    | >
    prompts see:one^Jtwo
  `,
    { columns },
  );

  /** The rows of some wide characters after the first ones. */
  const wide = (first: string, count: number) => {
    const room = Math.floor((columns - 3) / 2);
    const later = "汉".repeat(count - room)
      .match(RegExp(`.{1,${columns / 2}}`, "g")) ?? [];
    const rows = ["[0]$ agent-gateway -q", "", first + "汉".repeat(room)];
    return [...rows, ...later].map((row) => `| ${row}\n`).join("");
  };
  session(
    `on ${columns} columns, wide and joined characters are drawn right at the last column`,
    `${QUIET}
    type a${"汉".repeat(60)}
    ${wide("> a", 60)}
    press C-a Right Delete Delete
    ${wide("> a", 58)}
    type e\u0301
    press C-a Delete
    ${wide("> e\u0301", 58)}
  `,
    { columns },
  );
}

test("a prompt higher than the screen scrolls, and is there as a whole when it was sent", async () => {
  await using session = await Session.open({ columns: 60, rows: 10 });
  const words = Array.from({ length: 300 }, (_, i) => ` ${1000 + i}`).join("");
  const rows = `> Look:${words}`.match(/.{1,60}/g) ?? [];
  const last = rows.slice(-9).map((row) => `| ${row.trimEnd()}\n`);
  await session.play(`${QUIET}
    paste Look:${words}
    | ...
    ${last.join("")}
    press C-a
    type !
    match ^> !Look: 1000
    press Enter
    reply I see.
    | ...
    |
    | I see.
    |
    | >`);
  assertEquals(promptsOf(session.service), [`!Look:${words}`]);
});
