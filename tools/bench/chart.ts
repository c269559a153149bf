/**
 * Draws the numbers of a benchmark run: the bridge's advantage over each peer, as
 * a factor.
 *
 * @module
 */
import type { Measurement } from "./benchmark.ts";
import { describeRun, type Report, value } from "./report.ts";
import { text, toSvg } from "./svg.ts";

/** The bars: benchmark, measurement and label. */
const DRAWN: readonly (readonly [string, string, string])[] = [
  ["startup", "binary", "Start of the binary to its first answer"],
  ["startup", "bundle", "Start of the bundle to its first answer"],
  ["prompt", "bundle", "One prompt from the shell, start to end"],
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
  .bar { fill: #2f6feb; }
  .slower { fill: #9a6700; }
  .one { stroke: #59636e; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    .bar { fill: #4493f8; }
    .slower { fill: #d29922; }
    .one { stroke: #9198a1; }
  }`;

interface Bar {
  readonly label: string;
  readonly factor: number;
}

/** Draws the factors of a report as SVG, if it contains any. */
export function drawChart(report: Report): string | undefined {
  const groups = DRAWN.flatMap(([benchmark, name, heading]) => {
    const measurement = report.benchmarks[benchmark]
      ?.find((measurement) => measurement.name === name);
    const bars = measurement ? barsOf(measurement) : [];
    return bars.length > 0 ? [{ heading, bars }] : [];
  });
  if (groups.length === 0) return undefined;
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
  return toSvg({
    title: "How many times as fast as others that do the same work",
    width: WIDTH,
    height: y + GAP,
    style: STYLE,
    parts: [
      text(Number(one), TOP - 6, "1x: as fast as the other", "small", "middle"),
      ...parts,
    ],
    lines: describeRun(report, Object.values(PEERS)),
  });
}

function barsOf(measurement: Measurement): readonly Bar[] {
  return Object.entries(PEERS).flatMap(([against, label]) => {
    const ratio = value(measurement, { against });
    const factor = measurement.unit.endsWith("/s") ? ratio : 1 / ratio;
    return Number.isNaN(factor) ? [] : [{ label, factor }];
  });
}
