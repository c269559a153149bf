import { assertEquals } from "@std/assert";
import { isNewDeno } from "../support/client_process.ts";
import { json } from "../support/service/behaviours.ts";
import { BANNER, QUIET, Session, session } from "../support/session.ts";
import { test } from "../support/tmux_screen.ts";
import { until } from "../support/waits.ts";

/** What bash says of a program that died of a signal. Deno before 2.9 cannot. */
const isNew = await isNewDeno();
const said = (text: string) => isNew ? `| ${text}` : "";

/** What ends the program at a prompt, or in a run, with the last rows. */
const ENDS: Readonly<Record<string, string>> = {
  "EXIT exits 0 (interface 1)": `
    enter EXIT
    | ...
    | > EXIT
    | [0]$`,
  "Ctrl-D exits 0": `
    press C-d
    | ...
    |
    | >
    | [0]$`,
  "Ctrl-\\ exits 131": `
    press 'C-\\'
    | ...
    |
    | >
    | [131]$`,
  "SIGHUP exits 129": `
    signal SIGHUP
    | ...
    |
    | >
    ${said("Hangup")}
    | [129]$`,
  "SIGTERM during a run exits 143": `
    enter hello
    progress plan: started
    | ...
    | ⠋ plan: started  0.0 s  Ctrl-C stops
    signal SIGTERM
    | ...
    | > hello
    | ✗ plan: started  0.0 s
    | ✗ total  0.0 s
    | agent-gateway --thread thread-1
    ${said("Terminated")}
    | [143]$`,
};

// deno-lint-ignore no-control-regex -- it is about escape codes
const DEC_MODE = /\x1b\[\?(\d+)([a-z])/g;

/**
 * The terminal is as it was. Of its modes, wrapping (7) is on, and bracketed paste (2004)
 * is off, as shells expect; no other was switched.
 */
async function isAsBefore(session: Session): Promise<void> {
  const modes = new Map([["7", "h"], ["2004", "l"]]);
  const { written } = session.screen;
  for (const [, mode = "", final = ""] of written.matchAll(DEC_MODE)) {
    modes.set(mode, final);
  }
  assertEquals(Object.fromEntries(modes), { 7: "h", 2004: "l" });
  await session.play(`
    enter stty -g | cmp - before && echo as before
    match ^as before$`);
}

for (const [what, script] of Object.entries(ENDS)) {
  session(
    `${what}, and the terminal is as before`,
    `
    enter stty -g > before
    | [0]$ stty -g > before
    | [0]$
    enter agent-gateway
    | ...${BANNER}
    | >
    ${script}
  `,
    { check: isAsBefore },
  );
}

session(
  "a thread that cannot be created exits 1, and the terminal is as before (interface 7)",
  `
  enter stty -g > before
  | [0]$ stty -g > before
  | [0]$
  enter agent-gateway -q
  | [0]$ stty -g > before
  | [0]$ agent-gateway -q
  | error: The answer contains no thread_id. The service should answer {"thread_id":
  | "..."}.
  | [1]$
`,
  {
    setUp: (service) => service.misbehave("create thread", json({})),
    check: isAsBefore,
  },
);

for (const signal of ["SIGTERM", "SIGQUIT"] as const) {
  test(
    `${signal} ends a chat whose terminal takes nothing any more of a reply`,
    async () => {
      await using session = await Session.open();
      const { screen } = session;
      session.reply("a line of the reply\n".repeat(100_000));
      await session.play(`${QUIET}
        enter hello
        match a line of the reply`);
      const pid = await screen.pid();
      {
        using _ = await screen.stop();
        // Until the terminal is full: then nothing more is written.
        let [before, now] = ["", await written(pid)];
        while (before !== now) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          [before, now] = [now, await written(pid)];
        }
        // A terminal sends SIGQUIT to all of a job, to the npm launcher's child, too.
        Deno.kill(signal === "SIGQUIT" ? -pid : pid, signal);
        await until(() => !isRunning(pid));
      }
      await screen.waitFor(signal === "SIGTERM" ? "[143]$" : "[131]$");
    },
    Deno.build.os === "linux" ? "tmux" : "/proc",
  );
}

/** How much a process has written. */
async function written(pid: number): Promise<string> {
  const args = ["wchar", `/proc/${pid}/io`];
  const { stdout } = await new Deno.Command("grep", { args }).output();
  return new TextDecoder().decode(stdout);
}

function isRunning(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGURG"); // It is ignored.
    return true;
  } catch {
    return false;
  }
}

session(
  "Ctrl-D during a run waits for the replies to what was typed before",
  `${QUIET}
  enter one
  asked
  press t w o Enter C-d
  | ...
  | queued: two
  | Leaves after the run; any key cancels
  reply 1
  match ^> two$
  reply 2
  | [0]$ agent-gateway -q
  |
  | > one
  |
  | 1
  |
  | > two
  |
  | 2
  | [0]$
`,
);
