/**
 * The page `docs/performance.md`: its tables, as Markdown and as cells, and the
 * picture of them. As a program, publishes a run of all benchmarks there.
 *
 *     deno run -q -P=bench tools/bench/performance_page.ts [JSON]
 *
 * The default is `dist/bench.json`.
 *
 * @module
 */
import { runCommand } from "../run_command.ts";
import { PEER_VERSIONS } from "./peers.ts";
import { quantile, type Row, type SampleRecord, type Table } from "./table.ts";
import { idle, memory } from "./tables/memory.ts";
import { sessions } from "./tables/sessions.ts";
import { prompt, start } from "./tables/start.ts";
import { streams, turn } from "./tables/streams.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** The tables of `docs/performance.md` in its order, by their names in a run. */
export const TABLES: Readonly<Record<string, Table>> = {
  start,
  prompt,
  turn,
  streams,
  sessions,
  idle,
  memory,
};

/** The figure of a row for a subject: the median, or NaN if there are no samples. */
function figureOf(row: Row, subject: string, record: SampleRecord): number {
  return quantile(record[row.name]?.[subject] ?? [], 0.5);
}

/**
 * The table of a record: a row for each row, a column for each subject. The cells
 * of other subjects also hold the client's figure divided by theirs.
 */
export function formatTable(
  { subjects, rows }: Pick<Table, "subjects" | "rows">,
  record: SampleRecord,
): string {
  const body = rows.map((row) => {
    const [ours = NaN, ...others] = subjects.map((subject) =>
      figureOf(row, subject, record)
    );
    const cells = others.map((figure) =>
      row.withoutRatios || Number.isNaN(ours / figure)
        ? format(figure)
        : `${format(figure)} (${format(ours / figure)})`
    );
    return [`${row.name} (${row.unit})`, format(ours), ...cells];
  });
  return alignColumns(["", ...subjects], body);
}

