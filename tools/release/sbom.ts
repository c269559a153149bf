/**
 * Makes `dist/agent-gateway.cdx.json`: the software bill of materials of the
 * program in the CycloneDX format. It names what ends up in the program (the parts
 * of the standard library, Deno and its V8), and the bundler that has made it.
 * (A tool for it would bring 186 packages into the job that makes the binaries.)
 *
 *     deno task sbom
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { PINNED_DENO } from "../pins.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { ESBUILD, pinnedSums } from "./toolchain.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** The part of `deno.lock` that is read here. */
interface Lock {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly jsr: Readonly<
    Record<string, { readonly dependencies?: readonly string[] }>
  >;
}

/** The packages of JSR that only tests import. */
const FOR_TESTS: readonly string[] = ["@std/assert", "@std/testing"];

/** The packages of JSR that end up in the program, such as `@std/cli@1.0.32`. */
function runtimePackages({ specifiers, jsr }: Lock): readonly string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    const [key = ""] = Object.keys(jsr).filter((k) => k.startsWith(`${name}@`));
    if (found.has(key)) return;
    found.add(key);
    for (const specifier of jsr[key]?.dependencies ?? []) {
      add(packageOf(specifier));
    }
  };
  for (const specifier of Object.keys(specifiers)) {
    const name = packageOf(specifier);
    if (name in config.imports && !FOR_TESTS.includes(name)) add(name);
  }
  return [...found].sort();
}

/** `@std/cli` of `jsr:@std/cli@^1.0.32`. */
function packageOf(specifier: string): string {
  return specifier.replace(/^jsr:/, "").replace(/(?<=.)@.*$/, "");
}

/** A component of the CycloneDX format. */
export interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly [{ readonly license: { readonly id: string } }];
}

function component(
  type: Component["type"],
  purl: string,
  license: string,
): Component {
  const [path = "", version = ""] = purl.split(/@(?=[^@]*$)/);
  const name = decodeURIComponent(
    path.replace(/^pkg:\w+\//, ""),
  );
  return {
    ...{ type, "bom-ref": purl, name, version: version.replace(/^v/, "") },
    ...{ purl, licenses: [{ license: { id: license } }] },
  };
}

/** The parts of the bill of materials that this program reads. */
export interface Sbom {
  readonly components: readonly Component[];
}

/** The bill of materials of a program that is built with this lock file. */
export function makeSbom(
  lock: Lock,
  esbuildSum: string,
): Sbom & Record<string, unknown> {
  const program = component(
    "application",
    `pkg:npm/agent-gateway@${config.version}`,
    config.license,
  );
  const deno = component(
    "platform",
    `pkg:github/denoland/deno@v${PINNED_DENO}`,
    "MIT",
  );
  const v8Version = Deno.version.v8.replace(/-rusty$/, "");
  const v8 = component(
    "library",
    `pkg:github/v8/v8@${v8Version}`,
    "BSD-3-Clause",
  );
  const libraries = runtimePackages(lock).map((name) =>
    component("library", `pkg:jsr/${name.replace("@", "%40")}`, "MIT")
  );
  const esbuild = {
    ...component(
      "application",
      `pkg:npm/${ESBUILD.package.replace("@", "%40")}@${ESBUILD.version}`,
      "MIT",
    ),
    scope: "excluded", // it is not in the program
    properties: [{ name: "sha256 of bin/esbuild", value: esbuildSum }],
  };
  const refs = (components: readonly Component[]) =>
    components.map((component) => component["bom-ref"]);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: program },
    components: [...libraries, deno, v8, esbuild],
    dependencies: [
      { ref: program["bom-ref"], dependsOn: refs([...libraries, deno]) },
      { ref: deno["bom-ref"], dependsOn: refs([v8]) },
    ],
  };
}

async function main(): Promise<void> {
  if (Deno.version.deno !== PINNED_DENO) {
    throw new ToolError(
      `The versions are those of Deno ${PINNED_DENO}: run that one`,
    );
  }
  const esbuildSum = (await pinnedSums()).get(ESBUILD.name) ?? "";
  const lock = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  await Deno.writeTextFile(
    `${ROOT}/dist/agent-gateway.cdx.json`,
    JSON.stringify(makeSbom(lock, esbuildSum), null, 2) + "\n",
  );
  console.log("dist/agent-gateway.cdx.json");
}

if (import.meta.main) await runTool(main);
