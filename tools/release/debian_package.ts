/**
 * Makes a Debian package of a binary in `dist/`, with its manual page and shell
 * completions: `dist/agent-gateway_VERSION-1_ARCHITECTURE.deb`.
 *
 *     deno task deb          for amd64
 *     deno task deb arm64
 *
 * It needs `dpkg-deb` and `help2man`. The same binary and bundle give the same
 * bytes.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../bundle.ts";
import { runCommand } from "../run_command.ts";
import { runTool, ToolError } from "../tool_error.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;

const MAINTAINER =
  "The agent-gateway developers <agent-gateway@users.noreply.github.com>";

const HOMEPAGE = "https://github.com/agent-gateway/agent-gateway";

/** The version of the package: the first one made of this release. */
const VERSION = `${config.version}-1`;

/** The targets of the packages, by Debian's names of the architectures. */
export const TARGETS: Readonly<Record<string, string>> = {
  amd64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** Where the manual page is. */
export const MANUAL = "usr/share/man/man1/agent-gateway.1.gz";

/** Where each shell looks for the completions of a package. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/agent-gateway",
  zsh: "usr/share/zsh/vendor-completions/_agent-gateway",
  fish: "usr/share/fish/vendor_completions.d/agent-gateway.fish",
};

/** The name of a package's file. */
export function debianName(architecture: string): string {
  return `agent-gateway_${VERSION}_${architecture}.deb`;
}

/**
 * Makes the package.
 *
 * @returns Its path.
 */
async function makeDebianPackage(architecture: string): Promise<string> {
  const files = await debianFiles(architecture);
  const date = await commitDate();
  files[MANUAL] = gzip(await makeManual(date));
  let bytes = 0;
  let md5sums = "";
  for (const [path, content] of Object.entries(files)) {
    bytes += content.length;
    const sum = createHash("md5").update(content).digest("hex");
    md5sums += `${sum}  ${path}\n`;
  }
  files["DEBIAN/control"] = control(architecture, bytes);
  files["DEBIAN/md5sums"] = Buffer.from(md5sums);

  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".deb-" });
  try {
    for (const [path, content] of Object.entries(files)) {
      const file = `${folder}/${path}`;
      await Deno.mkdir(dirname(file), { recursive: true });
      await Deno.writeFile(file, content);
    }
    await Deno.chmod(`${folder}/usr/bin/agent-gateway`, 0o755);
    // The modes that all have without an umask.
    await runCommand(["chmod", "-R", "u=rwX,go=rX", folder]);
    const path = `${DIST}/${debianName(architecture)}`;
    // The default level takes many times as long and saves a tenth.
    const options = ["--root-owner-group", "-Zxz", "-z1"];
    await runCommand(["dpkg-deb", ...options, "--build", folder, path], {
      env: { SOURCE_DATE_EPOCH: `${date.getTime() / 1000}` },
    });
    return path;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** When the last commit was made: the date of all files in the package. */
async function commitDate(): Promise<Date> {
  const git = ["git", "-C", ROOT, "log", "-1", "--format=%ct"];
  return new Date(Number(await runCommand(git)) * 1000);
}

/**
 * The files that the package installs, by their paths, except for the manual page, which
 * needs `help2man`. The bundle and the binary have to be in `dist/` already.
 */
export async function debianFiles(
  architecture: string,
): Promise<Record<string, Uint8Array>> {
  const target = TARGETS[architecture];
  if (target === undefined) {
    const known = Object.keys(TARGETS).join(", ");
    throw new ToolError(`Unknown architecture "${architecture}": use ${known}`);
  }
  const date = await commitDate();
  const doc = "usr/share/doc/agent-gateway";
  const overrides = "usr/share/lintian/overrides/agent-gateway";
  const changelog = await Deno.readTextFile(`${ROOT}/CHANGELOG.md`);
  const thirdParty = await Deno.readTextFile(`${DIST}/THIRD-PARTY.md`);
  const files: Record<string, Uint8Array> = {
    "usr/bin/agent-gateway": await Deno.readFile(
      `${DIST}/agent-gateway-${target}`,
    ),
    [`${doc}/changelog.gz`]: gzip(changelog),
    [`${doc}/changelog.Debian.gz`]: gzip(debianChangelog(date)),
    [`${doc}/THIRD-PARTY.md.gz`]: gzip(thirdParty),
    [`${doc}/copyright`]: Buffer.from(await copyright()),
    [overrides]: Buffer.from(LINTIAN_OVERRIDES),
  };
  for (const [shell, path] of Object.entries(COMPLETIONS)) {
    files[path] = Buffer.from(await runBundle("--completions", shell));
  }
  return files;
}

function gzip(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}

/**
 * The description of the package for Debian's tools.
 *
 * @param bytes The size of all files that it installs.
 */
export function control(architecture: string, bytes: number): Uint8Array {
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

/** Makes the manual page from what `--help` and `--version` print. */
async function makeManual(date: Date): Promise<string> {
  // The binary itself may be for another architecture than this one. A long option
  // has one space after it, and help2man takes two for the end of a name.
  const help = (await runBundle("--help"))
    .replaceAll(/^( +(?:-\w, )?--[\w-]+ [A-Z]+) (?=\S)/gm, "$1  ");
  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".manual-" });
  try {
    const program = `${folder}/agent-gateway`;
    const script = `#!/bin/sh\ncat <<'END'\n${help}END\n`;
    await Deno.writeTextFile(program, script, { mode: 0o755 });
    const manual = await runCommand([
      ...["help2man", "--no-info", "--section=1"],
      ...["--version-string", config.version],
      ...["--name", "terminal and editor client of a remote agent service"],
      "./agent-gateway", // help2man takes no path with a space
    ], {
      cwd: folder,
      env: {
        SOURCE_DATE_EPOCH: `${date.getTime() / 1000}`,
        LC_ALL: "C.UTF-8",
      },
    });
    // mandoc knows no date such as "November 2026". Each example has its own line.
    const day = date.toISOString().slice(0, 10);
    return manual.replace(/^(\.TH \S+ "1") ".*?"/m, `$1 "${day}"`).replace(
      /^(\.SH EXAMPLES\n\.IP\n)([^.][^]*?)(?=^\.)/m,
      (_, head, lines) => `${head}.nf\n${lines}.fi\n`,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function debianChangelog(date: Date): string {
  const time = date.toUTCString().replace("GMT", "+0000");
  return `agent-gateway (${VERSION}) unstable; urgency=medium

  * Release ${config.version}; changelog.gz tells what is new.

 -- ${MAINTAINER}  ${time}
`;
}

async function main(): Promise<void> {
  const path = await makeDebianPackage(Deno.args[0] ?? "amd64");
  console.log(path.slice(path.indexOf("dist/")));
}

if (import.meta.main) await runTool(main);
