import { assertFalse } from "@std/assert";
import { isNewDeno } from "../support/client_process.ts";
import { hang } from "../support/service/behaviours.ts";
import { BANNER, CHAT, QUIET, Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";

session(
  "Ctrl-C drops a run and the prompts that wait, and what is typed stays",
  `${CHAT}
  enter one
  progress plan: started
  | ...
  | ⠋ plan: started  0.0 s  Ctrl-C stops
  enter two
  enter three
  type fo
  | ...
  | queued: two
  | queued: three
  | > fo
  press C-c
  ${BANNER}
  | > one
  | ✗ plan: started  0.0 s
  | ✗ total  0.0 s
  | Stopped following the run, and dropped 2 queued prompts. The run may continue on
  |  the service.
  |
  | > fo
  dropped
  type ur
  press Up
  | ...
  |
  | > three
  press Up
  | ...
  |
  | > two
  press Enter
  reply Two.
  | ...
  | > two
  | ✓ total  0.0 s
  |
  | Two.
  |
  | >
  prompts one / two
`,
);

session(
  "Ctrl-C before a run is answered says that it may have started, and who leaves is told how to continue",
  `${CHAT}
  enter one
  asked create run
  press C-c
  ${BANNER}
  | > one
  | Stopped waiting for an answer. The run may have started.
  |
  | >
  press C-d
  | ...
  |
  | >
  | agent-gateway --thread thread-1
  | [0]$
`,
  { setUp: (service) => service.misbehave("create run", hang()) },
);

// Before Deno 2.9, a process may not signal itself.
if (await isNewDeno()) {
  session(
    "one Ctrl-C ends the loop of a shell, and starts no other run",
    `
    enter for i in 1 2; do agent-gateway -q -p $i; done
    asked
    press C-c
    match \\[130\\]\\$$
    prompts 1
  `,
  );
}

/** A reply that takes a terminal a while. */
const LONG_REPLY = Array.from({ length: 1_000_000 }, (_, i) => `line ${i}`)
  .join("\n");
for (const dumb of ["", "TERM=dumb "]) {
  test(`${dumb}Ctrl-C stops a reply that is being written, and the next prompt works`, async () => {
    await using session = await Session.open();
    session.reply(LONG_REPLY);
    await session.play(`
      enter ${dumb}agent-gateway -q
      | ...
      | >
      enter much
      match ^line \\d+$
      press C-c`);
    // The terminal echoes a Ctrl-C, and drops what it has not shown yet.
    const text = await session.screen.waitFor(
      /Dropped the rest of the reply\.\n+>$/,
    );
    assertFalse(text.includes("line 999999"), text);
    await session.play(`
      enter more
      reply Short.
      match ^> more\\n+Short\\.\\n+>$
      press C-d
      match \\[0\\]\\$$`);
  });
}

/** Presses Ctrl-C until the program has left: two that are too far apart do not. */
async function leave({ screen }: Session): Promise<void> {
  for (let text = await screen.text(); !text.endsWith("[130]$");) {
    const count = text.split("again leaves").length;
    await screen.press("C-c");
    const next = `(again leaves[^]*){${count}}>$|\\[130\\]\\$$`;
    text = await screen.waitFor(RegExp(next));
  }
}

test("Ctrl-C clears what was typed, and Up brings it back; two at an empty prompt leave", async () => {
  await using session = await Session.open();
  await session.play(`${QUIET}
    type one
    press M-Enter
    type two
    | ...
    | > one
    |   two
    press C-c
    | ...
    |
    | >
    press C-c
    | ...
    | Ctrl-C again leaves
    | >
    press Up
    | ...
    | Ctrl-C again leaves
    | > one
    |   two
    press C-c
    | ...
    | Ctrl-C again leaves
    | >`);
  await leave(session);
  await session.play(`
    | ...
    | Ctrl-C again leaves
    | >
    | [130]$`);
});

test("Ctrl-C with TERM=dumb drops a run; at the prompt, two of them leave", async () => {
  await using session = await Session.open();
  await session.play(`
    enter TERM=dumb agent-gateway -q
    | ...
    | >`);
  await leave(session);
  await session.play(`
    | ...
    | > ^C
    | Ctrl-C again leaves
    | > ^C
    | [130]$
    enter TERM=dumb agent-gateway
    | ...
    | Ctrl-C: stop, command: exit
    | >
    enter hello
    progress plan: started
    match ^plan: started$
    press C-c
    | ...
    | ^CStopped following the run. The run may continue on the service.
    | >
    dropped`);
});
