import { assertEquals } from "@std/assert";
import { OPTIONS, spellings } from "../../lib/command_line/option_table.ts";
import { runClient } from "../support/client_process.ts";
import { session } from "../support/session.ts";
import { rowsOf } from "../support/tables.ts";

/** How each shell is started and loads the script, as in `docs/command-line.md`. */
const SHELLS = {
  bash: [
    "bash --norc --noprofile",
    'eval "$(agent-gateway --completions bash)"',
  ],
  zsh: [
    "zsh -f",
    "autoload -Uz compinit && compinit -D; source <(agent-gateway --completions zsh)",
  ],
  fish: [
    "fish --no-config --private",
    "agent-gateway --completions fish | source",
  ],
};

/** The text before Tab, and what it becomes. */
const WORDS = rowsOf<"typed" | "completed">(`
  typed           | completed
  --bri           | --bridge
  -q --th         | -q --thread
  --completions f | --completions fish
  --completions=z | --completions=zsh
  --tim           | --timeout
  --pl            | --plain
  --color al      | --color always
  --color=n       | --color=never
`);

for (const [shell, [start, load]] of Object.entries(SHELLS)) {
  const words = WORDS.map(({ typed, completed }) => `
    type agent-gateway ${typed}
    press Tab
    match agent-gateway ${completed}(?:[ =]|$)
    press C-u`);
  session(
    `--completions ${shell} completes options and shells in ${shell}`,
    // -p is followed by the user's text, not by a file or an option.
    `
    enter exec ${start}
    enter ${load}; echo "rea""dy"
    match ^ready$
    ${words.join("")}
    press 'agent-gateway -p' Space Tab
    type end
    match agent-gateway -p end$
  `,
    { columns: 120, tool: shell },
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
