/**
 * Measures the client against other programs that do the same work, and against
 * floors: the least code that does it. Prints a table.
 *
 *     deno task bench [--quick | --publish] [NAME...]
 *
 * `AGENT_GATEWAY` names a bundle to measure; by default, bundle and binary are
 * built. `--quick` runs everything with small sizes; its figures mean nothing.
 * `--publish` writes a whole run to `docs/performance.md`, and its chart.
 *
 * @module
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { runCommand } from "../run_command.ts";
import { hasWire } from "../wire.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { DOCS, formatTable, type Measured, publish, rowsOf } from "./page.ts";
import { PEER_VERSIONS, preparePrograms } from "./programs.ts";
import { measure, type Table } from "./table.ts";
import { memory } from "./tables/memory.ts";
import { networkPrompt, networkTurn } from "./tables/network.ts";
import { sessions } from "./tables/sessions.ts";
import { prompt, start } from "./tables/start.ts";
import { streams } from "./tables/streams.ts";

/** The parts of the table of `docs/performance.md`, by the names of the benchmarks. */
export const TABLES: Readonly<Record<string, Table>> = {
  start,
  prompt,
  "network-turn": networkTurn,
  "network-prompt": networkPrompt,
  streams,
  sessions,
  memory,
};

/** The packages that the page names. */
const SHOWN = [
  "@agentclientprotocol/sdk",
  "@langchain/langgraph-sdk",
  "eventsource-parser",
];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: "boolean" }, publish: { type: "boolean" } },
    allowPositionals: true,
  });
  const quick = values.quick ?? false;
  const unknown = positionals.find((name) => !(name in TABLES));
  if (unknown !== undefined) {
    const known = Object.keys(TABLES).join(", ");
    throw new ToolError(
      `No benchmark is called "${unknown}". There are: ${known}`,
      2,
    );
  }
  if (values.publish && (quick || positionals.length > 0)) {
    throw new ToolError("Only a whole run can be published", 2);
  }
  const folder = await Deno.makeTempDir();
  try {
    const programs = await preparePrograms(folder, quick);
    if (values.publish && !hasWire()) {
      throw new ToolError(
        "Only a run with all tables can be published: it needs root on Linux",
      );
    }
    const rows: Measured[] = [];
    for (const [name, table] of Object.entries(TABLES)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      if (table.needs?.isMet() === false) {
        console.log(`Without "${table.title}": it needs ${table.needs.what}\n`);
        continue;
      }
      // A cache contains the code that its first run used: tables share none.
      Deno.env.set("DENO_DIR", `${folder}/${name}`);
      const samples = await measure(table, programs, { quick });
      const measured = rowsOf(table, samples);
      console.log(formatTable(measured));
      rows.push(...measured);
    }
    if (values.publish) await publish(DOCS, await introduce(), rows);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** When and with what a run is measured. */
async function introduce(): Promise<string> {
  const date = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const machine = [
    `${navigator.hardwareConcurrency} cores of ${cpus()[0]?.model}`,
    `${Deno.build.target}, Deno ${Deno.version.deno}`,
    `Node.js ${(await runCommand(["node", "--version"])).trim()}`,
  ];
  const peers = SHOWN.map((name) => `${name} ${PEER_VERSIONS[name]}`);
  return `On ${date}, with ${machine.join(", ")}; ${peers.join(", ")}.\n`;
}

if (import.meta.main) await runTool(main);
