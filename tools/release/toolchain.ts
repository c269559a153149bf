/**
 * Puts into Deno's cache what Deno would take from the network for a release: the
 * esbuild that bundles, and the runtime of each binary. Fails unless all of them
 * have their sums in `.ci/toolchain-sums`. Run it before and after a release is
 * built. (The sum of Deno itself is checked before it runs, by
 * `.github/actions/deno`.)
 *
 *     deno run --allow-net=dl.deno.land --allow-env=STANDARD_LIBRARY --allow-read --allow-write --allow-run tools/release/toolchain.ts
 *
 * @module
 */
import { dirname } from "node:path";
import { parseSums, sha256, type Sums } from "../checksums.ts";
import { TARGETS } from "../compile.ts";
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";

/** Where the sums are pinned, in the format of `sha256sum`. */
export const SUMS_FILE = `${import.meta.dirname}/../../.ci/toolchain-sums`;

/** The esbuild of the pinned Deno, for the system that makes releases. */
export const ESBUILD = {
  package: "@esbuild/linux-x64",
  version: "0.25.5",
  name: "esbuild-linux-x64",
} as const;

/** Where Deno keeps esbuild, below its cache. */
const ESBUILD_FOLDER = `esbuild-${ESBUILD.version}-1`;

/** The runtimes of binaries for all systems, as Deno's releases name them. */
export const RUNTIMES: readonly string[] = TARGETS
  .map((target) => `denort-${target}.zip`);

/** How long a download may take, in milliseconds. */
const TIMEOUT = 300_000;

/** Where Deno keeps its runtimes, below its cache and on its server. */
const RELEASE = `release/v${Deno.version.deno}`;

/** The sums that are pinned, by the names of the files. */
export async function pinnedSums(): Promise<Sums> {
  return parseSums(await Deno.readTextFile(SUMS_FILE));
}

/**
 * Checks what Deno would run, and what it would make binaries of.
 *
 * @throws {ToolError} If one has not the pinned sum, or there is another esbuild.
 */
export async function checkToolchain(
  denoDir: string,
  sums: Sums,
): Promise<void> {
  for await (const { name } of Deno.readDir(`${denoDir}/dl`)) {
    if (name.startsWith("esbuild-") && name !== ESBUILD_FOLDER) {
      throw new ToolError(
        `Deno bundles with ${name} instead of ${ESBUILD_FOLDER}`,
      );
    }
  }
  for (const [name, path] of cachedFiles(denoDir)) {
    const sum = await sha256(await Deno.readFile(path));
    if (sum === sums.get(name)) continue;
    throw new ToolError(
      `${name} has the SHA-256 sum ${sum}, and .ci/toolchain-sums has ${
        sums.get(name) ?? "none: the workflow Update records it for review"
      }`,
    );
  }
}

/** The files in Deno's cache that a release is made with, by their names. */
function cachedFiles(denoDir: string): ReadonlyMap<string, string> {
  return new Map([
    [ESBUILD.name, `${denoDir}/dl/${ESBUILD_FOLDER}/${ESBUILD.name}`],
    ...RUNTIMES.map((name) =>
      [name, `${denoDir}/dl/${RELEASE}/${name}`] as const
    ),
  ]);
}

/**
 * Takes a file out of an npm package, without running anything of it.
 *
 * @param name The package with its version.
 */
export async function takeFromNpm(
  name: string,
  file: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const cwd = await Deno.makeTempDir();
  try {
    const packed = await runCommand(["npm", "pack", "--silent", name], { cwd });
    await runCommand(["tar", "-xzf", packed.trim(), `package/${file}`], {
      cwd,
    });
    return await Deno.readFile(`${cwd}/package/${file}`);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

/**
 * Requests a URL.
 *
 * @throws {ToolError} If there is no answer, or another status than 2xx.
 */
export async function download(url: string): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const answer = await fetch(url, { signal }).catch((error: Error) => error);
  if (answer instanceof Response && answer.ok) return answer;
  const why = answer instanceof Error ? answer.message : `${answer.status}`;
  throw new ToolError(`Cannot download ${url}: ${why}`);
}

async function main(): Promise<void> {
  const info = await runCommand([Deno.execPath(), "info", "--json"]);
  const { denoDir } = JSON.parse(info);
  for (const [name, path] of cachedFiles(denoDir)) {
    if (await Deno.stat(path).then(() => true, () => false)) continue;
    const bytes = name === ESBUILD.name
      ? await takeFromNpm(
        `${ESBUILD.package}@${ESBUILD.version}`,
        "bin/esbuild",
      )
      : await (await download(`https://dl.deno.land/${RELEASE}/${name}`))
        .bytes();
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, bytes, { mode: 0o755 });
  }
  await checkToolchain(denoDir, await pinnedSums());
}

if (import.meta.main) await runTool(main);
