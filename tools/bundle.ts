/**
 * Makes `dist/agent-gateway.js`, the whole program in one file, which needs
 * nothing but Deno, and `dist/program/`, the same in files. The same source and
 * the same source of the standard library give the same bytes in every folder.
 *
 *     deno task bundle
 *
 * @module
 */
import { cp } from "node:fs/promises";
import config from "../deno.json" with { type: "json" };
import { writeChecksums } from "./checksums.ts";
import { chosenLibrary, sameFlags } from "./deno.ts";
import { runCommand } from "./run_command.ts";
import { runTool } from "./tool_error.ts";

const ROOT = `${import.meta.dirname}/..`;
const DIST = `${ROOT}/dist`;
const PARTS = `${DIST}/program`;
const NAME = "agent-gateway.js";

/** The client's permissions, as flags of `deno run` and `deno compile`. */
export const clientPermissionFlags: readonly string[] = [
  ...Object.entries(config.permissions.client).map(([name, value]) =>
    value === true ? `--allow-${name}` : `--allow-${name}=${value}`
  ),
  "--no-prompt",
];

/**
 * The third line of a bundle with the standard library from JSR. With the one
 * from npm, the program is as good, but not the same bytes: no release.
 */
export const RELEASE_HEADER =
  "// With parts of the standard library of JSR, copyright the Deno authors, MIT license";

const HEADER = [
  `// agent-gateway ${config.version}, ${config.license} license`,
  `// Usage: deno run ${clientPermissionFlags.join(" ")} ${NAME}`,
  chosenLibrary() === "npm"
    ? RELEASE_HEADER.replace("JSR", "npm")
    : RELEASE_HEADER,
];

/** Returns the program as one file, with the text of the licence at its end. */
export async function bundle(): Promise<string> {
  const code = await withSource((source) => runBundler(source));
  const license = (await Deno.readTextFile(`${ROOT}/LICENSE`)).trimEnd();
  const comment = license.split("\n").map((line) => `// ${line}`.trimEnd());
  return [...HEADER, code + comment.join("\n"), ""].join("\n");
}

/**
 * Returns the program as files, by their names. It begins in `main.js`, and the
 * others are loaded when they are needed, so it starts sooner where nothing keeps
 * compiled code for the next start: in a binary.
 */
export async function bundleParts(): Promise<Readonly<Record<string, string>>> {
  return await withSource(async (source) => {
    const folder = `${source}/parts`;
    await runBundler(source, "--code-splitting", "--outdir", folder);
    return withStableNames(await readFolder(folder));
  });
}

/** Calls a function with a folder that contains the program's source. */
async function withSource<T>(
  use: (source: string) => Promise<T>,
): Promise<T> {
  await Deno.mkdir(DIST, { recursive: true });
  const source = await Deno.makeTempDir({ dir: DIST, prefix: ".source-" });
  try {
    // Without the project's deno.json: Deno bundles an imported JSON file as a whole.
    const { version } = config;
    await Deno.writeTextFile(
      `${source}/deno.json`,
      JSON.stringify({ version }),
    );
    await cp(`${ROOT}/main.ts`, `${source}/main.ts`);
    await cp(`${ROOT}/lib`, `${source}/lib`, { recursive: true });
    return await use(source);
  } finally {
    await Deno.remove(source, { recursive: true });
  }
}

/** Runs `deno bundle`, and returns what it prints: without options, the program. */
async function runBundler(
  source: string,
  ...options: readonly string[]
): Promise<string> {
  return await runCommand([
    ...[Deno.execPath(), "bundle", "--quiet", "--minify", ...sameFlags],
    ...[...options, `${source}/main.ts`],
  ]);
}

/** Returns the parts that `deno task bundle` has written. */
export function readParts(): Promise<Readonly<Record<string, string>>> {
  return readFolder(PARTS);
}

/** Returns the text of each file in a folder, sorted by name. */
async function readFolder(folder: string): Promise<Record<string, string>> {
  const files = await Array.fromAsync(Deno.readDir(folder));
  const texts: Record<string, string> = {};
  for (const name of files.map((file) => file.name).sort()) {
    texts[name] = await Deno.readTextFile(`${folder}/${name}`);
  }
  return texts;
}

/** A hash in the name of a part. */
const HASH = /-[A-Z0-9]{8}(?=\.js)/g;

/** Numbers the parts: the hashes in their names differ from folder to folder. */
function withStableNames(
  parts: Readonly<Record<string, string>>,
): Record<string, string> {
  const key = (part: readonly string[]) => part.join(" ").replaceAll(HASH, "");
  const sorted = Object.entries(parts).sort((a, b) => key(a) < key(b) ? -1 : 1);
  const names = new Map(
    sorted.map(([name], index) => [name, name.replace(HASH, `-${index}`)]),
  );
  const rename = (text: string) =>
    text.replaceAll(/[\w-]+\.js/g, (word) => names.get(word) ?? word);
  return Object.fromEntries(sorted.map((part) => part.map(rename)));
}

async function main(): Promise<void> {
  const code = await bundle();
  await Deno.writeTextFile(`${DIST}/${NAME}`, code);
  await Deno.remove(PARTS, { recursive: true }).catch(() => {});
  await Deno.mkdir(PARTS);
  for (const [name, part] of Object.entries(await bundleParts())) {
    await Deno.writeTextFile(`${PARTS}/${name}`, part);
  }
  await writeChecksums(DIST);
  console.log(`dist/${NAME}: ${new TextEncoder().encode(code).length} bytes`);
}

if (import.meta.main) await runTool(main);
