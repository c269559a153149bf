/**
 * Makes `dist/agent-gateway.cdx.json`: the software bill of materials of the
 * program in the CycloneDX format, by `cdxgen`. It names what ends up in the
 * program: the parts of the standard library that it uses, and Deno.
 *
 *     deno task sbom
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { DENO_VERSION } from "./npm_package.ts";

const CDXGEN = "@cyclonedx/cdxgen@12.8.4";
const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;
const FILE = `${DIST}/agent-gateway.cdx.json`;

/** The part of `deno.lock` that is read here. */
interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly jsr: Readonly<Record<string, unknown>>;
}

/** What only tests import. */
const TEST_LIBRARIES = ["@std/assert", "@std/testing"];

/** The project as its users get it: without what only tests import. */
function runtimeProject(
  lock: Lock,
): { readonly config: unknown; readonly lock: unknown } {
  const imports = Object.fromEntries(
    Object.entries(config.imports)
      .filter(([name]) => !TEST_LIBRARIES.includes(name)),
  );
  const specifiers = Object.fromEntries(
    Object.entries(lock.specifiers)
      .filter(([specifier]) => packageOf(specifier) in imports),
  );
  const packages = new Set(
    Object.entries(specifiers).map(([specifier, version]) =>
      `${packageOf(specifier)}@${version}`
    ),
  );
  const jsr = Object.fromEntries(
    Object.entries(lock.jsr).filter(([name]) => packages.has(name)),
  );
  const { name, version, license } = config;
  return {
    config: { name, version, license, exports: "./main.ts", imports },
    lock: { version: lock.version, specifiers, jsr },
  };
}

/** `@std/cli` of `jsr:@std/cli@^1.0.32`. */
function packageOf(specifier: string): string {
  return specifier.replace(/^jsr:/, "").replace(/@[^@]*$/, "");
}

async function main(): Promise<void> {
  await Deno.mkdir(DIST, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".sbom-" });
  try {
    const lock: Lock = JSON.parse(
      await Deno.readTextFile(`${ROOT}/deno.lock`),
    );
    const project = runtimeProject(lock);
    const write = (name: string, value: unknown) =>
      Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(value));
    await write("deno.json", project.config);
    await write("deno.lock", project.lock);
    const { success } = await new Deno.Command("npx", {
      args: [
        ...["--yes", CDXGEN, "--type", "deno", "--no-recurse"],
        ...["--no-install-deps", "--output", FILE, "."],
      ],
      cwd: folder,
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).output();
    if (!success) throw new Error("Cannot make the SBOM: see cdxgen above");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const sbom = JSON.parse(await Deno.readTextFile(FILE));
  sbom.components.push({
    type: "platform",
    "bom-ref": `pkg:github/denoland/deno@v${DENO_VERSION}`,
    name: "deno",
    version: DENO_VERSION,
    purl: `pkg:github/denoland/deno@v${DENO_VERSION}`,
    licenses: [{ license: { id: "MIT" } }],
  });
  await Deno.writeTextFile(FILE, JSON.stringify(sbom, null, 2) + "\n");
  console.log("dist/agent-gateway.cdx.json");
}

if (import.meta.main) await main();
