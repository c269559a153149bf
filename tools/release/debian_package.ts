/**
 * Makes a Debian package of a binary in `dist/`, with its manual page and shell
 * completions: `dist/agent-gateway_VERSION-1_ARCHITECTURE.deb`.
 *
 *     deno task deb          for amd64
 *     deno task deb arm64
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../bundle.ts";
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";
import { ar, type Entry, gzip, tar } from "./archive.ts";
import { manualPage } from "./manual_page.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;

const MAINTAINER =
  "The agent-gateway developers <agent-gateway@users.noreply.github.com>";

const HOMEPAGE = "https://github.com/agent-gateway/agent-gateway";

/** The version of the package: the first one made of this release. */
const VERSION = `${config.version}-1`;

/** The targets of the packages, by Debian's names of the architectures. */
const TARGETS: Readonly<Record<string, string>> = {
  amd64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** Debian's names of the architectures for which there is a package. */
export const ARCHITECTURES: readonly string[] = Object.keys(TARGETS);

/** Where each shell looks for the completions of a package. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/agent-gateway",
  zsh: "usr/share/zsh/vendor-completions/_agent-gateway",
  fish: "usr/share/fish/vendor_completions.d/agent-gateway.fish",
};

/**
 * Writes the package into `dist/`, where the bundle and the binary have to be already.
 * The same ones give the same bytes.
 *
 * @returns The name of its file.
 */
export async function makeDebianPackage(
  architecture: string,
): Promise<string> {
  const date = await commitDate();
  const seconds = date.getTime() / 1000;
  const files = Object.entries(await installedFiles(architecture, date));
  let size = 0;
  let md5sums = "";
  for (const [path, bytes] of files) {
    size += bytes.length;
    const sum = createHash("md5").update(bytes).digest("hex");
    md5sums += `${sum}  ${path}\n`;
  }
  const name = `agent-gateway_${VERSION}_${architecture}.deb`;
  const archive = (files: readonly (readonly [string, Uint8Array])[]) =>
    gzip(tar(withFolders(files), seconds));
  const deb = ar({
    "debian-binary": Buffer.from("2.0\n"),
    "control.tar.gz": archive([
      ["control", control(architecture, size)],
      ["md5sums", Buffer.from(md5sums)],
    ]),
    "data.tar.gz": archive(files),
  }, seconds);
  await Deno.writeFile(`${DIST}/${name}`, deb);
  return name;
}

/** The entries of an archive: each folder comes before the files in it. */
function withFolders(
  files: readonly (readonly [string, Uint8Array])[],
): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const [path, bytes] of files) {
    const parts = `./${path}`.split("/").slice(0, -1);
    parts.forEach((_, index) => {
      const folder = `${parts.slice(0, index + 1).join("/")}/`;
      entries.set(folder, { path: folder, mode: 0o755 });
    });
    const mode = path.startsWith("usr/bin/") ? 0o755 : 0o644;
    entries.set(path, { path: `./${path}`, mode, bytes });
  }
  return Array.from(entries.values());
}

/** When the last commit was made: the date of all files in the package. */
async function commitDate(): Promise<Date> {
  const git = ["git", "-C", ROOT, "log", "-1", "--format=%ct"];
  return new Date(Number(await runCommand(git)) * 1000);
}

/** The files that the package installs, by their paths. */
async function installedFiles(
  architecture: string,
  date: Date,
): Promise<Record<string, Uint8Array>> {
  const target = TARGETS[architecture];
  if (target === undefined) {
    const known = ARCHITECTURES.join(", ");
    throw new ToolError(`Unknown architecture "${architecture}": use ${known}`);
  }
  const doc = "usr/share/doc/agent-gateway";
  const overrides = "usr/share/lintian/overrides/agent-gateway";
  const changelog = await Deno.readTextFile(`${ROOT}/CHANGELOG.md`);
  // A release has one that also names the Rust crates.
  const thirdParty = await Deno.readTextFile(`${DIST}/THIRD-PARTY.md`)
    .catch(() => Deno.readTextFile(`${ROOT}/THIRD-PARTY.md`));
  const files: Record<string, Uint8Array> = {
    "usr/bin/agent-gateway": await Deno.readFile(
      `${DIST}/agent-gateway-${target}`,
    ),
    [`${doc}/changelog.gz`]: gzip(changelog),
    [`${doc}/changelog.Debian.gz`]: gzip(debianChangelog(date)),
    [`${doc}/THIRD-PARTY.md.gz`]: gzip(thirdParty),
    [`${doc}/copyright`]: Buffer.from(await copyright()),
    [overrides]: Buffer.from(LINTIAN_OVERRIDES),
    "usr/share/man/man1/agent-gateway.1.gz": gzip(
      manualPage(await runBundle("--help"), date),
    ),
  };
  for (const [shell, path] of Object.entries(COMPLETIONS)) {
    files[path] = Buffer.from(await runBundle("--completions", shell));
  }
  return files;
}

/**
 * The description of the package for Debian's tools.
 *
 * @param bytes The size of all files that it installs.
 */
function control(architecture: string, bytes: number): Uint8Array {
  return Buffer.from(`Package: agent-gateway
Version: ${VERSION}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.27), libgcc-s1
Section: utils
Priority: optional
Homepage: ${HOMEPAGE}
Description: terminal and editor client of a remote agent service
 agent-gateway creates a thread at a remote agent service, triggers runs on it,
 and reads each run's event stream until the run completes. It has a prompt loop
 for the terminal, takes prompts from scripts, and serves editors by the Agent
 Client Protocol on standard input and output.
`);
}

/** The licences of what the package holds. */
async function copyright(): Promise<string> {
  const license = await Deno.readTextFile(`${ROOT}/LICENSE`);
  return `agent-gateway, from ${HOMEPAGE}

${license}
The program holds Deno with the libraries that it is linked with, which have
licenses of their own: THIRD-PARTY.md.gz in this folder names them.
`;
}

const LINTIAN_OVERRIDES = `\
# The program is one file made by "deno compile": Deno's runtime, which is linked
# with its own libraries, with the program appended. Stripping would cut it off.
agent-gateway: unstripped-binary-or-object [usr/bin/agent-gateway]
agent-gateway: embedded-library *
agent-gateway: hardening-no-fortify-functions [usr/bin/agent-gateway]
# The package is not part of Debian.
agent-gateway: initial-upload-closes-no-bugs
`;

/** What the program prints; it needs no settings for that. */
async function runBundle(...args: readonly string[]): Promise<string> {
  return await runCommand([
    ...[Deno.execPath(), "run", "--quiet", "--no-config"],
    ...[...clientPermissionFlags, `${DIST}/agent-gateway.js`, ...args],
  ]);
}

function debianChangelog(date: Date): string {
  const time = date.toUTCString().replace("GMT", "+0000");
  return `agent-gateway (${VERSION}) unstable; urgency=medium

  * Release ${config.version}; changelog.gz tells what is new.

 -- ${MAINTAINER}  ${time}
`;
}

async function main(): Promise<void> {
  console.log(`dist/${await makeDebianPackage(Deno.args[0] ?? "amd64")}`);
}

if (import.meta.main) await runTool(main);
