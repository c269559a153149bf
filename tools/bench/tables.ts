import type { Measurement } from "./benchmark.ts";
import { format, type Report } from "./report.ts";
import { median } from "./statistics.ts";

/** The headings of the benchmarks. */
const HEADINGS: Readonly<Record<string, string>> = {
  startup: "From the start to the answer of `initialize`",
  prompt: "One prompt from the shell, from the start to the end",
  terminal: "In a terminal",
  turn: "A turn, from the prompt to its answer",
  stream: "Streams",
  parsing: "Reading streams from memory",
  latency: "From the service's event to the editor's line",
  scale: "Many sessions with a run each, at the same time",
  idle: "With 100 open sessions and no run",
  memory: "Memory during a stream",
  connections: "Connections",
};

/**
 * The medians of a run as Markdown: a table for each benchmark, with a row for
 * each measurement and a column for each subject.
 */
export function formatTables({ benchmarks }: Report): string {
  return Object.entries(benchmarks)
    .map(([name, measurements]) =>
      `### ${HEADINGS[name] ?? name}\n\n${formatTable(measurements)}`
    )
    .join("\n");
}

function formatTable(measurements: readonly Measurement[]): string {
  const subjects = new Set(
    measurements.flatMap(({ results }) =>
      results.filter(({ samples }) => samples.length > 0)
        .map(({ subject }) => subject)
    ),
  );
  const rows = measurements.map(({ name, unit, results }) => [
    `${name} (${unit})`,
    ...[...subjects].map((subject) => {
      const samples = results.find((result) => result.subject === subject)
        ?.samples ?? [];
      return samples.length === 0 ? "" : format(median(samples));
    }),
  ]);
  const table = [["", ...subjects], ...rows];
  const widths = ["", ...subjects].map((_, column) =>
    Math.max(3, ...table.map((cells) => cells[column]?.length ?? 0))
  );
  const [head = "", ...body] = table.map((cells) => {
    const padded = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |\n`;
  });
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : "-".repeat(width - 1) + ":"
  );
  return [head, `| ${rule.join(" | ")} |\n`, ...body].join("");
}
