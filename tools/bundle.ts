/**
 * Makes `dist/agent-gateway.js`: the whole program in one file, which needs
 * nothing but Deno. The same source gives the same bytes in every folder.
 *
 *     deno task bundle
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import { writeChecksums } from "./checksums.ts";
import { clientPermissionFlags } from "./permission_flags.ts";
import { sameFlags } from "./stand_ins.ts";

const ROOT = `${import.meta.dirname}/..`;
const DIST = `${ROOT}/dist`;
const NAME = "agent-gateway.js";

const HEADER = [
  `// agent-gateway ${config.version}, ${config.license} license`,
  `// Usage: deno run ${clientPermissionFlags.join(" ")} ${NAME}`,
  "// With parts of the standard library, copyright the Deno authors, MIT license",
];

/** Returns the program as one file. */
export async function bundle(): Promise<string> {
  const source = await copySource();
  try {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["bundle", "--quiet", "--minify", ...sameFlags],
        `${source}/main.ts`,
      ],
      stderr: "inherit",
    }).output();
    if (!success) throw new Error("Cannot bundle: see Deno's message above");
    return `${HEADER.join("\n")}\n${new TextDecoder().decode(stdout)}`;
  } finally {
    await Deno.remove(source, { recursive: true });
  }
}

/**
 * Copies the program into a folder, together with a `deno.json` that holds only
 * the version: Deno bundles an imported JSON file as a whole.
 */
async function copySource(): Promise<string> {
  await Deno.mkdir(DIST, { recursive: true });
  const copy = await Deno.makeTempDir({ dir: DIST, prefix: ".source-" });
  const { version } = config;
  await Deno.writeTextFile(`${copy}/deno.json`, JSON.stringify({ version }));
  await Deno.copyFile(`${ROOT}/main.ts`, `${copy}/main.ts`);
  await copyFolder(`${ROOT}/lib`, `${copy}/lib`);
  return copy;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const copy = isDirectory ? copyFolder : Deno.copyFile;
    await copy(`${from}/${name}`, `${to}/${name}`);
  }
}

if (import.meta.main) {
  const code = await bundle();
  await Deno.writeTextFile(`${DIST}/${NAME}`, code);
  await writeChecksums(DIST);
  console.log(`dist/${NAME}: ${new TextEncoder().encode(code).length} bytes`);
}
