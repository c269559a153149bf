/**
 * Measures the bridge against other programs that do the same work, and prints
 * the numbers.
 *
 *     deno task bench [--quick] [--json PATH] [NAME...]
 *
 * `--quick` runs everything with small sizes; its numbers are meaningless. The
 * JSON goes to `dist/bench.json` by default. Beside the medians stand those of the
 * run that was published last; `publish.ts` publishes one.
 *
 * @module
 */
import { dirname } from "node:path";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Benchmark, BenchmarkContext, Measurement } from "./benchmark.ts";
import { connections } from "./connections.ts";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { parsing } from "./parsing.ts";
import { installPeers, nodeVersion, PEER_VERSIONS } from "./peers.ts";
import { buildPrograms, type Programs } from "./programs.ts";
import { prompt } from "./prompt.ts";
import { formatMeasurement, PUBLISHED, type Report } from "./report.ts";
import { scale } from "./scale.ts";
import { startup } from "./startup.ts";
import { stream } from "./stream.ts";
import { ROOT, Unavailable } from "./subjects.ts";
import { terminal } from "./terminal.ts";
import { turn } from "./turn.ts";

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  startup,
  prompt,
  terminal,
  turn,
  stream,
  parsing,
  latency,
  scale,
  idle,
  memory,
  connections,
};

const { values, positionals } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string", default: `${ROOT}/dist/bench.json` },
  },
  allowPositionals: true,
});
const names = positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals;
const unknown = names.find((name) => !(name in BENCHMARKS));
if (unknown !== undefined) {
  const known = Object.keys(BENCHMARKS).join(", ");
  console.error(`No benchmark is called "${unknown}". There are: ${known}`);
  Deno.exit(2);
}

const peers = await installPeers().catch((error: unknown) =>
  new Unavailable(error instanceof Error ? error.message : String(error))
);
const folder = await Deno.makeTempDir();
let programs: Promise<Programs> | undefined;
const context: BenchmarkContext = {
  quick: values.quick,
  peers,
  folder,
  buildPrograms: () => programs ??= buildPrograms(folder, values.quick),
};
const published: Report | undefined = values.quick
  ? undefined
  : await readPublished();
const found: Record<string, readonly Measurement[]> = {};
try {
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) continue;
    found[name] = await benchmark(context);
    for (const measurement of found[name]) {
      console.log(formatMeasurement(name, measurement, published));
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}

const report: Report = {
  date: new Date().toISOString(),
  quick: values.quick,
  machine: {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: navigator.hardwareConcurrency,
    target: Deno.build.target,
    deno: Deno.version.deno,
    node: await nodeVersion().catch(() => "none"),
  },
  peers: peers instanceof Unavailable ? peers.reason : PEER_VERSIONS,
  benchmarks: found,
};
await Deno.mkdir(dirname(values.json), { recursive: true });
await Deno.writeTextFile(values.json, JSON.stringify(report, null, 2) + "\n");

async function readPublished(): Promise<Report | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(PUBLISHED));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
