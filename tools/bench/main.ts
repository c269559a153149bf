/**
 * Measures the bridge against other programs that do the same work, and prints
 * the numbers.
 *
 *     deno task bench [--quick] [--json PATH] [NAME...]
 *
 * `--quick` runs everything with small sizes; its numbers are meaningless. The
 * JSON goes to `dist/bench.json` by default.
 *
 * @module
 */
import { dirname } from "node:path";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { connections } from "./connections.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { parsing } from "./parsing.ts";
import { installPeers, nodeVersion, PEER_VERSIONS } from "./peers.ts";
import { formatMeasurement, type Report } from "./report.ts";
import { sessions } from "./sessions.ts";
import { startup } from "./startup.ts";
import { stream } from "./stream.ts";
import { ROOT, Unavailable } from "./subjects.ts";
import { turn } from "./turn.ts";

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  startup,
  turn,
  stream,
  parsing,
  latency,
  sessions,
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
const found: Record<string, readonly Measurement[]> = {};
try {
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) continue;
    found[name] = await benchmark({ quick: values.quick, peers, folder });
    for (const measurement of found[name]) {
      console.log(formatMeasurement(name, measurement));
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
