/**
 * Completes a release in `dist/` with the binaries as gzip archives and the install
 * scripts. It adds their sums to `dist/SHA256SUMS`, and those of other files there.
 *
 * It refuses a bundle with the standard library from npm: the one from JSR counts.
 *
 * @module
 */
import { RELEASE_HEADER } from "../bundle.ts";
import { addChecksums, checkSums, type Sums } from "../checksums.ts";
import { binaryName, TARGETS } from "../compile.ts";
import { runTool, ToolError } from "../tool_error.ts";

const DIST = `${import.meta.dirname}/../../dist`;

function requireBinaries(sums: Sums): void {
  for (const target of TARGETS) {
    if (sums.has(binaryName(target))) continue;
    throw new ToolError(
      `Cannot release: dist/SHA256SUMS has no sum for ${
        binaryName(target)
      }; make all binaries with deno task compile all`,
    );
  }
}

/** Compresses a file to `FILE.gz`: the same bytes with the same Deno. */
async function gzip(path: string): Promise<void> {
  using source = await Deno.open(path);
  await Deno.writeFile(
    `${path}.gz`,
    source.readable.pipeThrough(new CompressionStream("gzip")),
  );
}

async function main(): Promise<void> {
  const bundle = await Deno.readTextFile(`${DIST}/agent-gateway.js`);
  if (!bundle.includes(`\n${RELEASE_HEADER}\n`)) {
    throw new ToolError(
      "Cannot release: the standard library of dist/agent-gateway.js is not from JSR; build it with STANDARD_LIBRARY=jsr",
    );
  }
  const sums = await checkSums(DIST);
  requireBinaries(sums);
  for (const script of ["install.sh", "install.ps1"]) {
    const path = `${import.meta.dirname}/${script}`;
    await Deno.copyFile(path, `${DIST}/${script}`);
  }
  for (const name of sums.keys()) {
    if (/^agent-gateway-[\w.-]+$/.test(name) && !/\.[gt]z$/.test(name)) {
      await gzip(`${DIST}/${name}`);
    }
  }
  await addChecksums(DIST);
}

if (import.meta.main) await runTool(main);
