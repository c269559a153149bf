/**
 * Makes a Debian package of a binary in `dist/`, with its manual page and shell
 * completions: `dist/agent-gateway_VERSION-1_ARCHITECTURE.deb`.
 *
 *     deno task deb          for amd64
 *     deno task deb arm64
 *
 * It needs `dpkg-deb` and `help2man`. The same binary gives the same bytes.
 *
 * @module
 */
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../permission_flags.ts";

const ROOT = `${import.meta.dirname}/../..`;
const DIST = `${ROOT}/dist`;
const TEMPLATES = `${import.meta.dirname}/debian`;

const MAINTAINER =
  "The agent-gateway developers <agent-gateway@users.noreply.github.com>";

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
export async function makeDebianPackage(architecture: string): Promise<string> {
  const target = TARGETS[architecture];
  if (target === undefined) {
    throw new Error(`Unknown architecture: ${Object.keys(TARGETS).join(", ")}`);
  }
  const folder = await Deno.makeTempDir({ dir: DIST, prefix: ".deb-" });
  try {
    await Deno.chmod(folder, 0o755);
    const tree = new PackageTree(folder);
    const binary = await Deno.readFile(`${DIST}/agent-gateway-${target}`);
    await tree.add("usr/bin/agent-gateway", binary, 0o755);
    for (const [shell, path] of Object.entries(COMPLETIONS)) {
      await tree.add(path, await runBundle("--completions", shell));
    }
    const manual = await makeManual(folder);
    await tree.add("usr/share/man/man1/agent-gateway.1.gz", await gzip(manual));
    const doc = "usr/share/doc/agent-gateway";
    const changelog = await Deno.readTextFile(`${ROOT}/CHANGELOG.md`);
    await tree.add(`${doc}/changelog.gz`, await gzip(changelog));
    const date = await sourceDate();
    await tree.add(
      `${doc}/changelog.Debian.gz`,
      await gzip(debianChangelog(date)),
    );
    await tree.add(`${doc}/copyright`, await template("copyright"));
    await tree.add(
      "usr/share/lintian/overrides/agent-gateway",
      await template("lintian-overrides"),
    );
    const control = (await template("control"))
      .replace("{{version}}", VERSION)
      .replace("{{maintainer}}", MAINTAINER)
      .replace("{{architecture}}", architecture)
      .replace("{{size}}", `${Math.ceil(tree.bytes / 1024)}`);
    await tree.add("DEBIAN/control", control);
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

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** How many bytes the files hold. */
  get bytes(): number {
    return this.#bytes;
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
  }
}

function template(name: string): Promise<string> {
  return Deno.readTextFile(`${TEMPLATES}/${name}`);
}

/** What the program prints; it needs no settings for that. */
async function runBundle(...args: readonly string[]): Promise<string> {
  return await run(Deno.execPath(), [
    ...["run", "--quiet", "--no-config", ...clientPermissionFlags],
    ...[`${DIST}/agent-gateway.js`, ...args],
  ]);
}

/** Makes the manual page from `--help` and `--version`. */
async function makeManual(folder: string): Promise<string> {
  // The binary itself may be for another architecture than this one.
  const program = `${folder}/agent-gateway`;
  const flags = clientPermissionFlags.join(" ");
  await Deno.writeTextFile(
    program,
    `#!/bin/sh\nexec "${Deno.execPath()}" run --quiet --no-config ${flags} "${DIST}/agent-gateway.js" "$@"\n`,
  );
  await Deno.chmod(program, 0o755);
  const manual = await run("help2man", [
    ...["--no-info", "--section=1", "--version-string", config.version],
    ...["--name", "terminal and editor client of a remote agent service"],
    program,
  ]);
  await Deno.remove(program);
  return manual;
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
): Promise<string> {
  const { success, stdout } = await new Deno.Command(command, {
    args: [...args],
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
