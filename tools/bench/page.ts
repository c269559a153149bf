/**
 * The page `docs/performance.md`, its table and its chart.
 *
 * @module
 */
import { runCommand } from "../run_command.ts";
import { quantile, type Samples, type Table } from "./table.ts";

/** The folder of the page. */
export const DOCS = `${import.meta.dirname}/../../docs`;

/** A row of the page: a quantile of the samples of each subject. */
export interface Measured {
  readonly label: string;
  readonly ours: number;
  readonly others: Readonly<Record<string, number>>;
}

/** The figures of a table's rows. Rows without samples are left out. */
export function rowsOf(
  { title, subjects, rows }: Pick<Table, "title" | "subjects" | "rows">,
  samples: Samples,
): readonly Measured[] {
  const measured = rows.filter(({ name }) => name in samples);
  return measured.map(({ name, unit, share = 0.5 }) => {
    const figures = subjects.map((subject) =>
      [subject, quantile(samples[name]?.[subject] ?? [], share)] as const
    ).filter(([, figure]) => !Number.isNaN(figure));
    const [[, ours] = ["", NaN], ...others] = figures;
    return {
      label: labelOf(title, name, unit),
      ours,
      others: Object.fromEntries(others),
    };
  });
}

/** "Memory: idle (MiB)" */
export function labelOf(title: string, name: string, unit: string): string {
  return `${title}: ${name} (${unit})`;
}

const HEAD = [
  "",
  "agent-gateway",
  "Other programs, and our figure divided by theirs",
];

/** Formats rows. After each other program's figure comes ours divided by it. */
export function formatTable(rows: readonly Measured[]): string {
  const body = rows.map(({ label, ours, others }) => [
    label,
    format(ours),
    Object.entries(others).map(([name, figure]) =>
      `${name} ${format(figure)} (${format(ours / figure)})`
    ).join("; "),
  ]);
  const lines = [HEAD, HEAD.map(() => "---"), ...body];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function format(figure: number): string {
  return figure.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** The rows of the table of a page, by their labels: the ratios to other programs. */
export function parseTable(
  page: string,
): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const rows = page.matchAll(/^\| (\S.*?\)) +\| [\d.,]+ +\| (.*?) +\|$/gm);
  return new Map(
    Array.from(rows, ([, label = "", others = ""]) => {
      const ratios = others.matchAll(/([\w-]+) [\d.,]+ \(([\d.,]+)\)/g);
      const pairs = Array.from(
        ratios,
        ([, name = "", ratio = ""]) =>
          [name, Number(ratio.replaceAll(",", ""))] as const,
      );
      return [label, Object.fromEntries(pairs)];
    }),
  );
}

const PUBLISHED =
  /(?<=<!-- The table of a run begins -->\n)[^]*(?=<!-- It ends -->)/;

/** Writes a run to `performance.md` in a folder, and its chart to `performance.svg`. */
export async function publish(
  docs: string,
  introduction: string,
  rows: readonly Measured[],
): Promise<void> {
  const path = `${docs}/performance.md`;
  const page = await Deno.readTextFile(path);
  const run = `\n${introduction}\n${formatTable(rows)}\n`;
  await Deno.writeTextFile(path, page.replace(PUBLISHED, () => run));
  await runCommand([Deno.execPath(), "fmt", "-q", path]); // It wraps the lines.
  const chart = drawChart(await Deno.readTextFile(path));
  await Deno.writeTextFile(`${docs}/performance.svg`, chart);
}

/** The programs that are not drawn: none for users. */
const FLOORS = ["floor", "empty"];

const TITLE = "How much faster or smaller the client is than other programs";

const [LEFT, TOP, LINE] = [320, 62, 20];

/** Draws how many times as good the client is, by the table of a page, as SVG. */
export function drawChart(page: string): string {
  const lines = Array.from(parseTable(page)).flatMap(([label, ratios]) => {
    const bars = Object.entries(ratios)
      .filter(([name]) => !FLOORS.includes(name))
      .map(([name, ratio]) => ({ label: name, factor: 1 / ratio }));
    const heading = label.replaceAll("`", "").replace(/ \([^(]*\)$/, "");
    return bars.length === 0 ? [] : [{ label: heading, factor: 0 }, ...bars];
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
