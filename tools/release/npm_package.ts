/**
 * Makes the npm package in `dist/npm/`: a launcher for Node.js, the bundle, and
 * the pinned Deno as its one dependency.
 *
 *     deno task npm
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../permission_flags.ts";

const ROOT = `${import.meta.dirname}/../..`;
const FOLDER = `${ROOT}/dist/npm`;

/** The version of Deno that the program is tested with. */
export const DENO_VERSION = "2.9.6";

/** What the launcher says to `deno run` before the program. */
const FLAGS = [
  "--quiet",
  // Nothing of the folder around it, nothing from the network.
  ...["--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-check"],
  ...clientPermissionFlags,
];

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
  files: ["agent-gateway.cjs", "agent-gateway.js", "flags.json"],
  engines: { node: ">=18" },
  dependencies: { deno: DENO_VERSION },
};

/**
 * Packs the package; the bundle has to be in `dist/` already.
 *
 * @returns The path of the tarball.
 */
export async function packNpmPackage(): Promise<string> {
  await Deno.remove(FOLDER, { recursive: true }).catch(() => {});
  const source = `${FOLDER}/package`;
  await Deno.mkdir(source, { recursive: true });
  for (
    const [from, to] of [
      ["dist/agent-gateway.js", "agent-gateway.js"],
      ["tools/release/npm/agent-gateway.cjs", "agent-gateway.cjs"],
      ["README.md", "README.md"],
      ["LICENSE", "LICENSE"],
    ]
  ) {
    await Deno.copyFile(`${ROOT}/${from}`, `${source}/${to}`);
  }
  await writeJson(`${source}/flags.json`, FLAGS);
  await writeJson(`${source}/package.json`, MANIFEST);
  const { success, stdout } = await new Deno.Command(
    Deno.build.os === "windows" ? "npm.cmd" : "npm",
    {
      args: ["pack", "--silent", "--pack-destination", FOLDER],
      cwd: source,
      stderr: "inherit",
    },
  ).output();
  if (!success) throw new Error("Cannot pack: see npm's message above");
  return `${FOLDER}/${new TextDecoder().decode(stdout).trim()}`;
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, JSON.stringify(value, null, 2) + "\n");
}

if (import.meta.main) {
  const path = await packNpmPackage();
  console.log(path.slice(path.indexOf("dist/npm/")));
}
