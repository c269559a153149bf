import { describeRun, type Report } from "./report.ts";
import { median } from "./statistics.ts";
import { text, toSvg } from "./svg.ts";

/** The subjects that are drawn, with the class and the label of their lines. */
const SUBJECTS: Readonly<Record<string, readonly [string, string]>> = {
  "ours": ["ours", "agent-gateway"],
  "floor": ["floor", "Deno's fetch alone"],
  "langgraph": ["peer", "@langchain/langgraph-sdk"],
};

/** The graphs, from left to right: a measurement and its heading. */
const GRAPHS: readonly (readonly [string, string])[] = [
  ["CPU per event", "CPU time of an event, in microseconds"],
  ["p99 latency", "Latency of an event, 99th percentile, in ms"],
];

const WIDTH = 760;
const TOP = 76;
const GRAPH_WIDTH = 320;
const GRAPH_HEIGHT = 220;
const GRAPH_DISTANCE = 384;
const LEFT = 40; // room for the numbers of an axis
const BELOW = 44; // room for the numbers and the name of the axis
const LABEL_WIDTH = 190;

const STYLE = `
  path { fill: none; }
  .grid { stroke: #d1d9e0; }
  .ours { stroke: #2f6feb; stroke-width: 2; }
  .floor { stroke: #59636e; stroke-width: 2; stroke-dasharray: 5 3; }
  .peer { stroke: #9a6700; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    .grid { stroke: #3d444d; }
    .ours { stroke: #4493f8; }
    .floor { stroke: #9198a1; }
    .peer { stroke: #d29922; }
  }`;

/** A subject's values over the number of sessions. */
interface Line {
  readonly subject: string;
  readonly points: readonly (readonly [number, number])[];
}

/**
 * Draws cost and latency over the number of sessions as SVG, if the report
 * contains them. The axes are logarithmic.
 */
export function drawScale(report: Report): string | undefined {
  const graphs = GRAPHS.map(([name, heading]) => ({
    heading,
    lines: linesOf(report, name),
  }));
  if (graphs.every(({ lines }) => lines.length === 0)) return undefined;
  const drawn = graphs.flatMap(({ lines }) => lines);
  const legend = Object.entries(SUBJECTS)
    .filter(([name]) => drawn.some(({ subject }) => subject === name))
    .flatMap(([, [kind, label]], index) => [
      `<path class="${kind}" d="M${index * LABEL_WIDTH} 36h24"/>`,
      text(index * LABEL_WIDTH + 30, 40, label, "small"),
    ]);
  return toSvg({
    title: "What many sessions at once cost, and how long an event takes",
    width: WIDTH,
    height: TOP + GRAPH_HEIGHT + BELOW,
    style: STYLE,
    parts: [
      ...legend,
      ...graphs.flatMap(({ heading, lines }, index) =>
        drawGraph(heading, lines, LEFT + index * GRAPH_DISTANCE)
      ),
    ],
    lines: [
      "From 10 sessions on, all of them together get 5,000 events in a second.",
      ...describeRun(report, ["@langchain/langgraph-sdk"]),
    ],
  });
}

function linesOf(report: Report, name: string): readonly Line[] {
  const pattern = new RegExp(`^${name}, ([\\d,]+) sessions?$`);
  const found = (report.benchmarks["scale"] ?? []).flatMap((measurement) => {
    const [, count] = pattern.exec(measurement.name) ?? [];
    if (count === undefined) return [];
    return [{ sessions: Number(count.replaceAll(",", "")), ...measurement }];
  });
  return Object.keys(SUBJECTS).map((subject) => ({
    subject,
    points: found.flatMap(({ sessions, results }) =>
      results
        .filter((result) => result.subject === subject)
        .map(({ samples }) => [sessions, median(samples)] as const)
        .filter(([, value]) => value > 0) // and not unmeasured
    ),
  })).filter(({ points }) => points.length > 0);
}

function drawGraph(
  heading: string,
  lines: readonly Line[],
  left: number,
): readonly string[] {
  const points = lines.flatMap(({ points }) => points);
  const counts = [...new Set(points.map(([sessions]) => sessions))];
  const marks = marksAround(points.map(([, value]) => value));
  const bottom = TOP + GRAPH_HEIGHT;
  const x = (sessions: number) => left + GRAPH_WIDTH * share(sessions, counts);
  const y = (value: number) => bottom - GRAPH_HEIGHT * share(value, marks);
  return [
    text(left - LEFT, TOP - 16, heading, "heading"),
    ...counts.map((count) =>
      text(x(count), bottom + 16, format(count), "small", "middle")
    ),
    text(left + GRAPH_WIDTH / 2, bottom + 34, "sessions", "small", "middle"),
    ...marks.flatMap((mark) => [
      `<path class="grid" d="M${left} ${y(mark).toFixed(1)}h${GRAPH_WIDTH}"/>`,
      text(left - 6, Math.round(y(mark) + 4), format(mark), "small", "end"),
    ]),
    ...lines.map(({ subject, points }) => {
      const path = points
        .map(([count, value]) =>
          `${x(count).toFixed(1)} ${y(value).toFixed(1)}`
        )
        .join("L");
      return `<path class="${SUBJECTS[subject]?.[0]}" d="M${path}"/>`;
    }),
  ];
}

/** Where a value is on a logarithmic axis with these marks, from 0 to 1. */
function share(value: number, marks: readonly number[]): number {
  const low = Math.log(marks[0] ?? 1);
  const high = Math.log(marks.at(-1) ?? 1);
  return (Math.log(value) - low) / (high - low || 1);
}

/** 1, 2 and 5 times powers of ten, from the last below all values to the first above. */
function marksAround(values: readonly number[]): readonly number[] {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const powers = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4));
  const marks = powers.flatMap((power) => [power, 2 * power, 5 * power]);
  return marks.slice(
    marks.findLastIndex((mark) => mark <= least),
    marks.findIndex((mark) => mark >= most) + 1,
  );
}

function format(number: number): string {
  return number.toLocaleString("en");
}
