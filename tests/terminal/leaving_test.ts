import { assertEquals } from "@std/assert";
import { isNewDeno, settings } from "../support/client_process.ts";
import { complete, events, json } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService, serveStreams } from "../support/service/service.ts";
import {
  banner,
  openChat,
  QUIET,
  Screen,
  test,
} from "../support/tmux_screen.ts";
import { until } from "../support/waits.ts";

const isNew = await isNewDeno();

/** What ends the program, with its exit code and the last rows, the prompt first. */
const ENDS: readonly (readonly [
  name: string,
  code: number,
  rows: readonly string[],
  end: (screen: Screen) => Promise<void>,
])[] = [
  ["EXIT (interface 1)", 0, ["> EXIT"], (screen) => screen.enter("EXIT")],
  ["Ctrl-D", 0, [">"], (screen) => screen.press("C-d")],
  ["Ctrl-\\", 131, [">"], (screen) => screen.press("'C-\\'")],
  ["SIGHUP", 129, [">", ...said("Hangup")], (screen) => screen.kill("SIGHUP")],
];

/** What bash says of a program that died of a signal. Deno before 2.9 cannot. */
function said(text: string): readonly string[] {
  return isNew ? [text] : [];
}

const SAVED = "[0]$ stty -g > before";

/** Opens a shell that has saved the state of its terminal. */
async function openShell(service: ReferenceService): Promise<Screen> {
  const screen = await Screen.open({ env: settings(service) });
  await screen.play("enter stty -g > before", [SAVED, "[0]$"]);
  return screen;
}

// deno-lint-ignore no-control-regex -- it is about escape codes
const DEC_MODE = /\x1b\[\?(\d+)([a-z])/g;

/**
 * Waits until the shell says that the terminal is as it was. Of its modes, wrapping (7)
 * is on, and bracketed paste (2004) is off, as shells expect; no other was switched.
 */
async function isAsBefore(screen: Screen): Promise<void> {
  const modes = new Map([["7", "h"], ["2004", "l"]]);
  for (const [, mode = "", final = ""] of screen.written.matchAll(DEC_MODE)) {
    modes.set(mode, final);
  }
  assertEquals(Object.fromEntries(modes), { 7: "h", 2004: "l" });
  await screen.play(
    "enter stty -g | cmp - before && echo as before",
    /^as before$/m,
  );
}

for (const [name, code, lastRows, end] of ENDS) {
  test(`${name} at the prompt exits ${code}, and the terminal is as before`, async () => {
    await using service = serveStreams();
    await using screen = await openShell(service);
    await screen.enter("agent-gateway");
    const rows = [SAVED, ...banner(service)];
    await screen.shows(...rows, ">");

    await end(screen);

    await screen.shows(...rows, ...lastRows, `[${code}]$`);
    await isAsBefore(screen);
  });
}

test("SIGTERM during a run exits 143, and the terminal is as before", async () => {
  const run = new GatedStream();
  await using service = serveStreams(run.behaviour);
  await using screen = await openShell(service);
  await screen.enter("agent-gateway");
  const rows = [SAVED, ...banner(service)];
  await screen.play([...rows, ">"], "enter hello");
  run.progress("plan", "started");
  await screen.shows(
    ...rows,
    "> hello",
    "⠋ plan: started  0.0 s  Ctrl-C stops",
  );

  await screen.kill("SIGTERM");

  await screen.shows(
    ...rows,
    "> hello",
    "✗ plan: started  0.0 s",
    "✗ total  0.0 s",
    "agent-gateway --thread thread-1",
    ...said("Terminated"),
    "[143]$",
  );
  await isAsBefore(screen);
});

test("a thread that cannot be created exits 1, and the terminal is as before (interface 7)", async () => {
  await using service = ReferenceService.start();
  service.misbehave("create thread", json({}));
  await using screen = await openShell(service);

  await screen.play("enter agent-gateway -q", [
    SAVED,
    "[0]$ agent-gateway -q",
    'error: The answer contains no thread_id. The service should answer {"thread_id":',
    '"..."}.',
    "[1]$",
  ]);
  await isAsBefore(screen);
});

for (const signal of ["SIGTERM", "SIGQUIT"] as const) {
  test(
    `${signal} ends a chat whose terminal takes nothing any more of a reply`,
    async () => {
      const reply = "a line of the reply\n".repeat(100_000);
      await using service = serveStreams(events([complete(reply)]));
      await using screen = await openChat(service);
      const pid = await screen.pid();
      await screen.play("enter hello", "see a line of the reply");
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
        await until(() => !isRunning(pid), 5_000);
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

test("Ctrl-D during a run waits for the replies to what was typed before", async () => {
  const first = new GatedStream();
  const second = new GatedStream();
  await using service = serveStreams(first.behaviour, second.behaviour);
  await using screen = await openChat(service);
  await screen.enter("one");
  await first.opened;

  await screen.press("t", "w", "o", "Enter", "C-d");
  first.complete("1");
  await screen.waitFor(/^> two$/m);
  second.complete("2");

  await screen.shows(
    ...[...QUIET, "> one", "", "1", "", "> two", "", "2"],
    "[0]$",
  );
});
