/**
 * Draws the numbers of a benchmark run: the bridge's advantage over each peer, as
 * a factor.
 *
 *     deno run -q -P=bench tools/bench/chart.ts [dist/bench.json [docs/performance.svg]]
 *
 * @module
 */
import type { Measurement } from "./benchmark.ts";
import { type Report, value } from "./report.ts";
import { ROOT } from "./subjects.ts";

/** The bars: benchmark, measurement and label. */
const DRAWN: readonly (readonly [string, string, string])[] = [
  ["startup", "binary", "Start of the binary to its first answer"],
  ["startup", "bundle", "Start of the bundle to its first answer"],
  ["turn", "turn", "A turn, prompt to answer"],
  ["stream", "small events", "Stream of small events"],
  ["stream", "events of 1 KiB", "Stream of 1 KiB events"],
  ["stream", "events of 20 MB", "Stream of 20 MB events"],
  ["stream", "chunks of 100 bytes", "Stream in chunks of 100 bytes"],
  ["latency", "p99", "Latency of an event, 99th percentile"],
];

const PEERS: Readonly<Record<string, string>> = {
  "acp-sdk": "@agentclientprotocol/sdk",
  "langgraph": "@langchain/langgraph-sdk",
  "eventsource-parser": "eventsource-parser",
};

const WIDTH = 760;
const LEFT = 190; // where the bars begin
const RIGHT = 60; // room for the numbers after the bars
const TOP = 48;
const HEADING = 24;
const ROW = 20;
const BAR = 13;
const GAP = 8;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .heading { font-weight: 600; }
  .small { font-size: 11px; fill: #59636e; }
  .bar { fill: #2f6feb; }
  .slower { fill: #9a6700; }
  .one { stroke: #59636e; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .bar { fill: #4493f8; }
    .slower { fill: #d29922; }
    .one { stroke: #9198a1; }
  }`;

interface Bar {
  readonly label: string;
  readonly factor: number;
}

/** Draws a report as SVG. */
export function drawChart(report: Report): string {
  const groups = DRAWN.flatMap(([benchmark, name, heading]) => {
    const measurement = report.benchmarks[benchmark]
      ?.find((measurement) => measurement.name === name);
    const bars = measurement ? barsOf(measurement) : [];
    return bars.length > 0 ? [{ heading, bars }] : [];
  });
  const factors = groups.flatMap(({ bars }) => bars.map((bar) => bar.factor));
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(1, ...factors);
  const one = (LEFT + scale).toFixed(1);
  const parts: string[] = [];
  let y = TOP;
  for (const { heading, bars } of groups) {
    y += HEADING;
    parts.push(
      text(0, y - 8, heading, "heading"),
      `<path class="one" d="M${one} ${y - 4}V${y + bars.length * ROW}"/>`,
    );
    for (const { label, factor } of bars) {
      const width = (factor * scale).toFixed(1);
      const kind = factor < 1 ? "bar slower" : "bar";
      parts.push(
        text(LEFT - 8, y + 10, label, "small", "end"),
        `<rect class="${kind}" x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
        text(LEFT + factor * scale + 6, y + 11, `${factor.toFixed(1)}x`),
      );
      y += ROW;
    }
    y += GAP;
  }
  const lines = describeRun(report);
  const height = y + GAP + (lines.length + 1) * 16;
  const title = "How many times as fast as others that do the same work";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    `<style>${STYLE}\n</style>`,
    text(0, 18, title, "title"),
    text(Number(one), TOP - 6, "1x: as fast as the other", "small", "middle"),
    ...parts,
    ...lines.map((line, index) =>
      text(0, y + GAP + (index + 1) * 16, line, "small")
    ),
    "</svg>",
  ].map((line) => `${line}\n`).join("");
}

function barsOf(measurement: Measurement): readonly Bar[] {
  return Object.entries(PEERS).flatMap(([against, label]) => {
    const ratio = value(measurement, { against });
    const factor = measurement.unit.endsWith("/s") ? ratio : 1 / ratio;
    return Number.isNaN(factor) ? [] : [{ label, factor }];
  });
}

function describeRun({ date, machine, peers }: Report): readonly string[] {
  const versions = typeof peers === "string"
    ? []
    : Object.values(PEERS).map((name) => `${name} ${peers[name]}`);
  const { cpu, cores, deno, node } = machine;
  return [
    `Medians of a run on ${date.slice(0, 10)}, ${cores} cores of ${cpu}.`,
    `Deno ${deno}; on Node.js ${node}: ${versions.join(", ")}.`,
  ];
}

function text(
  x: number,
  y: number,
  content: string,
  kind = "",
  anchor = "start",
): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text class="${kind}" x="${
    x.toFixed(1)
  }" y="${y}" text-anchor="${anchor}">${escaped}</text>`;
}

if (import.meta.main) {
  const [
    json = `${ROOT}/dist/bench.json`,
    svg = `${ROOT}/docs/performance.svg`,
  ] = Deno.args;
  const text = await Deno.readTextFile(json).catch((error: Error) => {
    console.error(
      `Cannot read the numbers: ${error.message}; run deno task bench first`,
    );
    Deno.exit(1);
  });
  await Deno.writeTextFile(svg, drawChart(JSON.parse(text)));
}
