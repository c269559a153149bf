/**
 * Puts the esbuild that `deno bundle` runs into Deno's cache, and fails unless it
 * is the pinned one and the only one there. Deno itself would take whatever the
 * registry serves. Run it before and after a release is bundled.
 *
 *     deno run --allow-read --allow-write --allow-run tools/release/esbuild.ts
 *
 * @module
 */
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";

/** The esbuild of the pinned Deno, for the system that makes releases. */
export const ESBUILD = {
  package: "@esbuild/linux-x64",
  version: "0.25.5",
  /** The SHA-256 sum of the executable. */
  sha256: "3331e0b23c99d93d9a39e436a4838de40ca1c95ac3bcbd9874ba169d8545b634",
} as const;

/** Where Deno keeps the executable, below its cache. */
const FOLDER = `esbuild-${ESBUILD.version}-1`;
const FILE = `dl/${FOLDER}/esbuild-linux-x64`;

/**
 * Checks what Deno would run.
 *
 * @throws {ToolError} If it is not the pinned executable, or not the only one.
 */
export async function checkEsbuild(denoDir: string): Promise<void> {
  for await (const { name } of Deno.readDir(`${denoDir}/dl`)) {
    if (name.startsWith("esbuild-") && name !== FOLDER) {
      throw new ToolError(`Deno bundles with ${name} instead of ${FOLDER}`);
    }
  }
  const bytes = await Deno.readFile(`${denoDir}/${FILE}`);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (sum.toHex() !== ESBUILD.sha256) {
    throw new ToolError(`${FILE} has the SHA-256 sum ${sum.toHex()}`);
  }
}

/** Downloads the executable as Deno expects it, without running it. */
async function takeEsbuild(denoDir: string): Promise<void> {
  const folder = `${denoDir}/dl/${FOLDER}`;
  await Deno.mkdir(folder, { recursive: true });
  const name = `${ESBUILD.package}@${ESBUILD.version}`;
  const cwd = folder;
  const packed = await runCommand(["npm", "pack", "--silent", name], { cwd });
  const archive = packed.trim();
  await runCommand(["tar", "-xzf", archive, "package/bin/esbuild"], { cwd });
  await Deno.rename(`${folder}/package/bin/esbuild`, `${denoDir}/${FILE}`);
  await Deno.chmod(`${denoDir}/${FILE}`, 0o755);
  await Deno.remove(`${folder}/package`, { recursive: true });
  await Deno.remove(`${folder}/${archive}`);
}

async function main(): Promise<void> {
  const info = await runCommand([Deno.execPath(), "info", "--json"]);
  const { denoDir } = JSON.parse(info);
  const found = await Deno.stat(`${denoDir}/${FILE}`).catch(() => undefined);
  if (found === undefined) await takeEsbuild(denoDir);
  await checkEsbuild(denoDir);
}

if (import.meta.main) await runTool(main);
