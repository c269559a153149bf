/**
 * Makes the npm package in `dist/npm/`: a launcher for Node.js, the program, and
 * the pinned Deno of each system as an optional dependency. (The package `deno`
 * has an install script, which pnpm, Yarn and Bun do not run without being asked.)
 *
 *     deno task npm
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../bundle.ts";
import { NPM_SYSTEMS, PINNED_DENO } from "../pins.ts";
import { runCommand } from "../run_command.ts";
import { runTool } from "../tool_error.ts";

const ROOT = `${import.meta.dirname}/../..`;
const FOLDER = `${ROOT}/dist/npm`;

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

/** The name of the package's file. */
export function npmName(): string {
  return `${MANIFEST.name}-${MANIFEST.version}.tgz`;
}

/** The files of the package, by their names. The bundle has to be in `dist/` already. */
export async function npmFiles(): Promise<Record<string, string>> {
  const files: Record<string, string> = {
    "agent-gateway.cjs": await readText("tools/release/npm/agent-gateway.cjs"),
    // In one file, which is read at the start: an update under a running program must not
    // take away what it would load later.
    "agent-gateway.js": await readText("dist/agent-gateway.js"),
    "flags.json": json(FLAGS),
    "package.json": json(MANIFEST),
  };
  for (const name of DOCUMENTS) files[name] = await readText(name);
  return files;
}

/**
 * Packs the package. The same bundle gives the same bytes.
 *
 * @returns The path of the tarball.
 */
async function packNpmPackage(): Promise<string> {
  await Deno.remove(FOLDER, { recursive: true }).catch(() => {});
  const source = `${FOLDER}/package`;
  await Deno.mkdir(source, { recursive: true });
  for (const [name, text] of Object.entries(await npmFiles())) {
    await Deno.writeTextFile(`${source}/${name}`, text);
    // npm keeps the modes, which depend on the umask.
    if (Deno.build.os !== "windows") {
      await Deno.chmod(
        `${source}/${name}`,
        name.endsWith(".cjs") ? 0o755 : 0o644,
      );
    }
  }
  const npm = Deno.build.os === "windows" ? "npm.cmd" : "npm";
  const pack = ["pack", "--silent", "--pack-destination", FOLDER];
  await runCommand([npm, ...pack], { cwd: source });
  return `${FOLDER}/${npmName()}`;
}

function readText(path: string): Promise<string> {
  return Deno.readTextFile(`${ROOT}/${path}`);
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2) + "\n";
}

async function main(): Promise<void> {
  const path = await packNpmPackage();
  console.log(path.slice(path.indexOf("dist/npm/")));
}

if (import.meta.main) await runTool(main);