function format(figure: number): string {
  if (Number.isNaN(figure)) return "";
  return figure.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function alignColumns(
  header: readonly string[],
  body: readonly (readonly string[])[],
): string {
  const widths = header.map((_, column) =>
    Math.max(3, ...[header, ...body].map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const padded = (row: readonly string[]) =>
    line(row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }));
  const rule = line(
    widths.map((width, column) =>
      column === 0 ? "-".repeat(width) : "-".repeat(width - 1) + ":"
    ),
  );
  return padded(header) + rule + body.map(padded).join("");
}

/** A cell with a figure, as the page shows it. */
export interface Cell {
  readonly figure: number;
  /** The client's figure divided by this one. */
  readonly ratio: number | undefined;
}

/** A table as the page shows it. */
export interface ParsedTable {
  readonly title: string;
  readonly subjects: readonly string[];
  /** The cells of each row, by its name and unit as the page shows them. */
  readonly rows: ReadonlyMap<string, readonly Cell[]>;
}

/**
 * Finds the tables in a page: each follows its heading.
 *
 * @throws If a cell holds no figure.
 */
export function parseTables(page: string): readonly ParsedTable[] {
  const tables = page.matchAll(
    /^### (.+)\n\n\|(.+)\|\n\|.+\|\n((?:\|.+\n)+)/gm,
  );
  return Array.from(tables, ([, title = "", header = "", body = ""]) => ({
    title,
    subjects: cellsOf(header).slice(1),
    rows: new Map(
      body.trimEnd().split("\n").map((line) => {
        const [name = "", ...cells] = cellsOf(line.slice(1, -1));
        return [name, cells.map(parseCell)] as const;
      }),
    ),
  }));
}

function cellsOf(line: string): string[] {
  return line.split("|").map((cell) => cell.trim());
}

function parseCell(text: string): Cell {
  const [, figure, ratio] = /^(-?[\d,.]+)(?: \(([\d,.]+)\))?$/.exec(text) ?? [];
  if (figure === undefined) throw new Error(`"${text}" holds no figure`);
  return {
    figure: toNumber(figure),
    ratio: ratio === undefined ? undefined : toNumber(ratio),
  };
}

function toNumber(text: string): number {
  return Number(text.replaceAll(",", ""));
}

/** Where a run's samples go. */
export const RUN_FILE = `${ROOT}/dist/bench.json`;

/** A run of the benchmarks. */
export interface Run {
  readonly quick: boolean;
  readonly date: string;
  readonly machine: string;
  /** The samples of each table, by its name. */
  readonly tables: Readonly<Record<string, SampleRecord>>;
}

const PUBLISHED =
  /(?<=<!-- The tables of a run begin -->\n)[^]*(?=<!-- They end -->)/;

const SHOWN_PEERS = [
  "@agentclientprotocol/sdk",
  "@langchain/langgraph-sdk",
  "eventsource-parser",
];

/**
 * Replaces the tables of a page by those of a run.
 *
 * @throws If something was not measured.
 */
export function publish(page: string, run: Run): string {
  if (run.quick) throw new Error("Cannot publish a run with --quick");
  const peers = SHOWN_PEERS.map((name) => `${name} ${PEER_VERSIONS[name]}`);
  const tables = Object.entries(TABLES).map(([name, table]) => {
    const record = run.tables[name] ?? {};
    for (const row of table.rows) {
      for (const subject of table.subjects) {
        if (!Number.isNaN(figureOf(row, subject, record))) continue;
        throw new Error(
          `Cannot publish: ${name}, ${row.name}: ${subject} was not measured`,
        );
      }
    }
    return `### ${table.title}\n\n${formatTable(table, record)}`;
  });
  const intro = `On ${run.date}, with ${run.machine}; ${peers.join(", ")}.\n`;
  const published = [intro, ...tables].join("\n");
  return page.replace(PUBLISHED, () => `\n${published}\n`);
}

/** The rows that are drawn: table, beginning of its name, and label. */
const DRAWN: readonly (readonly [string, string, string])[] = [
  ["start", "bundle", "Start of the bundle"],
  ["start", "binary", "Start of the binary"],
  ["prompt", "bundle", "One prompt from the shell"],
  ["turn", "plain", "A turn without a delay"],
  ["turn", "TLS, 50 ms", "A turn with 50 ms of round trip"],
  ["streams", "small events (", "Small events"],
  ["streams", "small events, one a chunk", "Small events, one a chunk"],
  ["streams", "events of 1 KiB", "Events of 1 KiB"],
  ["streams", "events of 10 MB", "Events of 10 MB"],
];

/** The names of the others, by their columns. */
const PEERS: Readonly<Record<string, string>> = {
  "acp-sdk": "ACP SDK",
  "langgraph": "LangGraph SDK",
  "eventsource-parser": "eventsource-parser",
};

const TITLE = "How many times as fast as others that do the same work";
const WIDTH = 760;
const LEFT = 320; // where the bars begin
const RIGHT = 60; // room for the numbers after the bars
const TOP = 56;
const ROW = 22;
const BAR = 13;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .bar { fill: #2f6feb; }
  .slower { fill: #9a6700; }
  .one { stroke: #59636e; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .bar { fill: #4493f8; }
    .slower { fill: #d29922; }
    .one { stroke: #9198a1; }
  }
`;

/** Draws the client's advantage over each peer in the tables of a page, as SVG. */
export function drawChart(tables: readonly ParsedTable[]): string {
  const bars = DRAWN.flatMap((drawn) => barsOf(tables, drawn));
  const most = Math.max(1, ...bars.map(({ factor }) => factor));
  const scale = (WIDTH - LEFT - RIGHT) / most;
  const one = LEFT + scale;
  const bottom = TOP + bars.length * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom}" role="img" aria-labelledby="title">`,
    `<title id="title">${TITLE}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" y="18">${TITLE}</text>`,
    text(one, TOP - 12, "1x: as fast as the other", "middle"),
    `<path class="one" d="M${one.toFixed(1)} ${TOP - 6}V${bottom}"/>`,
    ...bars.flatMap(({ label, factor }, index) => {
      const y = TOP + index * ROW;
      const width = factor * scale;
      return [
        text(LEFT - 8, y + 10, label, "end"),
        `<rect class="${factor < 1 ? "slower" : "bar"}" x="${LEFT}" y="${y}" ` +
        `width="${width.toFixed(1)}" height="${BAR}" rx="2"/>`,
        text(
          Math.max(LEFT + width, one) + 6,
          y + 11,
          `${factor.toFixed(1)}x`,
          "start",
        ),
      ];
    }),
    "</svg>\n",
  ].join("\n");
}

interface Bar {
  readonly label: string;
  readonly factor: number;
}

/** A bar for each peer in a row. */
function barsOf(
  tables: readonly ParsedTable[],
  [name, beginning, label]: readonly [string, string, string],
): readonly Bar[] {
  const table = tables.find(({ title }) => title === TABLES[name]?.title);
  const [row = "", cells = []] = table?.rows.entries()
    .find(([row]) => row.startsWith(beginning)) ?? [];
  return cells.flatMap(({ ratio }, column) => {
    const peer = PEERS[table?.subjects[column] ?? ""];
    if (peer === undefined || ratio === undefined) return [];
    const factor = row.endsWith("/s)") ? ratio : 1 / ratio;
    return [{ label: `${label}: ${peer}`, factor }];
  });
}

function text(x: number, y: number, content: string, anchor: string): string {
  return `<text x="${
    x.toFixed(1)
  }" y="${y}" text-anchor="${anchor}">${content}</text>`;
}

if (import.meta.main) {
  const [path = RUN_FILE] = Deno.args;
  const run: Run = JSON.parse(await Deno.readTextFile(path));
  const page = `${ROOT}/docs/performance.md`;
  const published = publish(await Deno.readTextFile(page), run);
  await Deno.writeTextFile(page, published);
  await runCommand([Deno.execPath(), "fmt", "-q", page]); // It wraps the lines.
  const picture = drawChart(parseTables(published));
  await Deno.writeTextFile(`${ROOT}/docs/performance.svg`, picture);
}
