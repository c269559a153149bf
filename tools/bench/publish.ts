/**
 * Publishes benchmark runs in `docs/`: the numbers, their tables in
 * `performance.md`, and the pictures.
 *
 *     deno run -q -P=bench tools/bench/publish.ts [JSON...]
 *
 * The default is `dist/bench.json`. With several files, each one adds its
 * benchmarks to those of the files before it.
 *
 * @module
 */
import { drawChart } from "./chart.ts";
import { PUBLISHED, type Report } from "./report.ts";
import { drawScale } from "./scale_chart.ts";
import { ROOT } from "./subjects.ts";
import { formatTables } from "./tables.ts";

const DOCS = `${ROOT}/docs`;
const PAGE = "performance.md";
const TABLES =
  /(?<=<!-- The tables of a run begin -->\n)[^]*(?=<!-- They end -->)/;

/**
 * The files that show a report, by their names in `docs/`. There is no picture of
 * what was not measured.
 *
 * @param page The text of `performance.md` before.
 */
export function filesOf(
  report: Report,
  page: string,
): Readonly<Record<string, string>> {
  const files = {
    [PAGE]: page.replace(TABLES, () => `\n${formatTables(report)}\n`),
    "performance.svg": drawChart(report),
    "scale.svg": drawScale(report),
  };
  const drawn = Object.entries(files)
    .filter((file): file is [string, string] => file[1] !== undefined);
  return Object.fromEntries(drawn);
}

if (import.meta.main) {
  const paths = Deno.args.length > 0 ? Deno.args : [`${ROOT}/dist/bench.json`];
  const reports = await Promise.all(paths.map(readReport));
  const [first] = reports;
  if (first === undefined) Deno.exit(2);
  const benchmarks = Object.assign(
    {},
    ...reports.map(({ benchmarks }) => benchmarks),
  );
  const report = { ...first, benchmarks };
  const page = await Deno.readTextFile(`${DOCS}/${PAGE}`);
  for (const [name, text] of Object.entries(filesOf(report, page))) {
    await Deno.writeTextFile(`${DOCS}/${name}`, text);
  }
  await Deno.writeTextFile(PUBLISHED, JSON.stringify(report, null, 2) + "\n");
}

async function readReport(path: string): Promise<Report> {
  const text = await Deno.readTextFile(path).catch((error: Error) => {
    console.error(
      `Cannot read the numbers: ${error.message}; run deno task bench first`,
    );
    Deno.exit(1);
  });
  return JSON.parse(text);
}
