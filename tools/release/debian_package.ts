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
import { createHash } from "node:crypto";
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../bundle.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;

const MAINTAINER =
  "The agent-gateway developers <agent-gateway@users.noreply.github.com>";

const HOMEPAGE = "https://github.com/agent-gateway/agent-gateway";

/** The version of the package: the first one made of this release. */
const VERSION = `${config.version}-1`;

const TARGETS: Readonly<Record<string, string>> = {
  amd64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** Where each shell looks for the completions of a package. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/agent-gateway",
  zsh: "usr/share/zsh/vendor-completions/_agent-gateway",
  fish: "usr/share/fish/vendor_completions.d/agent-gateway.fish",
};

/**
 * Makes the package.
 *
 * @returns Its path.
 */
async function makeDebianPackage(architecture: string): Promise<string> {
  const target = TARGETS[architecture];
  if (target === undefined) {
    throw new Error(`Unknown architecture: ${Object.keys(TARGETS).join(", ")}`);
  }
  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".deb-" });
  try {
    const tree = new PackageTree(folder);
    const binary = await Deno.readFile(`${DIST}/agent-gateway-${target}`);
    await tree.add("usr/bin/agent-gateway", binary, 0o755);
    for (const [shell, path] of Object.entries(COMPLETIONS)) {
      await tree.add(path, await runBundle("--completions", shell));
    }
    const date = await sourceDate();
    const manual = await makeManual(folder, date);
    await tree.add("usr/share/man/man1/agent-gateway.1.gz", await gzip(manual));
    const doc = "usr/share/doc/agent-gateway";
    const changelog = await Deno.readTextFile(`${ROOT}/CHANGELOG.md`);
    await tree.add(`${doc}/changelog.gz`, await gzip(changelog));
    await tree.add(
      `${doc}/changelog.Debian.gz`,
      await gzip(debianChangelog(date)),
    );
    await tree.add(`${doc}/copyright`, await copyright());
    await tree.add(
      "usr/share/lintian/overrides/agent-gateway",
      LINTIAN_OVERRIDES,
    );
    const { md5sums } = tree;
    await tree.add("DEBIAN/control", control(architecture, tree.bytes));
    await tree.add("DEBIAN/md5sums", md5sums);
    await tree.openFolders();
    const path = `${DIST}/agent-gateway_${VERSION}_${architecture}.deb`;
    await run(
      "dpkg-deb",
      // The default level takes many times as long and saves a tenth.
      ["--root-owner-group", "-Zxz", "-z1", "--build", folder, path],
      date,
    );
    return path;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The files of a package, below a folder. */
class PackageTree {
  readonly #folder: string;
  #bytes = 0;
  #md5sums = "";

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** How many bytes the files hold. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The MD5 sums of the files that were added, in the format of `md5sum -c`. */
  get md5sums(): string {
    return this.#md5sums;
  }

  /** Gives all folders the modes that they have without an umask. */
  async openFolders(folder: string = this.#folder): Promise<void> {
    await Deno.chmod(folder, 0o755);
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await this.openFolders(`${folder}/${name}`);
    }
  }

  async add(
    path: string,
    content: string | Uint8Array,
    mode = 0o644,
  ): Promise<void> {
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    const file = `${this.#folder}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(file, bytes);
    await Deno.chmod(file, mode);
    this.#bytes += bytes.length;
    const sum = createHash("md5").update(bytes).digest("hex");
    this.#md5sums += `${sum}  ${path}\n`;
  }
}

function control(architecture: string, bytes: number): string {
  return `Package: agent-gateway
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
`;
}

/** The licence in Debian's format, in which each line of a text is indented. */
async function copyright(): Promise<string> {
  const license = await Deno.readTextFile(`${ROOT}/LICENSE`);
  const text = license.slice(license.indexOf("Permission is")).trimEnd()
    .replaceAll(/^$/gm, ".").replaceAll(/^/gm, " ");
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: agent-gateway
Source: ${HOMEPAGE}

Files: *
Copyright: 2026 the agent-gateway developers
           2018-2026 the Deno authors
License: MIT

License: MIT
${text}
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
  return await run(Deno.execPath(), [
    ...["run", "--quiet", "--no-config", ...clientPermissionFlags],
    ...[`${DIST}/agent-gateway.js`, ...args],
  ]);
}

/** Makes the manual page from what `--help` and `--version` print. */
async function makeManual(folder: string, date: Date): Promise<string> {
  // The binary itself may be for another architecture than this one. A long option
  // has one space after it, and help2man takes two for the end of a name.
  const help = (await runBundle("--help"))
    .replaceAll(/^( +(?:-\w, )?--[\w-]+ [A-Z]+) (?=\S)/gm, "$1  ");
  const program = `${folder}/agent-gateway`;
  await Deno.writeTextFile(
    program,
    "#!/bin/sh\ncat <<'END'\n" + help + "END\n",
  );
  await Deno.chmod(program, 0o755);
  const manual = await run(
    "help2man",
    [
      ...["--no-info", "--section=1", "--version-string", config.version],
      ...["--name", "terminal and editor client of a remote agent service"],
      "./agent-gateway", // help2man takes no path with a space
    ],
    date,
    folder,
  );
  await Deno.remove(program);
  // Each example on a line of its own.
  return manual.replace(
    /^(\.SH EXAMPLES\n\.IP\n)([^.][^]*?)(?=^\.)/m,
    (_, head, lines) => `${head}.nf\n${lines}.fi\n`,
  );
}

async function gzip(text: string): Promise<Uint8Array> {
  const child = new Deno.Command("gzip", {
    args: ["-9n"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const written = writer.write(new TextEncoder().encode(text))
    .then(() => writer.close());
  const { stdout } = await child.output();
  await written;
  return stdout;
}

/** When the last commit was made: the date of all files in the package. */
async function sourceDate(): Promise<Date> {
  const seconds = await run("git", ["-C", ROOT, "log", "-1", "--format=%ct"]);
  return new Date(Number(seconds) * 1000);
}

function debianChangelog(date: Date): string {
  const time = date.toUTCString().replace("GMT", "+0000");
  return `agent-gateway (${VERSION}) unstable; urgency=medium

  * Release ${config.version}; changelog.gz tells what is new.

 -- ${MAINTAINER}  ${time}
`;
}

async function run(
  command: string,
  args: readonly string[],
  date = new Date(0),
  cwd = ".",
): Promise<string> {
  const { success, stdout } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    env: { SOURCE_DATE_EPOCH: `${date.getTime() / 1000}`, LC_ALL: "C.UTF-8" },
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${command} failed: see its message above`);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  const path = await makeDebianPackage(Deno.args[0] ?? "amd64");
  console.log(path.slice(path.indexOf("dist/")));
}
