import { assertFalse, assertNotMatch } from "@std/assert";
import { Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";

test("--plain shows progress as lines, the total at the end, and no spinner; what is typed during a run shows when the prompt is back", async () => {
  await using session = await Session.open();
  const { screen } = session;
  await session.play(`
    enter agent-gateway --plain
    | ...
    | Ctrl-J: new line, Ctrl-C: stop, command: exit
    |
    | >
    enter one
    progress plan: started
    | ...
    | > one
    | plan: started
    type two
    progress plan: done
    progress write: started
    | ...
    | > one
    | plan: started
    | plan: done
    | write: started`);
  const [, after = ""] = screen.written.split("plan: started");
  assertNotMatch(after, RegExp("two|\x1b")); // neither echoed nor drawn
  await session.play(`
    reply One.
    | ...
    | write: started
    | total 0.0 s
    |
    | One.
    |
    | > two
    press Enter
    reply **Two.**
    | ...
    | > two
    | total 0.0 s
    |
    | **Two.**
    |
    | >`);
  assertNotMatch(screen.written, RegExp("\x1b\\[[\\d;]*m")); // no style
});

session(
  "-p writes the lines of a script, and draws nothing; Ctrl-C ends it with 130",
  `
  enter agent-gateway -p hello
  progress plan: started
  progress plan: started
  progress write: started
  | ...
  | thread thread-1
  | plan: started
  | write: started
  press C-c
  match ^write: started\\n(?:\\^C)?\\n?\\[130\\]\\$$
  dropped
`,
  {
    check: ({ screen }) => assertFalse(screen.written.includes("\x1b")),
  },
);
