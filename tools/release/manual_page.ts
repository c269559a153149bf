/** The column of `--help` at which the effect of an option begins. */
const INDENT = 26;

/** The headings of a manual page, by those of `--help`. */
const HEADINGS: Readonly<Record<string, string>> = {
  Usage: "SYNOPSIS",
  Options: "OPTIONS",
  Settings: "ENVIRONMENT",
  "Exit codes": "EXIT STATUS",
  Examples: "EXAMPLES",
  Documentation: "SEE ALSO",
};

/** Makes the manual page, in the language of man(7), of what `--help` prints. */
export function manualPage(help: string, date: Date): string {
  const [title = "", ...blocks] = help.trimEnd().split("\n\n");
  const [, program = "", version, summary] =
    /^(\S+) (\S+): (.*)$/.exec(title) ??
      [];
  const day = date.toISOString().slice(0, 10);
  return [
    `.TH ${program.toUpperCase()} 1 "${day}" "${program} ${version}"`,
    `.SH NAME\n${program} \\- ${summary}`,
    ...blocks.map(section),
    "",
  ].join("\n");
}

function section(block: string): string {
  const [, name, rest = ""] = /^([A-Z][\w ]*)\b[^:\n]*:\s([^]*)$/.exec(block) ??
    [];
  const heading = HEADINGS[name ?? ""];
  if (heading === undefined) return `.SH DESCRIPTION\n${escape(block)}`;
  return `.SH ${heading}\n${bodyOf(heading, rest)}`;
}

function bodyOf(heading: string, text: string): string {
  switch (heading) {
    case "OPTIONS":
    case "ENVIRONMENT":
      return text.split("\n").map(entryLine).join("\n");
    case "EXAMPLES":
      return `.nf\n${escape(text)}\n.fi`;
    default:
      return escape(text);
  }
}

/** A line with a name begins an entry; the others continue its text. */
function entryLine(line: string): string {
  const name = escape(line.slice(0, INDENT));
  const text = escape(line.slice(INDENT));
  return name === "" ? text : `.TP\n.B ${name}\n${text}`;
}

function escape(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.join("\n").replaceAll("\\", "\\e").replaceAll("-", "\\-")
    .replaceAll(/^[.']/gm, "\\&$&");
}
