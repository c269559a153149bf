/**
 * Makes the npm package in `dist/`: a launcher for Node.js, the program, and
 * the pinned Deno of each system as an optional dependency. (The package `deno`
 * has an install script, which pnpm, Yarn and Bun do not run without being asked.)
 *
 *     deno task npm
 *
 * @module
 */
import { Buffer } from "node:buffer";
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../bundle.ts";
import { NPM_SYSTEMS, PINNED_DENO } from "../pins.ts";
import { runTool } from "../tool_error.ts";
import { type Entry, gzip, tar } from "./archive.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** What the launcher says to `deno run` before the program. */
const FLAGS = [
  "--quiet",
  // Compiles each function once, for the code cache, which keeps only what V8 compiles
  // when it loads a file (-6 ms of CPU for a prompt). A binary has no cache.
  "--v8-flags=--no-lazy",
  // Nothing of the folder around it, nothing from the network.
  ...["--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-check"],
  ...clientPermissionFlags,
];

/** The time of each file in packages, in seconds: npm's own, from before any of them. */
const PACKED = Date.UTC(1985, 9, 26, 8, 15) / 1000;

const DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.md"];

const MANIFEST = {
  name: "agent-gateway",
  version: config.version,
  description: "Terminal and editor client of a remote agent service",
  keywords: ["agent", "acp", "agent-client-protocol", "cli"],
  license: config.license,
  homepage: "https://github.com/agent-gateway/agent-gateway#readme",
  repository: {
    type: "git",
    url: "git+https://github.com/agent-gateway/agent-gateway.git",
  },
  bin: { "agent-gateway": "agent-gateway.cjs" },
  files: [
    ...["agent-gateway.cjs", "agent-gateway.js", "flags.json"],
    ...["CHANGELOG.md", "THIRD-PARTY.md"],
  ],
  engines: { node: ">=18" },
  // Deno cannot read out of the archives in which Yarn keeps packages.
  preferUnplugged: true,
  optionalDependencies: Object.fromEntries(
    NPM_SYSTEMS.map((system) => [`@deno/${system}`, PINNED_DENO]),
  ),
};

/**
 * Writes the package into `dist/`, where the bundle has to be already. The same bundle
 * gives the same bytes.
 *
 * @returns The name of its file.
 */
export async function makeNpmPackage(): Promise<string> {
  const texts: Record<string, string> = {
    "package.json": json(MANIFEST),
    "agent-gateway.cjs": await readText("tools/release/npm/agent-gateway.cjs"),
    // In one file, which is read at the start: an update under a running program must not
    // take away what it would load later.
    "agent-gateway.js": await readText("dist/agent-gateway.js"),
    "flags.json": json(FLAGS),
  };
  for (const name of DOCUMENTS) texts[name] = await readText(name);
  const files = Object.entries(texts).map(([name, text]): Entry => ({
    path: `package/${name}`,
    mode: name.endsWith(".cjs") ? 0o755 : 0o644,
    bytes: Buffer.from(text),
  }));
  const name = `${MANIFEST.name}-${MANIFEST.version}.tgz`;
  await Deno.writeFile(`${ROOT}/dist/${name}`, gzip(tar(files, PACKED)));
  return name;
}

function readText(path: string): Promise<string> {
  return Deno.readTextFile(`${ROOT}/${path}`);
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2) + "\n";
}

async function main(): Promise<void> {
  console.log(`dist/${await makeNpmPackage()}`);
}

if (import.meta.main) await runTool(main);
