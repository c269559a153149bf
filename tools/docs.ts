/**
 * Writes what the documents repeat of the source: the program's version, and the tables
 * between the marks `<!-- deno task docs: NAME -->` and `<!-- end -->`.
 *
 *     deno task docs
 *
 * `tests/project/docs_test.ts` names each page that is out of date.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import {
  type Argument,
  type Option,
  OPTIONS,
  spellings,
  STANDARD_INPUT,
} from "../lib/command_line/option_table.ts";
import { ToolError } from "./tool_error.ts";

const ROOT = `${import.meta.dirname}/..`;

/** The files that show the version or have a table of the source. */
export const PAGES: readonly string[] = [
  "README.md",
  ...Array.from(Deno.readDirSync(`${ROOT}/docs`), ({ name }) => `docs/${name}`)
    .filter((name) => name.endsWith(".md"))
    .sort(),
  "docs/registry/agent.json",
];

/** Where a document shows the version of this program, not that of something else. */
const VERSIONS = [
  /\bagent-gateway[ :@]\d+\.\d+\.\d+/g,
  /"name":"agent-gateway",(?:"title":"[^"]*",)?"version":"\d+\.\d+\.\d+/g,
  /\s--?[vV]ersion \d+\.\d+\.\d+/g,
  /agent-gateway\/(?:blob|releases\/download)\/v\d+\.\d+\.\d+/g,
  /^ {2}"version": "\d+\.\d+\.\d+/gm,
];

const TABLES: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  options: optionTable,
};

/**
 * A page as it should be.
 *
 * @throws {ToolError} If a mark names no table.
 */
export function updated(page: string): string {
  let text = page;
  for (const pattern of VERSIONS) {
    text = text.replace(
      pattern,
      (found) => found.replace(/\d+\.\d+\.\d+$/, config.version),
    );
  }
  const marked = /(<!-- deno task docs: (\w+) -->\n)(.*?)(?=<!-- )/gs;
  return text.replace(marked, (_, mark: string, name: string) => {
    const rows = TABLES[name]?.();
    if (rows === undefined) throw new ToolError(`There is no table ${name}`);
    return `${mark}\n${markdownTable(rows)}\n`;
  });
}

/** A table as `deno fmt` formats it. The first row is its head. */
function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], filler: string) =>
    `| ${
      widths.map((width, i) => (cells[i] ?? "").padEnd(width, filler))
        .join(" | ")
    } |\n`;
  const [first = "", ...others] = rows.map((row) => line(row, " "));
  return [first, line([], "-"), ...others].join("");
}

function optionTable(): readonly (readonly string[])[] {
  const named: readonly Option[] = OPTIONS;
  const options = named.map((option) => {
    const names = spellings(option);
    const last = [names.at(-1), option.value].filter((part) => part).join(" ");
    return [...names.slice(0, -1), last].map(code).join(", ");
  });
  const all: readonly Argument[] = [...OPTIONS, STANDARD_INPUT];
  const labels = [...options, code(STANDARD_INPUT.name)];
  return [
    ["Option", "Effect"],
    ...all.map(({ effect }, index) => [labels[index] ?? "", effect]),
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  for (const page of PAGES) {
    const path = `${ROOT}/${page}`;
    const text = Deno.readTextFileSync(path);
    const now = updated(text);
    if (now === text) continue;
    Deno.writeTextFileSync(path, now);
    console.log(page);
  }
}
