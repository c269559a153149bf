import type { Measurement, Result, Target } from "./benchmark.ts";
import { median } from "./statistics.ts";
import { ROOT } from "./subjects.ts";

/** The file of the last run that was published, in the repository. */
export const PUBLISHED = `${ROOT}/docs/performance.json`;

/** The results of one run, in the form of the JSON file. */
export interface Report {
  readonly date: string;
  readonly quick: boolean;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly target: string;
    readonly deno: string;
    /** The Node.js that the peers ran on. */
    readonly node: string;
  };
  /** The versions of the peers' packages, or why the peers could not run. */
  readonly peers: Readonly<Record<string, string>> | string;
  readonly benchmarks: Readonly<Record<string, readonly Measurement[]>>;
}

/** When, on what and with which of the peers' packages it ran, in two lines. */
export function describeRun(
  { date, machine, peers }: Report,
  packages: readonly string[],
): readonly string[] {
  const versions = typeof peers === "string"
    ? []
    : packages.map((name) => `${name} ${peers[name]}`);
  const { cpu, cores, deno, node } = machine;
  return [
    `Medians of a run on ${date.slice(0, 10)}, ${cores} cores of ${cpu}.`,
    `Deno ${deno}; on Node.js ${node}: ${versions.join(", ")}.`,
  ];
}

/**
 * A measurement as a table: a row for each subject, ours first.
 *
 * @param published An earlier run, whose medians are shown beside these.
 */
export function formatMeasurement(
  benchmark: string,
  measurement: Measurement,
  published?: Report,
): string {
  const { name, unit, results } = measurement;
  const earlier = published?.benchmarks[benchmark]
    ?.find((measurement) => measurement.name === name);
  const rows = results.map((result) => [
    `  ${result.subject}`,
    ...cells(measurement, result, earlier),
  ]);
  const table = [
    [
      `${benchmark}: ${name}`,
      unit,
      "lowest",
      "highest",
      "published",
      "ours to this",
      "target",
    ],
    ...rows,
  ];
  const widths = [48, 12, 12, 12, 12, 14, 0];
  return table
    .map((row) => row.map((cell, column) => pad(cell, column, widths)).join(""))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function pad(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0;
  if (column === 0) return cell.padEnd(width);
  return width === 0 ? `  ${cell}` : cell.padStart(width);
}

function cells(
  measurement: Measurement,
  { subject, samples, unmeasured }: Result,
  earlier: Measurement | undefined,
): readonly string[] {
  const before = earlier?.results
    .find((result) => result.subject === subject)?.samples ?? [];
  if (unmeasured !== undefined) {
    return [`   not measured: ${unmeasured.split("\n")[0]}`];
  }
  const [ours] = measurement.results;
  const against = subject === ours?.subject ? undefined : subject;
  const ratio = against === undefined ? NaN : value(measurement, { against });
  const targets = measurement.targets
    .filter((target) => target.against === against)
    .map((target) => describe(measurement, target));
  return [
    format(median(samples)),
    format(Math.min(...samples)),
    format(Math.max(...samples)),
    before.length === 0 ? "" : format(median(before)),
    Number.isNaN(ratio) ? "" : ratio.toFixed(2),
    targets.join(", "),
  ];
}

function describe(measurement: Measurement, target: Target): string {
  const { atMost, atLeast } = target;
  const limit = atMost === undefined
    ? `at least ${format(atLeast ?? NaN)}`
    : `at most ${format(atMost)}`;
  const reached = value(measurement, target);
  if (Number.isNaN(reached)) return limit;
  const isMet = reached <= (atMost ?? Infinity) &&
    reached >= (atLeast ?? -Infinity);
  return `${limit}: ${isMet ? "met" : "MISSED"}`;
}

/**
 * The median of ours, or its ratio to the median of another subject: not a
 * number, if one of them was not measured.
 */
export function value(
  { results }: Measurement,
  { against }: Pick<Target, "against">,
): number {
  const [ours] = results;
  const other = results.find(({ subject }) => subject === against);
  const numerator = median(ours?.samples ?? []);
  if (against === undefined) return numerator;
  return numerator / median(other?.samples ?? []);
}

/** A number with as many digits as matter. */
export function format(number: number): string {
  const digits = number === 0 || Math.abs(number) >= 100 ? 0 : 2;
  return number.toLocaleString("en", { maximumFractionDigits: digits });
}
