/**
 * The pins that Dependabot does not know or would bring out of step with the
 * stand-ins in `tools/npm/`: Deno, and the packages from JSR. As a program,
 * updates them, and prints the version of Deno.
 *
 *     deno run --allow-net=api.github.com --allow-read --allow-write --allow-run tools/pins.ts
 *
 * @module
 */
import { runCommand } from "./run_command.ts";

const ROOT = `${import.meta.dirname}/..`;
const DENO_VERSION = `${ROOT}/.ci/deno-version`;

/** The version of Deno that the project is tested and released with. */
export const PINNED_DENO: string = Deno.readTextFileSync(DENO_VERSION).trim();

/** Where commands name the version of Deno that `.ci/deno-version` pins. */
const DOCUMENTS = ["README.md", "CONTRIBUTING.md"];

/** How long an answer of GitHub may take, in milliseconds. */
const TIMEOUT = 30_000;

/** Pins Deno in the commands of a document. */
export function pinDeno(text: string, version: string): string {
  return text.replaceAll(/\bdeno@\d+\.\d+\.\d+/g, `deno@${version}`);
}

/**
 * Lets Deno rewrite the JSR part of `deno.lock` in a folder with the newest
 * releases that `deno.json` allows. npm packages stay pinned.
 *
 * @param env Added to the environment of this process.
 * @throws {ToolError} If Deno fails. The message ends with Deno's.
 */
export async function writeLock(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const path = `${folder}/deno.lock`;
  const { version, specifiers, npm, workspace } = JSON.parse(
    await Deno.readTextFile(path),
  );
  const ofNpm = Object.entries<string>(specifiers)
    .filter(([specifier]) => specifier.startsWith("npm:"));
  const rest = {
    version,
    specifiers: Object.fromEntries(ofNpm),
    npm,
    workspace,
  };
  await Deno.writeTextFile(path, JSON.stringify(rest));
  await runCommand([
    ...[Deno.execPath(), "install", "--quiet", "--frozen=false"],
    ...["--entrypoint", "tools/standard_library.ts"],
  ], { cwd: folder, env });
}

async function newestDeno(): Promise<string> {
  const url = "https://api.github.com/repos/denoland/deno/releases/latest";
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  const { tag_name: tag } = await response.json();
  const [, version] = /^v(\d+\.\d+\.\d+)$/.exec(tag) ?? [];
  if (version === undefined) {
    throw new Error(`The newest release of Deno is called ${tag}`);
  }
  return version;
}

if (import.meta.main) {
  const version = await newestDeno();
  await Deno.writeTextFile(DENO_VERSION, `${version}\n`);
  for (const name of DOCUMENTS) {
    const text = await Deno.readTextFile(`${ROOT}/${name}`);
    await Deno.writeTextFile(`${ROOT}/${name}`, pinDeno(text, version));
  }
  await writeLock(ROOT);
  console.log(version);
}
