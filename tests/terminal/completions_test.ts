import { assertEquals } from "@std/assert";
import { OPTIONS, spellings } from "../../lib/command_line/option_table.ts";
import { runClient } from "../support/client_process.ts";
import { Screen, test } from "../support/tmux_screen.ts";

/** How each shell is started and loads the script, as in `docs/command-line.md`. */
const SHELLS = [
  {
    shell: "bash",
    start: "exec bash --norc --noprofile",
    load: 'eval "$(agent-gateway --completions bash)"',
  },
  {
    shell: "zsh",
    start: "exec zsh -f",
    load:
      "autoload -Uz compinit && compinit -D; source <(agent-gateway --completions zsh)",
  },
  {
    shell: "fish",
    start: "exec fish --no-config --private",
    load: "agent-gateway --completions fish | source",
  },
] as const;

/** The text before Tab, and the line after it. */
const LINES = [
  ["agent-gateway --bri", "agent-gateway --bridge"],
  ["agent-gateway -q --th", "agent-gateway -q --thread"],
  ["agent-gateway --completions f", "agent-gateway --completions fish"],
  ["agent-gateway --completions=z", "agent-gateway --completions=zsh"],
  ["agent-gateway --tim", "agent-gateway --timeout"],
  ["agent-gateway --pl", "agent-gateway --plain"],
  ["agent-gateway --color al", "agent-gateway --color always"],
  ["agent-gateway --color=n", "agent-gateway --color=never"],
] as const;

for (const { shell, start, load } of SHELLS) {
  test(
    `--completions ${shell} completes options and shells in ${shell}`,
    async () => {
      await using screen = await Screen.open({ columns: 120 });
      await screen.enter(start);
      await screen.play(`enter ${load}; echo "rea""dy"`, /^ready$/m);

      for (const [typed, completed] of LINES) {
        await screen.type(typed);
        await screen.press("Tab");
        await screen.waitFor(RegExp(`${completed}(?:[ =]|$)`, "m"));
        await screen.press("C-u");
      }
      // -p is followed by the user's text, not by a file or an option.
      await screen.play(
        "type agent-gateway -p ",
        "press Tab",
        "type end",
        /agent-gateway -p end$/m,
      );
    },
    shell,
  );
}

for (const shell of ["bash", "zsh", "fish", "powershell"]) {
  Deno.test(`--completions ${shell} knows every option, and needs no key`, async () => {
    const { code, stdout, stderr } = await runClient({
      args: ["--completions", shell],
      env: {},
    });

    assertEquals({ code, stderr }, { code: 0, stderr: "" });
    const missing = OPTIONS.flatMap((option) =>
      shell === "fish" ? [`-l ${option.name}`] : spellings(option)
    ).filter((flag) => !stdout.includes(flag));
    assertEquals(missing, []);
  });
}
