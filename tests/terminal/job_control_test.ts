import { isNewDeno } from "../support/client_process.ts";
import { BANNER, CHAT, Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";

const SHELLS = {
  bash: "bash --norc --noprofile",
  dash: "dash",
  busybox: "busybox sh",
  zsh: "zsh -f",
  fish: "fish --no-config --private",
};
// Before Deno 2.9, a process may not signal itself: Ctrl-Z has no effect.
const canStop = await isNewDeno();
for (const [tool, command] of canStop ? Object.entries(SHELLS) : []) {
  session(
    `Ctrl-Z gives ${tool} the terminal as it was, and fg goes on with what was typed`,
    `
    enter exec ${command}
    enter stty -g > before; agent-gateway -q
    match ^>$
    type hel
    match ^> hel$
    press C-z
    match ^> hel\\n[^]*\\S
    enter stty -g | cmp - before && echo as before
    match ^(?:\\S+ ){0,2}as before$
    enter fg
    match as before[^]*^> hel$
    enter lo
    reply I am back.
    match ^> hello\\n\\nI am back\\.$
  `,
    { tool },
  );
}

if (canStop) {
  session(
    "Ctrl-Z during a run stops, and fg shows how far it has come",
    `${CHAT}
    enter hello
    progress plan: started
    | ...
    | > hello
    | ⠋ plan: started  0.0 s  Ctrl-C stops
    press C-z
    | ...
    | ⠋ plan: started  0.0 s  Ctrl-C stops
    |
    | [1]+  Stopped                 agent-gateway
    | [148]$
    progress plan: done
    enter fg
    | ...
    | [148]$ fg
    | agent-gateway
    | ⠋ plan: done  0.0 s  Ctrl-C stops
    reply Done.
    ${BANNER}
    | > hello
    | ⠋ plan: started  0.0 s  Ctrl-C stops
    |
    | [1]+  Stopped                 agent-gateway
    | [148]$ fg
    | agent-gateway
    | ✓ plan: done  0.0 s
    | ✓ total  0.0 s
    |
    | Done.
    |
    | >
  `,
  );

  test("a chat that is stopped beyond --timeout shows the reply that came, or says what became of its prompt, and continues", async () => {
    const play = async (came: string, then: string) => {
      await using session = await Session.open();
      await session.play(`
        enter agent-gateway --timeout 20
        | ...
        | >
        enter one
        progress plan: started
        match plan: started
        press C-z
        match \\[148\\]\\$$
        ${came}`);
      // As long as a user is away: nothing waits for this.
      await new Promise((resolve) => setTimeout(resolve, 22_000));
      await session.play(`
        enter fg
        ${then}
        enter two
        reply I am back.
        match ^I am back\\.\\n\\n>$`);
    };
    const lost = `
        match within 20 s\\. The run may still continue\\.[^]*^>$
        dropped`;
    await Promise.all([
      play("reply Done.", "match ^Done\\.\\n\\n>$"),
      play("", lost),
    ]);
  });
}

test("Ctrl-Z has no effect where no shell could continue the program", async () => {
  await using session = await Session.open();
  await session.play(`
    enter exec agent-gateway -q
    match ^>$
    type hel
    match ^> hel$`);
  // Until the program has redrawn its prompt, the terminal turns Enter into Ctrl-J.
  await session.screen.pressAlone("C-z", "\x1b[?2004h");
  await session.play(`
    enter lo
    reply I am here.
    match ^> hello\\n\\nI am here\\.$`);
});
