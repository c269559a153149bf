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
import {
  fateOf,
  type RemoteOperation,
  stageOfStatus,
} from "../lib/gateway/failure/fate.ts";
import { retryReason } from "../lib/gateway/http/retries.ts";
import { TIMEOUTS } from "../lib/gateway/http/timeouts.ts";
import { MAX_LINE_BYTES } from "../lib/gateway/stream/stream_lines.ts";
import { MAX_PROMPT_BYTES } from "../lib/io.ts";
import { MAX_SIGNS } from "../lib/text.ts";
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

/** A table: its rows, the first of which is its head. */
type Table = readonly (readonly string[])[];

const TABLES: Readonly<Record<string, () => Table>> = {
  options: optionTable,
  statuses: statusTable,
  limits: limitTable,
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

/** A table as `deno fmt` formats it. */
function markdownTable(rows: Table): string {
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

function optionTable(): Table {
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

/** What a status outside 2xx means, by the operation that it answers. */
function statusTable(): Table {
  return [
    ["Status", "To a thread", "To a run", "To its stream"],
    ...STATUS_ROWS.map(([label, status]) => [
      label,
      meaningOf("create thread", status),
      meaningOf("create run", status),
      meaningOf("stream run", status),
    ]),
  ];
}

/** Statuses that differ, and one that stands for all others of its class. */
export const STATUS_ROWS = [
  ["3xx", 302],
  ["401, 403", 401],
  ["404", 404],
  ["408, 425", 408],
  ["410", 410],
  ["429", 429],
  ["499", 499],
  ["Other 4xx", 400],
  ["502, 504", 502],
  ["503", 503],
  ["Other 5xx", 500],
] as const;

/** What a status means for the prompt, in the words of the table. */
export function meaningOf(operation: RemoteOperation, status: number): string {
  const fate = fateOf(operation, stageOfStatus(operation, status), false);
  const reason = retryReason(operation, status);
  return reason === undefined ? code(fate) : `Retried, then ${code(fate)}`;
}

function limitTable(): Table {
  const { answer, idle, outage, resume, retry, retryAfter } = TIMEOUTS;
  const { drain } = TIMEOUTS;
  return [
    ["What", "Limit"],
    ["A prompt", mebibytes(MAX_PROMPT_BYTES)],
    ["A line of the stream", mebibytes(MAX_LINE_BYTES)],
    [
      "Brackets, commas and colons outside of strings in a line over 64 KiB",
      MAX_SIGNS.toLocaleString("en"),
    ],
    ["The answer to a `POST`, from the request to its end", time(answer)],
    ["Retries of a `POST`, where one is safe", `${retry.length}`],
    ["A pause that `Retry-After` asks for", time(retryAfter)],
    ["Silence of a stream, its headers included", time(idle)],
    ["Retries of a stream that does not answer", time(outage)],
    ["Retries of a stream that brings no new event", time(resume)],
    ["The end of the stream after `complete`", `${drain} ms`],
  ];
}

function mebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

function time(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds > 60 ? `${seconds / 60} min` : `${seconds} s`;
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
