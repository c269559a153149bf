/**
 * Puts the esbuild that `deno bundle` runs into Deno's cache, and fails unless it
 * is the pinned one and the only one there. Deno itself would take whatever the
 * registry serves. Run it before and after a release is bundled.
 *
 *     deno run --allow-read --allow-write --allow-run tools/release/esbuild.ts
 *
 * @module
 */

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
 * @throws {Error} If it is not the pinned executable, or not the only one.
 */
export async function checkEsbuild(denoDir: string): Promise<void> {
  for await (const { name } of Deno.readDir(`${denoDir}/dl`)) {
    if (name.startsWith("esbuild-") && name !== FOLDER) {
      throw new Error(`Deno bundles with ${name} instead of ${FOLDER}`);
    }
  }
  const bytes = await Deno.readFile(`${denoDir}/${FILE}`);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  if (sum.toHex() !== ESBUILD.sha256) {
    throw new Error(`${FILE} has the SHA-256 sum ${sum.toHex()}`);
  }
}

/** Downloads the executable as Deno expects it, without running it. */
async function takeEsbuild(denoDir: string): Promise<void> {
  const folder = `${denoDir}/dl/${FOLDER}`;
  await Deno.mkdir(folder, { recursive: true });
  const name = `${ESBUILD.package}@${ESBUILD.version}`;
  const archive = (await run("npm", ["pack", "--silent", name], folder)).trim();
  await run("tar", ["-xzf", archive, "package/bin/esbuild"], folder);
  await Deno.rename(`${folder}/package/bin/esbuild`, `${denoDir}/${FILE}`);
  await Deno.chmod(`${denoDir}/${FILE}`, 0o755);
  await Deno.remove(`${folder}/package`, { recursive: true });
  await Deno.remove(`${folder}/${archive}`);
}

async function run(
  command: string,
  args: readonly string[],
  cwd = ".",
): Promise<string> {
  const { success, stdout } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${command} failed: see its message above`);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  const info = await run(Deno.execPath(), ["info", "--json"]);
  const { denoDir } = JSON.parse(info);
  const found = await Deno.stat(`${denoDir}/${FILE}`).catch(() => undefined);
  if (found === undefined) await takeEsbuild(denoDir);
  await checkEsbuild(denoDir);
}
