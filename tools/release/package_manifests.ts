/**
 * Completes a release in `dist/` with the binaries as gzip archives, the install
 * scripts, and the files of package managers: the Homebrew formula, the Scoop
 * and winget manifests and the entry of the ACP registry, each with the sums of the binaries.
 * It adds their sums to `dist/SHA256SUMS`, and those of other files in the folder.
 *
 * It refuses a bundle with the standard library from npm: the one from JSR counts.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import manifest from "../../docs/registry/agent.json" with { type: "json" };
import { RELEASE_HEADER } from "../bundle.ts";
import { addChecksums, checkSums, type Sums } from "../checksums.ts";
import { runTool, ToolError } from "../tool_error.ts";

const DIST = `${import.meta.dirname}/../../dist`;
const REPOSITORY = "https://github.com/agent-gateway/agent-gateway";
const WINGET_ID = "AgentGateway.AgentGateway";
const DESCRIPTION = "Terminal and editor client of a remote agent service";
const RELEASES = `${REPOSITORY}/releases/download`;

/**
 * The Homebrew formula, with the sum of each binary.
 *
 * @throws {ToolError} If the sum of a binary is missing.
 */
export function homebrewFormula(sums: Sums): string {
  const binaries = (system: string) =>
    [["arm", "aarch64"], ["intel", "x86_64"]].map(([cpu, architecture]) => {
      const name = `agent-gateway-${architecture}-${system}`;
      return `    on_${cpu} do
      url "${RELEASES}/v${config.version}/${name}"
      sha256 "${sumOf(name, sums)}"
    end`;
    }).join("\n");
  return `\
class AgentGateway < Formula
  desc "${DESCRIPTION}"
  homepage "${REPOSITORY}"
  version "${config.version}"
  license "${config.license}"

  on_macos do
${binaries("apple-darwin")}
  end

  on_linux do
${binaries("unknown-linux-gnu")}
  end

  def install
    binary = Dir["agent-gateway-*"].first
    chmod 0755, binary # a download has the mode 0644
    bin.install binary => "agent-gateway"
    generate_completions_from_executable(bin/"agent-gateway", "--completions")
  end

  test do
    assert_match "agent-gateway #{version} ", shell_output("#{bin}/agent-gateway --version")
  end
end
`;
}

/**
 * The Scoop manifest, as JSON, with the sum of each binary.
 *
 * @throws {ToolError} If the sum of a binary is missing.
 */
export function scoopManifest(sums: Sums): string {
  const name = (arch: string) => `agent-gateway-${arch}-pc-windows-msvc.exe`;
  const url = (arch: string, version: string) =>
    `${RELEASES}/v${version}/${name(arch)}#/agent-gateway.exe`;
  const binary = (arch: string) => ({
    url: url(arch, config.version),
    hash: sumOf(name(arch), sums),
  });
  const next = (arch: string) => ({ url: url(arch, "$version") });
  return toJson({
    version: config.version,
    description: DESCRIPTION,
    homepage: REPOSITORY,
    license: config.license,
    architecture: { "64bit": binary("x86_64"), arm64: binary("aarch64") },
    bin: "agent-gateway.exe",
    checkver: { github: REPOSITORY },
    autoupdate: {
      architecture: { "64bit": next("x86_64"), arm64: next("aarch64") },
      hash: { url: "$baseurl/SHA256SUMS" },
    },
  });
}

/**
 * The three winget manifests, by the names of their files, with the sum of each binary.
 *
 * @throws {ToolError} If the sum of a binary is missing.
 */
export function wingetManifests(sums: Sums): Readonly<Record<string, string>> {
  const head = `PackageIdentifier: ${WINGET_ID}
PackageVersion: "${config.version}"
`;
  const installers = [["x64", "x86_64"], ["arm64", "aarch64"]].map(
    ([cpu, architecture]) => {
      const name = `agent-gateway-${architecture}-pc-windows-msvc.exe`;
      return `  - Architecture: ${cpu}
    InstallerUrl: "${RELEASES}/v${config.version}/${name}"
    InstallerSha256: "${sumOf(name, sums)}"
`;
    },
  );
  return {
    [`${WINGET_ID}.yaml`]: `${head}DefaultLocale: en-US
ManifestType: version
ManifestVersion: 1.10.0
`,
    [`${WINGET_ID}.installer.yaml`]: `${head}InstallerType: portable
Commands:
  - agent-gateway
Installers:
${installers.join("")}ManifestType: installer
ManifestVersion: 1.10.0
`,
    [`${WINGET_ID}.locale.en-US.yaml`]: `${head}PackageLocale: en-US
Publisher: The agent-gateway developers
PackageName: agent-gateway
PackageUrl: "${REPOSITORY}"
License: ${config.license}
ShortDescription: ${DESCRIPTION}
ManifestType: defaultLocale
ManifestVersion: 1.10.0
`,
  };
}

/** The entry of the ACP registry for this version, with the sum of each binary. */
export function registryEntry(sums: Sums): typeof manifest {
  const text = JSON.stringify(manifest);
  const registry: typeof manifest = JSON.parse(
    text.replaceAll(manifest.version, config.version),
  );
  const binaries = Object.entries(registry.distribution.binary)
    .map(([platform, target]) => {
      const sha256 = sumOf(target.cmd.slice("./".length), sums);
      return [platform, { ...target, sha256 }];
    });
  const binary = Object.fromEntries(binaries);
  return { ...registry, distribution: { ...registry.distribution, binary } };
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2) + "\n";
}

function sumOf(name: string, sums: Sums): string {
  const sum = sums.get(name);
  if (sum !== undefined) return sum;
  throw new ToolError(
    `Cannot release: dist/SHA256SUMS has no sum for ${name}; make all binaries with deno task compile all`,
  );
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
  const write = (name: string, text: string) =>
    Deno.writeTextFile(`${DIST}/${name}`, text);
  await write("agent-gateway.rb", homebrewFormula(sums));
  await write("agent-gateway.json", scoopManifest(sums));
  for (const [name, text] of Object.entries(wingetManifests(sums))) {
    await write(name, text);
  }
  await write("registry-agent.json", toJson(registryEntry(sums)));
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
