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
 * `dist/crates.txt`, which `.ci/third-party` makes. A version or a hash that nobody has
 * published for a part is left out.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { parseSums, type Sums } from "../checksums.ts";
import { PINNED_DENO } from "../pins.ts";
import standIns from "../npm/import_map.json" with { type: "json" };
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { ESBUILD, pinnedSums } from "./toolchain.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** What a bill of materials is made from. */
export interface Sources {
  /** `deno.lock` */
  readonly lock: {
    readonly jsr: Readonly<
      Record<string, { integrity?: string; dependencies?: readonly string[] }>
    >;
  };
  /** The text of `THIRD-PARTY.md`. */
  readonly thirdParty: string;
  /** The text of `dist/crates.txt`; empty if it was not made. */
  readonly crates: string;
  /** The sums of `.ci/toolchain-sums` and `dist/SHA256SUMS`. */
  readonly sums: Sums;
  /** When the source was committed, in the format of RFC 3339. */
  readonly timestamp: string;
}

/** A component of the CycloneDX format. */
export interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version?: string;
  readonly purl: string;
  readonly licenses: readonly [{ readonly expression: string }];
  readonly supplier: { readonly name: string };
  readonly hashes?: readonly object[];
  readonly properties?: readonly { name: string; value: string }[];
}

interface ComponentOptions {
  readonly type?: Component["type"];
  readonly license: string;
  /** The SHA-256 sum of the component, if it is known. */
  readonly sum?: string | undefined;
  /** The SHA-256 sums of files in it, or about it. */
  readonly files?: Sums | undefined;
}

/** A component; the part of the package URL after `@` is its version. */
function component(
  purl: string,
  { type = "library", license, sum, files = new Map() }: ComponentOptions,
): Component {
  const [path = "", version] = purl.split(/@(?=[^@]*$)/);
  const name = decodeURIComponent(path.replace(/^pkg:\w+\//, ""));
  const properties = Array.from(files, ([of, value]) => ({
    name: `sha256 ${of}`,
    value,
  }));
  return {
    ...{ type, "bom-ref": purl, name, purl },
    licenses: [{ expression: license }],
    supplier: { name: `The authors of ${name}` },
    ...version !== undefined && { version: version.replace(/^v/, "") },
    ...sum !== undefined && { hashes: [{ alg: "SHA-256", content: sum }] },
    ...properties.length > 0 && { properties },
  };
}

/** The packages of JSR that end up in the program, and what they depend on. */
function jsrPackages({ jsr }: Sources["lock"]): readonly Component[] {
  const withDependencies = (name: string): readonly string[] => {
    const [key = ""] = Object.keys(jsr).filter((k) => k.startsWith(`${name}@`));
    const others = jsr[key]?.dependencies ?? [];
    return [key, ...others.map(packageOf).flatMap(withDependencies)];
  };
  // Tests name theirs in deno.json.
  const direct = Object.keys(standIns.imports)
    .filter((specifier) => specifier.startsWith("jsr:"))
    .map(packageOf);
  const keys = new Set(direct.flatMap(withDependencies));
  return Array.from(keys).sort().map((key) => {
    const files = new Map([["of JSR's manifest", jsr[key]?.integrity ?? ""]]);
    const purl = `pkg:jsr/${key.replace("@", "%40")}`;
    return component(purl, { license: "MIT", files });
  });
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
    return component(`pkg:github/${path}${version}`, { license });
  });
  const lines = crates.matchAll(
    /^(\S+) ([^ |]+)\|(.*?)(?:\|([0-9a-f]{64}))?$/gm,
  );
  return [
    ...libraries,
    ...Array.from(lines, ([, name, version, written = "", sum]) => {
      // Older crates write a slash for OR.
      const license = written.replaceAll("/", " OR ") || "NOASSERTION";
      return component(`pkg:cargo/${name}@${version}`, { license, sum });
    }),
  ];
}

/** The parts of the bill of materials that tests read. */
export interface Sbom extends Record<string, unknown> {
  readonly metadata: {
    readonly component: Component;
    readonly [name: string]: unknown;
  };
  readonly components: readonly Component[];
}

/** Makes the bill of materials from the texts and sums that describe the program. */
export function makeSbom(sources: Sources): Sbom {
  const { sums, timestamp } = sources;
  const program = component(`pkg:npm/agent-gateway@${config.version}`, {
    ...{ type: "application", license: config.license },
    sum: sums.get("agent-gateway.js"),
  });
  const deno = component(`pkg:github/denoland/deno@v${PINNED_DENO}`, {
    ...{ type: "platform", license: "MIT" },
    files: new Map(Array.from(sums).filter(([name]) => /^denort-/.test(name))),
  });
  const packages = jsrPackages(sources.lock);
  const libraries = linked(sources);
  const bundler = `${ESBUILD.package.replace("@", "%40")}@${ESBUILD.version}`;
  const files = new Map([["of bin/esbuild", sums.get(ESBUILD.name) ?? ""]]);
  const esbuild = {
    ...component(`pkg:npm/${bundler}`, { license: "MIT", files }),
    type: "application" as const,
    scope: "excluded", // it is not in the program
  };
  const refs = (components: readonly Component[]) =>
    components.map((component) => component["bom-ref"]);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { timestamp, authors: [program.supplier], component: program },
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
  const commitDate = ["git", "-C", ROOT, "log", "-1", "--format=%cI"];
  const sbom = makeSbom({
    lock: JSON.parse(await read("deno.lock")),
    thirdParty: await read("THIRD-PARTY.md"),
    crates: await read("dist/crates.txt").catch(() => ""),
    sums: new Map([
      ...await pinnedSums(),
      ...parseSums(await read("dist/SHA256SUMS").catch(() => "")),
    ]),
    timestamp: (await runCommand(commitDate)).trim(),
  });
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  await Deno.writeTextFile(
    `${ROOT}/dist/agent-gateway.cdx.json`,
    JSON.stringify(sbom, null, 2) + "\n",
  );
  console.log(`dist/agent-gateway.cdx.json: ${sbom.components.length} parts`);
}

if (import.meta.main) await runTool(main);
