/**
 * The pins that Dependabot does not know or would bring out of step with the
 * stand-ins in `tools/npm/`: Deno, and the packages from JSR. As a program,
 * updates them, and prints the version of Deno.
 *
 *     deno run --allow-net=api.github.com --allow-env=STANDARD_LIBRARY --allow-read --allow-write --allow-run tools/pins.ts
 *
 * @module
 */
import { formatSums, sha256, type Sums } from "./checksums.ts";
import {
  download,
  pinnedSums,
  RUNTIMES,
  SUMS_FILE,
  takeFromNpm,
} from "./release/toolchain.ts";
import { runCommand } from "./run_command.ts";
import { runTool, ToolError } from "./tool_error.ts";

const ROOT = `${import.meta.dirname}/..`;
const DENO_VERSION = `${ROOT}/.ci/deno-version`;
const DENO_COMMIT = `${ROOT}/.ci/deno-commit`;
const GITHUB = "https://api.github.com/repos/denoland/deno";

/** The version of Deno that the project is tested and released with. */
export const PINNED_DENO: string = Deno.readTextFileSync(DENO_VERSION).trim();

/** The commit of that Deno. */
export const PINNED_COMMIT: string = Deno.readTextFileSync(DENO_COMMIT).trim();

/** The systems for which Deno is on npm, as the packages `@deno/SYSTEM`. */
export const NPM_SYSTEMS: readonly string[] = [
  ...["darwin-arm64", "darwin-x64", "linux-arm64-glibc", "linux-x64-glibc"],
  ...["win32-arm64", "win32-x64"],
];

/** How old a version has to be, in days: what is wrong with it is found by then. */
const COOLDOWN = 7;

/** The times of a package's versions, as `npm view PACKAGE time --json` prints them. */
export type VersionTimes = Readonly<Record<string, string>>;

/**
 * Returns the newest version that all of these packages have for some days: those of a
 * new Deno come to npm at different times, and the npm package needs it for each system.
 *
 * @throws {ToolError} If there is none.
 */
export function newestOfAll(
  packages: readonly VersionTimes[],
  now: Date = new Date(),
): string {
  const latest = now.getTime() - COOLDOWN * 24 * 60 * 60 * 1000;
  const isOldEnough = (version: string) =>
    packages.every((times) => Date.parse(times[version] ?? "") <= latest);
  const newest = Object.keys(packages[0] ?? {})
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version))
    .filter(isOldEnough)
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))[0];
  if (newest !== undefined) return newest;
  throw new ToolError("npm has no version of Deno for all systems");
}

/** Where commands name the version of Deno that `.ci/deno-version` pins. */
const DOCUMENTS = ["README.md", "CONTRIBUTING.md"];

/** Pins Deno in the commands of a document. */
function pinDeno(text: string, version: string): string {
  return text.replaceAll(/\bdeno@\d+\.\d+\.\d+/g, `deno@${version}`);
}

/**
 * Lets Deno rewrite the JSR part of `deno.lock` in a folder with the newest
 * releases that `deno.json` allows. npm packages stay pinned.
 *
 * @param options.env Added to the environment of this process.
 * @param options.flags Added to those of `deno install`.
 * @throws {ToolError} If Deno fails. The message ends with Deno's.
 */
export async function writeLock(
  folder: string,
  { env = {}, flags = [] }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly flags?: readonly string[];
  } = {},
): Promise<void> {
  const path = `${folder}/deno.lock`;
  const { jsr: _, specifiers, ...rest } = JSON.parse(
    await Deno.readTextFile(path),
  );
  const ofNpm = Object.entries(specifiers)
    .filter(([specifier]) => specifier.startsWith("npm:"));
  const lock = { ...rest, specifiers: Object.fromEntries(ofNpm) };
  await Deno.writeTextFile(path, JSON.stringify(lock));
  await runCommand([
    ...[Deno.execPath(), "install", "--quiet", "--frozen=false"],
    ...flags,
    ...["--entrypoint", "tools/standard_library.ts"],
  ], { cwd: folder, env });
}

/** The part of GitHub's answer about a release that is read here. */
export interface Release {
  readonly assets: readonly {
    readonly name: string;
    /** For example `sha256:...`. */
    readonly digest?: string | null;
  }[];
}

/**
 * Pins the runtimes of a release of Deno by the sums that GitHub has of them.
 *
 * @throws {ToolError} If one is missing.
 */
export function pinRuntimes(sums: Sums, { assets }: Release): Sums {
  const pinned = new Map(sums);
  for (const name of RUNTIMES) {
    const digest = assets.find((asset) => asset.name === name)?.digest ?? "";
    const [, sum] = /^sha256:([0-9a-f]{64})$/.exec(digest) ?? [];
    if (sum === undefined) throw new ToolError(`GitHub has no sum of ${name}`);
    pinned.set(name, sum);
  }
  return pinned;
}

/**
 * The commit that an executable of Deno says it was built from. Its source names what
 * Deno is linked with. (A tag can be moved. For 2.9.4 and 2.9.5, both are the same.)
 *
 * @throws {ToolError} If it names none.
 */
export function commitIn(executable: Uint8Array, version: string): string {
  const text = new TextDecoder("latin1").decode(executable);
  // "Deno/2.9.6+e518fbd" is followed by the whole hash.
  const start = RegExp.escape(`Deno/${version}+`);
  const pattern = RegExp(`${start}([0-9a-f]{7})(\\1[0-9a-f]{33})`);
  const [, , commit] = pattern.exec(text) ?? [];
  if (commit !== undefined) return commit;
  throw new ToolError(`Deno ${version} does not name its commit`);
}

async function main(): Promise<void> {
  const version = newestOfAll(
    await Promise.all(NPM_SYSTEMS.map(async (system) => {
      const view = ["npm", "view", `@deno/${system}`, "time", "--json"];
      return JSON.parse(await runCommand(view));
    })),
  );
  const url = `${GITHUB}/releases/tags/v${version}`;
  const release: Release = await (await download(url)).json();
  // Releases are made on Linux x64. npm has the executable of Deno's release.
  const deno = await takeFromNpm(`@deno/linux-x64-glibc@${version}`, "deno");
  const sums = new Map(pinRuntimes(await pinnedSums(), release))
    .set("deno", await sha256(deno));
  await Deno.writeTextFile(SUMS_FILE, formatSums(sums));
  await Deno.writeTextFile(DENO_VERSION, `${version}\n`);
  const commit = commitIn(deno, version);
  await Deno.writeTextFile(DENO_COMMIT, `${commit}\n`);
  for (const name of DOCUMENTS) {
    const text = await Deno.readTextFile(`${ROOT}/${name}`);
    await Deno.writeTextFile(`${ROOT}/${name}`, pinDeno(text, version));
  }
  await writeLock(ROOT, { flags: [`--min-dep-age=P${COOLDOWN}D`] });
  console.log(version);
}

if (import.meta.main) await runTool(main);
