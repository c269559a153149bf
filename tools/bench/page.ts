/**
 * The page `docs/performance.md`, its tables and its chart.
 *
 * @module
 */
import { runCommand } from "../run_command.ts";
import { quantile, type Samples, type Table } from "./table.ts";

/** The folder of the page. */
export const DOCS = `${import.meta.dirname}/../../docs`;

/**
 * Formats a table of medians, with a column for each subject. Rows without samples are
 * left out. A cell of another program also shows the client's median divided by its own;
 * a program that was not measured has a dash.
 */
export function formatTable(
  { subjects, rows }: Pick<Table, "subjects" | "rows">,
  samples: Samples,
): string {
  const body = rows.filter(({ name }) => name in samples).map((row) => {
    const [ours = NaN, ...others] = subjects.map((subject) =>
      quantile(samples[row.name]?.[subject] ?? [], 0.5)
    );
    const cells = others.map((figure) => {
      if (Number.isNaN(figure)) return "-";
      const ratio = row.withoutRatios ? "" : ` (${format(ours / figure)})`;
      return format(figure) + ratio;
    });
    return [`${row.name} (${row.unit})`, format(ours), ...cells];
  });
  const header = ["", ...subjects];
  const widths = header.map((_, column) =>
    Math.max(3, ...[header, ...body].map((cells) => cells[column]?.length ?? 0))
  );
  const line = (cells: readonly string[], fill = " ") => {
    const padded = widths.map((width, column) =>
      column === 0
        ? (cells[column] ?? "").padEnd(width, fill)
        : (cells[column] ?? "").padStart(width, fill)
    );
    return `| ${padded.join(" | ")} |\n`;
  };
  const rule = line(["", ...subjects.map(() => ":")], "-");
  return line(header) + rule + body.map((cells) => line(cells)).join("");
}

function format(figure: number): string {
  return figure.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** Returns the cells of the tables in a page, by the headings before them. */
export function parseTables(page: string): ReadonlyMap<string, string[][]> {
  const tables = page.matchAll(/^### (.+)\n\n(.+\n)\|[-:| ]+\n((?:\|.+\n)+)/gm);
  return new Map(
    Array.from(tables, ([, title = "", header = "", body = ""]) => {
      const lines = (header + body).trimEnd().split("\n");
      const cellsOf = (line: string) =>
        line.split("|").slice(1, -1).map((cell) => cell.trim());
      return [title, lines.map(cellsOf)];
    }),
  );
}

const PUBLISHED =
  /(?<=<!-- The tables of a run begin -->\n)[^]*(?=<!-- They end -->)/;

/** Writes a run to `performance.md` in a folder, and its chart to `performance.svg`. */
export async function publish(docs: string, run: string): Promise<void> {
  const path = `${docs}/performance.md`;
  const page = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, page.replace(PUBLISHED, () => `\n${run}\n`));
  await runCommand([Deno.execPath(), "fmt", "-q", path]); // It wraps the lines.
  const chart = drawChart(await Deno.readTextFile(path));
  await Deno.writeTextFile(`${docs}/performance.svg`, chart);
}

/** The columns that are not drawn: no program for users. */
const FLOORS = ["floor", "empty"];

/** The rows that are drawn, by the headings of their tables: what readers ask first. */
export const CHARTED: Readonly<Record<string, readonly string[]>> = {
  "A turn over a network, and its first event": [
    "20 ms of round trip, HTTP/2",
    "100 ms of round trip, HTTP/2",
  ],
  "From the start to the answer of `initialize`": ["bundle"],
  "One prompt from the shell, from the start to the end": ["bundle"],
  Streams: ["small events", "events of 10 MB"],
  "With 100 open sessions and no run": ["memory"],
};

const TITLE = "How much faster or smaller the client is than other programs";

const [LEFT, TOP, LINE] = [320, 62, 20];

/** Draws how many times as good the client is, by the tables of a page, as SVG. */
export function drawChart(page: string): string {
  const tables = parseTables(page);
  const lines = Object.entries(CHARTED).flatMap(([title, names]) => {
    const bars = barsOf(tables.get(title) ?? [], names);
    return bars.length === 0
      ? []
      : [{ label: title.replaceAll("`", ""), factor: 0 }, ...bars];
  });
  const scale = 380 / Math.max(...lines.map(({ factor }) => factor));
  const drawn = lines.map(({ label, factor }, index) => {
    const y = TOP + index * LINE;
    if (factor === 0) {
      return `<text x="16" y="${y}" font-weight="600">${label}</text>`;
    }
    const width = (factor * scale).toFixed(1);
    const end = (LEFT + Math.max(factor, 1) * scale + 6).toFixed(1);
    return `<text x="${LEFT - 8}" y="${y}" text-anchor="end">${label}</text>` +
      `<rect x="${LEFT}" y="${y - 10}" width="${width}" height="12"` +
      ` fill="${factor < 1 ? "#bf8700" : "#2f6feb"}"/>` +
      `<text x="${end}" y="${y}">${factor.toFixed(1)}x</text>`;
  });
  const bottom = TOP + lines.length * LINE;
  const one = (LEFT + scale).toFixed(1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${bottom}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2328" role="img" aria-labelledby="title">
<title id="title">${TITLE}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="16" y="26" font-size="15" font-weight="600">${TITLE}</text>
<text x="${one}" y="44" text-anchor="middle">1x: equal</text>
<path d="M${one} 50V${bottom - 10}" stroke="#59636e" stroke-dasharray="3 3"/>
${drawn.join("\n")}
</svg>
`;
}

/** A bar for each ratio to another program in the rows of these names. */
function barsOf(
  [header = [], ...rows]: readonly string[][],
  names: readonly string[],
) {
  return rows.flatMap(([row = "", ...cells]) => {
    const [, name = "", unit = ""] = /^(.+) \((.+)\)$/.exec(row) ?? [];
    if (!names.includes(name)) return [];
    return cells.flatMap((cell, index) => {
      const subject = header[index + 1] ?? "";
      const [, ratio] = / \((.+)\)$/.exec(cell) ?? [];
      if (FLOORS.includes(subject) || !ratio) return [];
      const factor = unit.endsWith("/s") ? Number(ratio) : 1 / Number(ratio);
      return [{ label: `${name}: ${subject}`, factor }];
    });
  });
}
