/**
 * Completes a release in `dist/` with the files of package managers: the Homebrew
 * formula, the Scoop manifest and the entry of the ACP registry, each with the
 * sums of the binaries, and the install scripts. Run it after everything that
 * `dist/SHA256SUMS` should name has been built.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import registry from "../../docs/registry/agent.json" with { type: "json" };
import { writeChecksums } from "../checksums.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;
const RELEASE =
  `https://github.com/agent-gateway/agent-gateway/releases/download/v${config.version}`;

/** The SHA-256 sums of a release's files, in hexadecimal, by name. */
export type Sums = ReadonlyMap<string, string>;

/** Reads what {@linkcode writeChecksums} wrote. */
export function parseSums(text: string): Sums {
  const lines = text.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm);
  return new Map(Array.from(lines, ([, sum = "", name = ""]) => [name, sum]));
}

/**
 * Fills a template: `{{version}}`, and `{{url:NAME}}` and `{{sha256:NAME}}` for a
 * file of the release.
 *
 * @throws {Error} If there is no sum for a file that is named.
 */
export function fillTemplate(template: string, sums: Sums): string {
  return template.replaceAll(
    /\{\{(version|url|sha256)(?::([^}]+))?\}\}/g,
    (_, field: string, name = "") => {
      if (field === "version") return config.version;
      return field === "url" ? `${RELEASE}/${name}` : sumOf(name, sums);
    },
  );
}

/** The entry of the ACP registry, with the sum of each binary. */
export function registryEntry(sums: Sums): typeof registry {
  const binaries = Object.entries(registry.distribution.binary)
    .map(([platform, target]) => {
      const sha256 = sumOf(target.cmd.slice("./".length), sums);
      return [platform, { ...target, sha256 }];
    });
  const binary = Object.fromEntries(binaries);
  return { ...registry, distribution: { ...registry.distribution, binary } };
}

function sumOf(name: string, sums: Sums): string {
  const sum = sums.get(name);
  if (sum === undefined) throw new Error(`SHA256SUMS has no sum for ${name}`);
  return sum;
}

async function main(): Promise<void> {
  const sums = parseSums(await Deno.readTextFile(`${DIST}/SHA256SUMS`));
  for (
    const [from, to] of [
      ["homebrew.rb", "agent-gateway.rb"],
      ["scoop.json", "agent-gateway.json"],
    ]
  ) {
    const template = await Deno.readTextFile(`${import.meta.dirname}/${from}`);
    await Deno.writeTextFile(`${DIST}/${to}`, fillTemplate(template, sums));
  }
  const entry = JSON.stringify(registryEntry(sums), null, 2) + "\n";
  await Deno.writeTextFile(`${DIST}/registry-agent.json`, entry);
  for (const script of ["install.sh", "install.ps1"]) {
    await Deno.copyFile(
      `${import.meta.dirname}/${script}`,
      `${DIST}/${script}`,
    );
  }
  await writeChecksums(DIST);
}

if (import.meta.main) await main();
