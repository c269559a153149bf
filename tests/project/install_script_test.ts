import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ReleaseFolder } from "../support/release_folder.ts";

// Each test runs the real script in a real shell, against a release on loopback.

const SCRIPT = `${import.meta.dirname}/../../tools/release/install.sh`;
const NAME = `agent-gateway-${Deno.build.target}`;
const SHELLS: readonly (readonly [string, ...string[]])[] = [
  ["dash"],
  ["bash", "--posix"],
  ["busybox", "sh"],
];

/** A program that only prints its version. */
function program(version: string): string {
  return `#!/bin/sh\necho "agent-gateway ${version} (test)"\n`;
}

function isMissing(command: string): boolean {
  try {
    new Deno.Command(command, {
      args: ["--help"],
      stdout: "null",
      stderr: "null",
    })
      .outputSync();
    return false;
  } catch {
    return true;
  }
}

/** A home folder to install into. */
class Home implements Disposable {
  readonly path: string = Deno.makeTempDirSync();

  /** All files in it, as relative paths. */
  files(folder = ""): string[] {
    return Array.from(Deno.readDirSync(`${this.path}/${folder}`))
      .flatMap(({ name, isDirectory }) =>
        isDirectory ? this.files(`${folder}${name}/`) : `${folder}${name}`
      ).sort();
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Feeds the script to a shell, as `curl ... | sh -s -- ARGS` does. */
async function install(
  [shell, ...shellArgs]: readonly [string, ...string[]],
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const child = new Deno.Command(shell, {
    args: [...shellArgs, "-s", "--", ...args],
    env,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(await Deno.readFile(SCRIPT));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

function environment(home: Home, more: Readonly<Record<string, string>> = {}) {
  return { HOME: home.path, PATH: Deno.env.get("PATH") ?? "", ...more };
}

/** The folder argument: as root, the script has no default folder. */
function target(home: Home): string {
  return `${home.path}/.local/bin`;
}

for (const shell of SHELLS) {
  const [name] = shell;
  const test = (title: string, fn: () => Promise<void>) =>
    Deno.test({
      name: `install.sh in ${name} ${title}`,
      ignore: Deno.build.os === "windows" || isMissing(name),
      fn,
    });

  test("installs the latest version and says how to use and remove it", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: program("1.2.3") });
    using home = new Home();
    const folder = target(home);

    const { code, stdout, stderr } = await install(
      shell,
      ["--from", releases.url, "--to", folder],
      environment(home),
    );

    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(
      stdout,
      `Installed ${folder}/agent-gateway: agent-gateway 1.2.3 (test)\n`,
    );
    assertStringIncludes(stdout, `export PATH="${folder}:$PATH"\n`);
    assertStringIncludes(stdout, `To uninstall: rm ${folder}/agent-gateway\n`);
    assertEquals(home.files(), [".local/bin/agent-gateway"]);
    assertEquals((await Deno.stat(`${folder}/agent-gateway`)).mode, 0o100755);
  });

  test("installs the version that was asked for, and says nothing about a PATH that holds the folder", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("v1.2.3", { [NAME]: program("1.2.3") });
    using home = new Home();
    const folder = target(home);
    const PATH = `${folder}:${Deno.env.get("PATH")}`;

    const { code, stdout, stderr } = await install(
      shell,
      ["--version", "v1.2.3", "--from", releases.url, "--to", folder],
      environment(home, { PATH }),
    );

    assertEquals([code, stderr], [0, ""]);
    assert(!stdout.includes("PATH"), stdout);
    assertEquals(releases.requested, [
      "/download/v1.2.3/SHA256SUMS",
      `/download/v1.2.3/${NAME}`,
    ]);
  });

  test("replaces an older version in place", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: program("1.2.3") });
    using home = new Home();
    const folder = target(home);
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/agent-gateway`, program("1.0.0"), {
      mode: 0o755,
    });

    const { code, stdout } = await install(
      shell,
      ["--from", releases.url, "--to", folder],
      environment(home),
    );

    assertEquals(code, 0);
    assertStringIncludes(stdout, "It replaced agent-gateway 1.0.0 (test)\n");
    assertEquals(
      await Deno.readTextFile(`${folder}/agent-gateway`),
      program("1.2.3"),
    );
  });

  test("refuses a download with one byte changed, and leaves no file", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: program("1.2.3") });
    const bytes = new TextEncoder().encode(program("1.2.4"));
    releases.set("latest", NAME, { bytes });
    using home = new Home();

    const { code, stderr } = await install(
      shell,
      ["--from", releases.url, "--to", target(home)],
      environment(home),
    );

    assertEquals(code, 1);
    assertStringIncludes(stderr, "install.sh: the download is damaged: ");
    assertStringIncludes(stderr, "nothing was installed\n");
    assertEquals(home.files(), []);
  });

  test("refuses a download that was cut, and leaves the older version alone", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: program("1.2.3") });
    const bytes = new TextEncoder().encode(program("1.2.3"));
    releases.set("latest", NAME, { bytes, cutAfter: 5 });
    using home = new Home();
    const folder = target(home);
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/agent-gateway`, program("1.0.0"));

    const { code, stderr } = await install(
      shell,
      ["--from", releases.url, "--to", folder],
      environment(home),
    );

    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      `install.sh: cannot download ${releases.url}/latest/download/${NAME} completely`,
    );
    assertEquals(home.files(), [".local/bin/agent-gateway"]);
    assertEquals(
      await Deno.readTextFile(`${folder}/agent-gateway`),
      program("1.0.0"),
    );
  });

  test("refuses a program that does not start here", async () => {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: "#!/bin/sh\nexit 1\n" });
    using home = new Home();

    const { code, stderr } = await install(
      shell,
      ["--from", releases.url, "--to", target(home)],
      environment(home),
    );

    assertEquals(code, 1);
    assertStringIncludes(stderr, "does not start on this system");
    assertEquals(home.files(), []);
  });

  test("says that there is no such release", async () => {
    await using releases = new ReleaseFolder();
    using home = new Home();

    const { code, stderr } = await install(
      shell,
      ["--version", "9.9.9", "--from", releases.url, "--to", target(home)],
      environment(home),
    );

    assertEquals(code, 1);
    assertStringIncludes(stderr, "/download/v9.9.9/SHA256SUMS: is there such");
    assertEquals(home.files(), []);
  });

  test("says that it cannot write to the folder", async () => {
    using home = new Home();
    // Not with permissions, which do not affect root.
    await Deno.writeTextFile(`${home.path}/file`, "");

    const { code, stderr } = await install(
      shell,
      ["--from", "http://127.0.0.1:9", "--to", `${home.path}/file/bin`],
      environment(home),
    );

    assertEquals(code, 1);
    assertEquals(
      stderr,
      `install.sh: cannot make the folder ${home.path}/file/bin: use --to DIR\n`,
    );
  });

  test("does nothing with a wrong command line", async () => {
    using home = new Home();
    for (
      const [args, message] of [
        [["--form", "x"], "unknown argument '--form'"],
        [["--to"], "--to needs a value"],
        [["--version", "1.0/.."], "'1.0/..' is not a version such as 1.2.3"],
        [["--from", "http://other.example"], "--from needs an https: URL"],
      ] as const
    ) {
      const { code, stderr } = await install(shell, args, environment(home));
      assertEquals(code, 1);
      assertStringIncludes(stderr, `install.sh: ${message}`);
    }
    assertEquals(home.files(), []);
  });

  test("does nothing when it was cut off while it was downloaded", async () => {
    using home = new Home();
    const script = await Deno.readTextFile(SCRIPT);
    const cut = script.slice(0, script.lastIndexOf("main"));
    const [command, ...args] = shell;
    const { stdout } = await new Deno.Command(command, {
      args: [...args, "-c", cut],
      env: environment(home),
      clearEnv: true,
    }).output();

    assertEquals(new TextDecoder().decode(stdout), "");
    assertEquals(home.files(), []);
  });
}

