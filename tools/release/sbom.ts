/**
 * Makes `dist/agent-gateway.cdx.json`: the software bill of materials of the
 * program in the CycloneDX format. It lists the components of the program (parts of
 * the standard library, Deno, and the Rust crates that Deno is linked with) and the
 * bundler. (A tool that makes such a file would bring 186 packages into the job that
 * makes the binaries.)
 *
 *     deno task sbom
 *
 * The libraries are those of `THIRD-PARTY.md`; the Rust crates are those of
 * `dist/crates.txt`, which `.ci/third-party` makes.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { PINNED_DENO } from "../pins.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { ESBUILD, pinnedSums } from "./toolchain.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** What a bill of materials is made from. */
export interface Sources {
  /** `deno.lock` */
  readonly lock: {
    readonly jsr: Readonly<
      Record<string, { readonly dependencies?: readonly string[] }>
    >;
  };
  /** The text of `THIRD-PARTY.md`. */
  readonly thirdParty: string;
  /** The text of `dist/crates.txt`; empty if it was not made. */
  readonly crates: string;
  /** The SHA-256 sum of esbuild. */
  readonly esbuildSum: string;
}

/** A component of the CycloneDX format. */
export interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version?: string;
  readonly purl: string;
  readonly licenses: readonly [{ readonly expression: string }];
}

/** A component; the part of the package URL after `@` is its version. */
function component(
  type: Component["type"],
  purl: string,
  expression: string,
): Component {
  const [path = "", version] = purl.split(/@(?=[^@]*$)/);
  const name = decodeURIComponent(path.replace(/^pkg:\w+\//, ""));
  return {
    ...{ type, "bom-ref": purl, name, purl, licenses: [{ expression }] },
    ...version !== undefined && { version: version.replace(/^v/, "") },
  };
}

/** The packages of JSR that only tests import. */
const FOR_TESTS: readonly string[] = ["@std/assert", "@std/testing"];

/** The packages of JSR that end up in the program, and what they depend on. */
function jsrPackages({ jsr }: Sources["lock"]): readonly Component[] {
  const withDependencies = (name: string): readonly string[] => {
    const [key = ""] = Object.keys(jsr).filter((k) => k.startsWith(`${name}@`));
    const others = jsr[key]?.dependencies ?? [];
    return [key, ...others.map(packageOf).flatMap(withDependencies)];
  };
  const direct = Object.keys(config.imports)
    .filter((name) => !FOR_TESTS.includes(name));
  return Array.from(new Set(direct.flatMap(withDependencies)))
    .sort()
    .map((key) =>
      component("library", `pkg:jsr/${key.replace("@", "%40")}`, "MIT")
    );
}

/** `@std/cli` of `jsr:@std/cli@^1.0.32`. */
function packageOf(specifier: string): string {
  return specifier.replace(/^jsr:/, "").replace(/(?<=.)@.*$/, "");
}

/** The libraries in the table of `THIRD-PARTY.md`, and the Rust crates. */
function linked({ thirdParty, crates }: Sources): readonly Component[] {
  const v8 = Deno.version.v8.replace(/-rusty$/, "");
  const rows = thirdParty.matchAll(
    /^\| \[.+?\]\(https:\/\/github\.com\/(.+?)\) *\| (.+?) *\|/gm,
  );
  const libraries = Array.from(rows, ([, path = "", license = ""]) => {
    const version = path === "v8/v8" ? `@${v8}` : "";
    return component("library", `pkg:github/${path}${version}`, license);
  });
  const lines = crates.matchAll(/^(\S+) (\S+)\|(.*)$/gm);
  return [
    ...libraries,
    ...Array.from(lines, ([, name, version, license = ""]) => {
      // Older crates write a slash for OR.
      const expression = license.replaceAll("/", " OR ") || "NOASSERTION";
      return component("library", `pkg:cargo/${name}@${version}`, expression);
    }),
  ];
}

/** The parts of the bill of materials that tests read. */
export interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

/** Makes the bill of materials from the texts and sums that describe the program. */
export function makeSbom(sources: Sources): Sbom & Record<string, unknown> {
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
  const packages = jsrPackages(sources.lock);
  const libraries = linked(sources);
  const bundler = `${ESBUILD.package.replace("@", "%40")}@${ESBUILD.version}`;
  const esbuild = {
    ...component("application", `pkg:npm/${bundler}`, "MIT"),
    scope: "excluded", // it is not in the program
    properties: [{ name: "sha256 of bin/esbuild", value: sources.esbuildSum }],
  };
  const refs = (components: readonly Component[]) =>
    components.map((component) => component["bom-ref"]);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: program },
    components: [...packages, deno, ...libraries, esbuild],
    dependencies: [
      { ref: program["bom-ref"], dependsOn: refs([...packages, deno]) },
      { ref: deno["bom-ref"], dependsOn: refs(libraries) },
    ],
    // V8 and other libraries hold more than can be found out.
    compositions: [{ aggregate: "incomplete", dependencies: refs([deno]) }],
  };
}

async function main(): Promise<void> {
  if (Deno.version.deno !== PINNED_DENO) {
    throw new ToolError(
      `The versions are those of Deno ${PINNED_DENO}: run that one`,
    );
  }
  const read = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);
  const sbom = makeSbom({
    lock: JSON.parse(await read("deno.lock")),
    thirdParty: await read("THIRD-PARTY.md"),
    crates: await read("dist/crates.txt").catch(() => ""),
    esbuildSum: (await pinnedSums()).get(ESBUILD.name) ?? "",
  });
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  await Deno.writeTextFile(
    `${ROOT}/dist/agent-gateway.cdx.json`,
    JSON.stringify(sbom, null, 2) + "\n",
  );
  console.log(`dist/agent-gateway.cdx.json: ${sbom.components.length} parts`);
}

if (import.meta.main) await runTool(main);
