/**
 * Measures the client against other programs that do the same work, and against
 * floors: the least code that does it. Prints the tables.
 *
 *     deno task bench [--quick] [--json PATH] [NAME...]
 *
 * `AGENT_GATEWAY` names a bundle to measure; by default, bundle and binary are
 * built. `--quick` runs everything with small sizes; its figures mean nothing.
 * The samples go to `dist/bench.json`, which `performance_page.ts` publishes.
 *
 * @module
 */
import { cpus } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { runCommand } from "../run_command.ts";
import { formatTable, type Run, RUN_FILE, TABLES } from "./performance_page.ts";
import { installPeers } from "./peers.ts";
import { buildPrograms } from "./programs.ts";
import { Samples, type Setup } from "./table.ts";

const { values: { quick, json }, positionals } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string", default: RUN_FILE },
  },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !(name in TABLES));
if (unknown !== undefined) {
  const known = Object.keys(TABLES).join(", ");
  console.error(`No benchmark is called "${unknown}". There are: ${known}`);
  Deno.exit(2);
}

const folder = await Deno.makeTempDir();
try {
  const setup: Setup = {
    quick,
    programs: await buildPrograms(folder, quick),
    peer: await installPeers(),
  };
  const tables: Record<string, Samples["record"]> = {};
  for (const [name, table] of Object.entries(TABLES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const started = performance.now();
    const samples = new Samples(table, { quick, caches: `${folder}/${name}` });
    await table.measure(setup, samples);
    tables[name] = samples.record;
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(`${name}, measured in ${seconds} s: ${table.title}\n`);
    console.log(formatTable(table, samples.record));
  }
  const run: Run = {
    quick,
    date: new Date().toISOString().slice(0, "YYYY-MM-DD".length),
    machine: [
      `${navigator.hardwareConcurrency} cores of ${cpus()[0]?.model}`,
      `${Deno.build.target}, Deno ${Deno.version.deno}`,
      `Node.js ${(await runCommand(["node", "--version"])).trim()}`,
    ].join(", "),
    tables,
  };
  await Deno.mkdir(dirname(json), { recursive: true });
  await Deno.writeTextFile(json, JSON.stringify(run, null, 2) + "\n");
} finally {
  await Deno.remove(folder, { recursive: true });
}
