import type { Measurement, Result, Target } from "./benchmark.ts";
import { median } from "./statistics.ts";

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

/** A measurement as a table: a row for each subject, ours first. */
export function formatMeasurement(
  benchmark: string,
  measurement: Measurement,
): string {
  const { name, unit, results } = measurement;
  const rows = results.map((result) => [
    `  ${result.subject}`,
    ...cells(measurement, result),
  ]);
  const table = [
    [
      `${benchmark}: ${name}`,
      unit,
      "lowest",
      "highest",
      "ours to this",
      "target",
    ],
    ...rows,
  ];
  const widths = [40, 12, 12, 12, 14, 0];
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
): readonly string[] {
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
  const isMet = reached <= (atMost ?? Infinity) && reached >= (atLeast ?? 0);
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

function format(number: number): string {
  const digits = number === 0 || Math.abs(number) >= 100 ? 0 : 2;
  return number.toLocaleString("en", { maximumFractionDigits: digits });
}
