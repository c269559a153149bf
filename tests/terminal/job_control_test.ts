import { isNewDeno, settings } from "../support/client_process.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { serveStreams } from "../support/service/service.ts";
import { banner, openChat, Screen, test } from "../support/tmux_screen.ts";

const SHELLS = [
  ["bash", "bash --norc --noprofile"],
  ["dash", "dash"],
  ["busybox", "busybox sh"],
  ["zsh", "zsh -f"],
  ["fish", "fish --no-config --private"],
] as const;
// Before Deno 2.9, a process may not signal itself: Ctrl-Z has no effect.
const canStop = await isNewDeno();
for (const [shell, command] of canStop ? SHELLS : []) {
  test(
    `Ctrl-Z gives ${shell} the terminal as it was, and fg goes on with what was typed`,
    async () => {
      await using service = serveStreams(events([complete("I am back.")]));
      await using screen = await Screen.open({ env: settings(service) });
      await screen.play(
        `enter exec ${command}`,
        "enter stty -g > before; agent-gateway -q",
        /^>$/m,
        "type hel",
        /^> hel$/m,
        "press C-z",
        /^> hel\n[^]*\S/m,
        "enter stty -g | cmp - before && echo as before",
        /^(?:\S+ ){0,2}as before$/m, // perhaps after a prompt
        "enter fg",
        /as before[^]*^> hel$/m,
        "enter lo",
        /^> hello\n\nI am back\.$/m,
      );
    },
    shell,
  );
}

canStop &&
  test("Ctrl-Z during a run stops, and fg shows how far it has come", async () => {
    const run = new GatedStream();
    await using service = serveStreams(run.behaviour);
    await using screen = await openChat(service, { isQuiet: false });
    const rows = banner(service);
    await screen.enter("hello");
    run.progress("plan", "started");
    rows.push("> hello");
    await screen.play(
      [...rows, "⠋ plan: started  0.0 s  Ctrl-C stops"],
      "press C-z",
    );
    rows.push("⠋ plan: started  0.0 s  Ctrl-C stops", "");
    rows.push("[1]+  Stopped                 agent-gateway");
    await screen.shows(...rows, "[148]$");
    run.progress("plan", "done");
    await screen.enter("fg");
    rows.push("[148]$ fg", "agent-gateway");
    await screen.shows(...rows, "⠋ plan: done  0.0 s  Ctrl-C stops");

    run.complete("Done.");
    rows.push("✓ plan: done  0.0 s", "✓ total  0.0 s", "", "Done.", "");
    await screen.shows(...rows, ">");
  });

canStop &&
  test("a chat that is stopped beyond --timeout shows the reply that came, says what became of a prompt that got none, and continues", async () => {
    const [run, silent] = [new GatedStream(), new GatedStream()];
    const last = events([complete("I am back.")]);
    await using service = serveStreams(run.behaviour, silent.behaviour, last);
    await using screen = await Screen.open({ env: settings(service) });
    await screen.play("enter agent-gateway --timeout 10", /^>$/m);

    for (const prompt of ["one", "two"]) {
      const stream = prompt === "one" ? run : silent;
      await screen.enter(prompt);
      stream.progress("plan", prompt);
      await screen.waitFor(`plan: ${prompt}`);
      await screen.play("press C-z", /\[148\]\$$/);
      run.complete("Done.");
      // As long as a user is away: nothing waits for this.
      await new Promise((resolve) => setTimeout(resolve, 12_000));
      await screen.enter("fg");
      if (prompt === "one") await screen.waitFor(/^Done\.\n\n>$/m);
    }
    await screen.play(
      /within 10 s\. The run may still continue\.[^]*^>$/m,
      "enter three",
      /^I am back\.\n\n>$/m,
    );
  });

test("Ctrl-Z has no effect where no shell could continue the program", async () => {
  await using service = serveStreams(events([complete("I am here.")]));
  await using screen = await Screen.open({ env: settings(service) });
  await screen.play(
    "enter exec agent-gateway -q",
    /^>$/m,
    "type hel",
    /^> hel$/m,
  );

  await screen.pressAlone("C-z", "\x1b[?2004h"); // Until then, Enter is Ctrl-J.
  await screen.play("enter lo", /^> hello\n\nI am here\.$/m);
});
