/**
 * Completes a release in `dist/`: adds the binaries as gzip archives, the npm package, the
 * Debian packages, the install scripts and the license, and then the sums of all new
 * files to `dist/SHA256SUMS`. It writes all of them itself, so what is in them is what it
 * has read.
 *
 * It refuses a bundle with the standard library from npm: only the one from JSR is
 * released.
 *
 * @module
 */
import { RELEASE_HEADER } from "../bundle.ts";
import { addChecksums, checkSums, SUMS, type Sums } from "../checksums.ts";
import { binaryName, TARGETS } from "../compile.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { gzip } from "./archive.ts";
import { ARCHITECTURES, makeDebianPackage } from "./debian_package.ts";
import { makeNpmPackage } from "./npm_package.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;

/** The files of the source that are released as they are. */
const COPIES = [
  "LICENSE",
  "tools/release/install.sh",
  "tools/release/install.ps1",
];

/** What is there without a sum: a text of another job, and what `deno task sbom` made. */
const TEXTS = ["THIRD-PARTY.md", "agent-gateway.cdx.json"];

/** What `deno task compile all` makes. */
const COMPILED = ["agent-gateway.js", ...TARGETS.map(binaryName)];

function requireSums(sums: Sums): void {
  const known = Array.from(sums.keys());
  const missing = COMPILED.filter((name) => !known.includes(name));
  const unknown = known.filter((name) => !COMPILED.includes(name));
  if (missing.length + unknown.length === 0) return;
  throw new ToolError(
    `Cannot release: dist/${SUMS} lacks [${missing}] and has [${unknown}]; run deno task compile all in an empty dist/`,
  );
}

async function main(): Promise<void> {
  const bundle = await Deno.readTextFile(`${DIST}/agent-gateway.js`);
  if (!bundle.includes(`\n${RELEASE_HEADER}\n`)) {
    throw new ToolError(
      "Cannot release: the standard library of dist/agent-gateway.js is not from JSR; build it with STANDARD_LIBRARY=jsr",
    );
  }
  requireSums(await checkSums(DIST));
  const names = [...COMPILED, ...TEXTS, SUMS];
  const add = async (name: string, bytes: Uint8Array) => {
    await Deno.writeFile(`${DIST}/${name}`, bytes);
    names.push(name);
  };
  for (const path of COPIES) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    await add(name, await Deno.readFile(`${ROOT}/${path}`));
  }
  for (const name of TARGETS.map(binaryName)) {
    await add(`${name}.gz`, gzip(await Deno.readFile(`${DIST}/${name}`)));
  }
  names.push(await makeNpmPackage());
  for (const architecture of ARCHITECTURES) {
    names.push(await makeDebianPackage(architecture));
  }
  for await (const { name, isFile } of Deno.readDir(DIST)) {
    if (isFile && names.includes(name)) continue;
    throw new ToolError(
      `Cannot release: dist/${name} is not part of a release`,
    );
  }
  await addChecksums(DIST);
}

if (import.meta.main) await runTool(main);
