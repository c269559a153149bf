import { EXIT_BRIEFLY } from "../exit_codes.ts";
import { VERSION } from "../version.ts";
import {
  type Option,
  OPTIONS,
  spellings,
  STANDARD_INPUT,
} from "./option_table.ts";

const COLUMNS = 80;
/** The column at which the effect of an option begins. */
const INDENT = 26;

export function usage(): string {
  const options = OPTIONS.map((option) => entry(label(option), option.effect));
  return `agent-gateway ${VERSION}: a client for a remote agent service

Usage: agent-gateway [OPTIONS] [-]

  Without -p or -, reads prompts line by line and runs them on one thread, until
  "exit", "quit" or the end of the input. Replies go to standard output.

Options:
${options.join("\n")}
${entry("  -", STANDARD_INPUT.effect)}

Settings, from the environment or a .env file in the current folder:
${entry("  APP_API_KEY", "The API key (required)")}
${entry("  APP_BASE_URL", "URL of the service, unless --base-url is given")}

${wrapped(`Exit codes: ${EXIT_BRIEFLY}`).join("\n")}

Examples:
  agent-gateway -p "What changed in HTTP/3?"
  git diff | agent-gateway -p "Review this diff." -
  agent-gateway --thread ID -p "What did I say before?"

Documentation: https://github.com/agent-gateway/agent-gateway#find-your-answer
`;
}

function label(option: Option): string {
  const names = spellings(option).join(", ");
  const indent = option.short === undefined ? "      " : "  ";
  return indent + (option.value ? `${names} ${option.value}` : names);
}

function entry(label: string, effect: string): string {
  return wrapped(effect, label.padEnd(INDENT)).join("\n");
}

/** The rows of a text; those after the first begin below the end of its label. */
function wrapped(text: string, label = ""): readonly string[] {
  const rows = [];
  let row = label;
  for (const word of text.split(" ")) {
    if (row.length > label.length && row.length + 1 + word.length > COLUMNS) {
      rows.push(row);
      row = " ".repeat(label.length);
    }
    row += row.length > label.length ? ` ${word}` : word;
  }
  return [...rows, row];
}