/** A folder with commands that precede those of the system on `PATH`. */
async function withCommands(
  commands: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await Deno.makeTempDir();
  for (const [name, script] of Object.entries(commands)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`, {
      mode: 0o755,
    });
  }
  return folder;
}

for (
  const [system, commands, message] of [
    ["musl", { getconf: "exit 1" }, "need glibc, which this system"],
    [
      "glibc 2.26",
      { getconf: "echo glibc 2.26" },
      "need glibc 2.27 or later, and this system has 2.26",
    ],
    ["a 32-bit processor", { uname: "echo i686" }, "no build for i686"],
    [
      "Git Bash on Windows",
      { uname: "case $1 in -m) echo x86_64;; *) echo MINGW64_NT;; esac" },
      "use install.ps1 in PowerShell",
    ],
  ] as const
) {
  Deno.test({
    name: `install.sh says on ${system} what to do instead`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      using home = new Home();
      const folder = await withCommands(commands);

      const { code, stderr } = await install(
        ["sh"],
        ["--to", target(home)],
        environment(home, { PATH: `${folder}:${Deno.env.get("PATH")}` }),
      );

      await Deno.remove(folder, { recursive: true });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
      assertEquals(home.files(), []);
    },
  });
}

Deno.test({
  name: "install.sh does not install as root unless it is told where",
  ignore: Deno.build.os !== "linux",
  async fn() {
    using home = new Home();
    const folder = await withCommands({ id: "echo 0" });

    const { code, stderr } = await install(
      ["sh"],
      [],
      environment(home, { PATH: `${folder}:${Deno.env.get("PATH")}` }),
    );

    await Deno.remove(folder, { recursive: true });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "not installing as root without --to DIR");
    assertEquals(home.files(), []);
  },
});

/** Whether this process may mount file systems. */
function canMount(): boolean {
  return !isMissing("unshare") &&
    new Deno.Command("unshare", { args: ["--mount", "true"] })
      .outputSync().success;
}

Deno.test({
  name: "install.sh removes what it has begun when the disk is full",
  ignore: Deno.build.os !== "linux" || !canMount(),
  async fn() {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: "x".repeat(1024 * 1024) });
    using home = new Home();
    // A file system of 64 KiB, in a namespace of its own.
    const { code, stderr } = await new Deno.Command("unshare", {
      args: [
        ...["--mount", "sh", "-c"],
        'mount -t tmpfs -o size=64k none "$HOME" && sh "$0" "$@"; c=$?; ls -A "$HOME/bin" >&2; exit $c',
        ...[SCRIPT, "--from", releases.url, "--to", `${home.path}/bin`],
      ],
      env: environment(home),
      clearEnv: true,
    }).output();

    const text = new TextDecoder().decode(stderr);
    assertEquals(code, 1, text);
    assertStringIncludes(text, "completely: is there room on the disk?");
    assert(text.trimEnd().endsWith("on the disk?"), text);
  },
});

Deno.test({
  name: "install.sh asks wget where there is no curl",
  ignore: Deno.build.os !== "linux" || isMissing("busybox"),
  async fn() {
    await using releases = new ReleaseFolder();
    await releases.add("latest", { [NAME]: program("1.2.3") });
    using home = new Home();
    const folder = await Deno.makeTempDir();
    const tools = "id uname mkdir mktemp rm sed sha256sum chmod mv wget sh";
    for (const tool of tools.split(" ")) {
      await Deno.symlink("/bin/busybox", `${folder}/${tool}`);
    }
    await Deno.symlink("/usr/bin/getconf", `${folder}/getconf`);

    const { code, stderr } = await install(
      ["/bin/busybox", "sh"],
      ["--from", releases.url, "--to", target(home)],
      environment(home, { PATH: folder }),
    );

    await Deno.remove(folder, { recursive: true });
    assertEquals([code, stderr], [0, ""]);
    assertEquals(home.files(), [".local/bin/agent-gateway"]);
  },
});

Deno.test({
  name: "shellcheck finds nothing in install.sh",
  ignore: isMissing("shellcheck"),
  async fn() {
    const { success, stdout } = await new Deno.Command("shellcheck", {
      args: ["--shell=sh", SCRIPT],
    }).output();

    assert(success, new TextDecoder().decode(stdout));
  },
});
