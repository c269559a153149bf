import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
import {
  type ProgramOutput,
  programOutput,
} from "../support/program_output.ts";
import { gzip, ReleaseFolder } from "../support/release_folder.ts";
import { unreachable } from "../support/faulty_service.ts";

// Each test runs the real script in a real shell, against a release on loopback.

const SCRIPT = `${import.meta.dirname}/../../tools/release/install.sh`;
const NAME = `agent-gateway-${Deno.build.target}`;
const PATH = Deno.env.get("PATH") ?? "";
const ignore = Deno.build.os === "windows";

type Shell = readonly string[];
const SHELLS: readonly Shell[] = [
  ["dash"],
  ["bash", "--posix"],
  ["busybox", "sh"],
  ["zsh"],
];

/** A program that only prints its version. */
function program(version: string): string {
  return `#!/bin/sh\necho "agent-gateway ${version} (test)"\n`;
}

/** An empty home folder, and a release of version 1.2.3 that goes there. */
class Place implements AsyncDisposable {
  readonly home: string = Deno.makeTempDirSync();
  readonly folder: string = `${this.home}/.local/bin`;
  readonly releases: ReleaseFolder = new ReleaseFolder();

  static async make(code: string = program("1.2.3")): Promise<Place> {
    const place = new Place();
    await place.releases.add("latest", { [NAME]: code });
    return place;
  }

  /** All files in the home folder, as relative paths. */
  files(folder = ""): string[] {
    return Array.from(Deno.readDirSync(`${this.home}/${folder}`))
      .flatMap(({ name, isDirectory }) =>
        isDirectory ? this.files(`${folder}${name}/`) : `${folder}${name}`
      ).sort();
  }

  /** Installs version 1.0.0. */
  async installOld(): Promise<void> {
    await Deno.mkdir(this.folder, { recursive: true });
    const file = `${this.folder}/agent-gateway`;
    await Deno.writeTextFile(file, program("1.0.0"), { mode: 0o755 });
  }

  /** Feeds the script to a shell, as `curl ... | sh -s -- ARGS` does. */
  install(
    shell: Shell = ["sh"],
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ProgramOutput> {
    return programOutput([
      ...[...shell, "-s", "--", "--from", this.releases.url],
      ...["--to", this.folder, ...args],
    ], {
      env: { HOME: this.home, PATH, ...env },
      clearEnv: true,
      input: Deno.readTextFileSync(SCRIPT),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.releases[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }
}

for (const shell of SHELLS) {
  const [name = ""] = shell;
  const test = (title: string, fn: () => Promise<void>) =>
    Deno.test({
      name: `install.sh in ${name} ${title}`,
      ignore: ignore || !isInstalled(name),
      fn,
    });

  test("installs the latest version and says how to use and remove it", async () => {
    await using place = await Place.make();

    const { code, stdout, stderr } = await place.install(shell);

    assertEquals([code, stderr], [0, ""]);
    const file = `${place.folder}/agent-gateway`;
    assertStringIncludes(
      stdout,
      `Installed ${file}: agent-gateway 1.2.3 (test)\n`,
    );
    assertStringIncludes(stdout, `export PATH=${place.folder}:"$PATH"\n`);
    assertStringIncludes(stdout, `To uninstall: rm ${file}\n`);
    assertEquals(place.files(), [".local/bin/agent-gateway"]);
    assertEquals((await Deno.stat(file)).mode, 0o100755);
    assertEquals(place.releases.requested, [
      "/latest/download/SHA256SUMS",
      `/latest/download/${NAME}.gz`,
    ]);
  });

  test("installs the version that was asked for over an older one", async () => {
    await using place = await Place.make();
    await place.releases.add("v1.2.4", { [NAME]: program("1.2.4") });
    await place.installOld();

    const { code, stdout } = await place.install(
      shell,
      ["--version", "v1.2.4"],
      { PATH: `${place.folder}:${PATH}` },
    );

    assertEquals(code, 0);
    assert(!stdout.includes("PATH"), stdout);
    assertStringIncludes(stdout, "It replaced agent-gateway 1.0.0 (test)\n");
    assertEquals(
      await Deno.readTextFile(`${place.folder}/agent-gateway`),
      program("1.2.4"),
    );
  });

  test("prints commands that a shell takes for a folder with any name", async () => {
    await using place = await Place.make();
    const folder = `${place.home}/it's "$HOME"`;

    const { code, stdout } = await place.install(shell, ["--to", folder]);

    assertEquals(code, 0);
    const [, path] = stdout.match(/^ {2}(export PATH=.*)$/m) ?? [];
    const [, remove] = stdout.match(/^To uninstall: (rm .*)$/m) ?? [];
    const script = `${path}; agent-gateway; ${remove}`;
    const printed = await programOutput(["sh", "-c", script]);
    assertEquals(printed.stdout, "agent-gateway 1.2.3 (test)\n");
    assertEquals(place.files(), []);
  });

  for (
    const [download, file, message] of [
      [
        "with one byte changed",
        { bytes: await gzip(new TextEncoder().encode(program("1.2.4"))) },
        "the download is damaged: its SHA-256 sum is ",
      ],
      [
        "that was cut",
        {
          bytes: await gzip(new TextEncoder().encode(program("1.2.3"))),
          cutAfter: 5,
        },
        ".gz completely: the connection broke\n",
      ],
      [
        "that is no archive",
        { bytes: new TextEncoder().encode("<html>") },
        "the download is damaged, or there is no room on the disk",
      ],
    ] as const
  ) {
    test(`refuses a download ${download}, and leaves the older version alone`, async () => {
      await using place = await Place.make();
      place.releases.set("latest", `${NAME}.gz`, file);
      await place.installOld();

      const { code, stderr } = await place.install(shell);

      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
      assertEquals(place.files(), [".local/bin/agent-gateway"]);
      assertEquals(
        await Deno.readTextFile(`${place.folder}/agent-gateway`),
        program("1.0.0"),
      );
    });
  }

  test("does nothing with a wrong command line", async () => {
    await using place = await Place.make();
    await Deno.writeTextFile(`${place.home}/file`, "");
    await Deno.mkdir(`${place.home}/taken/agent-gateway`, { recursive: true });
    for (
      const [args, message] of [
        [["--form", "x"], "unknown argument '--form': see --help"],
        [["--to"], "--to needs a value"],
        [["--version", "1.0/.."], "'1.0/..' is not a version such as 1.2.3"],
        [["--from", "http://other.example"], "--from needs an https: URL"],
        [["--version", "9.9.9"], "/download/v9.9.9/SHA256SUMS: there is no"],
        // Not a folder without permissions, which do not affect root.
        [["--to", `${place.home}/file/bin`], "cannot make the folder "],
        [
          ["--to", `${place.home}/taken`],
          `${place.home}/taken/agent-gateway is a folder: remove it, or use --to`,
        ],
      ] as const
    ) {
      const { code, stderr } = await place.install(shell, args);
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
    assertEquals(place.files(), ["file"]);
  });

  test("uninstalls what it has installed, and says so if there is nothing", async () => {
    await using place = await Place.make();
    await place.install(shell);

    const { code, stdout } = await place.install(shell, ["--uninstall"]);
    const again = await place.install(shell, ["--uninstall"]);

    const file = `${place.folder}/agent-gateway`;
    assertEquals([code, stdout], [0, `Removed ${file}\n`]);
    assertEquals(place.files(), []);
    assertEquals(again.code, 1);
    assertStringIncludes(again.stderr, `there is no ${file}: use --to DIR`);
  });

  test("does nothing when it was cut off while it was downloaded", async () => {
    const script = await Deno.readTextFile(SCRIPT);
    const cut = script.slice(0, script.lastIndexOf("main"));
    const { code, stdout } = await programOutput([...shell, "-c", cut]);

    assertEquals([code, stdout], [0, ""]);
  });
}

/** A folder with commands that precede those of the system on `PATH`. */
async function withCommands(
  folder: string,
  commands: Readonly<Record<string, string>>,
): Promise<string> {
  for (const [name, script] of Object.entries(commands)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`, {
      mode: 0o755,
    });
  }
  return `${folder}:${PATH}`;
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
      await using place = await Place.make();
      const path = await withCommands(place.home, commands);

      const { code, stderr } = await place.install(["sh"], [], { PATH: path });

      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
      assertEquals(place.releases.requested, []);
    },
  });
}

Deno.test({
  name:
    "install.sh asks for a folder where it cannot choose one, and takes any spelling",
  ignore,
  async fn() {
    await using place = await Place.make();
    const run = (id: number, ...args: readonly string[]) =>
      withCommands(place.home, { id: `echo ${id}` }).then((path) =>
        programOutput(["sh", SCRIPT, ...args], {
          env: { PATH: path },
          clearEnv: true,
        })
      );

    const root = await run(0);
    const homeless = await run(1000);
    const spelt = await run(
      ...[1000, `--from=${place.releases.url}/`, `--to=${place.folder}/`],
    );

    assertEquals([root.code, homeless.code, spelt.code], [1, 1, 0]);
    assertStringIncludes(root.stderr, "as root, it needs --to DIR");
    assertStringIncludes(homeless.stderr, "HOME is not set: use --to DIR");
    assertStringIncludes(
      spelt.stdout,
      `Installed ${place.folder}/agent-gateway: `,
    );
  },
});

Deno.test({
  name: "install.sh --help lists the options and installs nothing",
  ignore,
  async fn() {
    await using place = await Place.make();
    const { code, stdout } = await place.install(["sh"], ["--help"]);

    assertEquals(code, 0);
    assertEquals(
      Array.from(stdout.matchAll(/^ {4}(--\w+)/gm), ([, name]) => name),
      ["--version", "--to", "--from", "--uninstall", "--help"],
    );
    assertEquals(place.files(), []);
  },
});

Deno.test({
  name: "install.sh refuses a program that does not start here",
  ignore,
  async fn() {
    await using place = await Place.make("#!/bin/sh\nexit 1\n");
    const { code, stderr } = await place.install();

    assertEquals(code, 1);
    assertStringIncludes(stderr, "does not start on this system");
    assertEquals(place.files(), []);
  },
});

Deno.test({
  name: "install.sh names the proxy of the environment, without its password",
  ignore: ignore || !isInstalled("curl"),
  async fn() {
    await using place = await Place.make();
    const { host } = new URL(unreachable());
    const { code, stderr } = await place.install(
      ["sh"],
      ["--from", "https://mirror.example"],
      { https_proxy: `http://me:secret@${host}` },
    );

    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      `cannot connect to download https://mirror.example/latest/download/SHA256SUMS; is the proxy ${host} of the environment right?\n`,
    );
    assert(!stderr.includes("secret"), stderr);
  },
});

/** The tools of the script as BusyBox has them, but for what downloads and checks. */
const BUSYBOX_TOOLS = "cat chmod grep id mkdir mktemp mv rm sed sh uname";

/** Makes a folder of these tools, to be the whole `PATH`. */
async function makeTools(
  folder: string,
  others: Readonly<Record<string, string>>,
): Promise<string> {
  const tools = BUSYBOX_TOOLS.split(" ").map((tool) => [tool, "/bin/busybox"]);
  for (
    const [tool = "", target = ""] of [...tools, ...Object.entries(others)]
  ) {
    await Deno.symlink(target, `${folder}/${tool}`);
  }
  return folder;
}

const onLinux = {
  ignore: Deno.build.os !== "linux" || !isInstalled("busybox"),
};

for (
  const [downloader, tool, target] of [
    ["curl", "curl", "/usr/bin/curl"],
    ["GNU wget", "wget", "/usr/bin/wget"],
    ["BusyBox's wget", "wget", "/bin/busybox"],
  ] as const
) {
  Deno.test(
    `install.sh with ${downloader} says why a download fails`,
    onLinux,
    async () => {
      await using place = await Place.make();
      await place.releases.add("v1.2.4", { [NAME]: "" });
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      place.releases.set("v1.2.4", `${NAME}.gz`, { bytes, cutAfter: 30_000 });
      using ca = new LocalCa();
      await using server = Deno.serve(
        {
          ...ca.issue("localhost"),
          hostname: "127.0.0.1",
          port: 0,
          onListen() {},
        },
        ({ url }) =>
          Response.redirect(place.releases.url + new URL(url).pathname),
      );
      const env: Record<string, string> = {
        PATH: await makeTools(place.home, {
          [tool]: target,
          gzip: "/bin/busybox",
          sha256sum: "/bin/busybox",
          openssl: "/usr/bin/openssl", // BusyBox speaks TLS through it.
        }),
        CURL_CA_BUNDLE: ca.certificate,
        SSL_CERT_FILE: ca.certificate,
        // GNU wget takes the test's certificate authority from its settings file only.
        WGETRC: `${place.home}/wgetrc`,
      };
      const wgetrc = `ca_certificate=${ca.certificate}\n`;
      await Deno.writeTextFile(env["WGETRC"] ?? "", wgetrc);
      const install = (...args: readonly string[]) =>
        place.install(["/bin/busybox", "sh"], args, env);

      for (
        const [args, message] of [
          [
            ["--from", `https://localhost:${server.addr.port}`],
            "a redirect leads to http:\n",
          ],
          [["--from", "http://127.0.0.1:9"], "cannot connect to download "],
          [["--version", "9.9.9"], "there is no such release, or it lacks "],
          [["--version", "1.2.4"], ".gz completely: the connection broke\n"],
        ] as const
      ) {
        const { code, stdout, stderr } = await install(...args);
        assertEquals(code, 1, stdout);
        assertStringIncludes(stderr, message);
      }
      const { code, stderr } = await install();
      assertEquals([code, stderr], [0, ""]);
    },
  );
}

Deno.test(
  "install.sh needs no getconf, and names a missing tool at once",
  onLinux,
  async () => {
    await using place = await Place.make();
    const shell = ["/bin/busybox", "sh"];
    const PATH = await makeTools(place.home, {});
    const install = () => place.install(shell, [], { PATH });

    assertStringIncludes((await install()).stderr, "curl or wget is needed");
    await Deno.symlink("/usr/bin/curl", `${place.home}/curl`);
    assertStringIncludes((await install()).stderr, "sha256sum or shasum is ");
    assertEquals(place.releases.requested, []);
    await Deno.symlink("/bin/busybox", `${place.home}/sha256sum`);
    assertEquals((await install()).code, 0);
  },
);

Deno.test(
  "install.sh refuses a folder that is mounted noexec",
  onLinux,
  async () => {
    await using place = await Place.make();
    await Deno.mkdir(place.folder, { recursive: true });
    const root = (await programOutput(["id", "-u"])).stdout === "0\n";
    const script =
      'mount -t tmpfs -o noexec none "$1" && shift && exec sh "$@"';

    const { stderr } = await programOutput([
      ...root ? [] : ["sudo", "-n"],
      ...["unshare", "--mount", "sh", "-c", script, "sh", place.folder, SCRIPT],
      ...["--from", place.releases.url, "--to", place.folder],
    ]);

    assertStringIncludes(
      stderr,
      `programs in ${place.folder} cannot be started`,
    );
    assertEquals(place.releases.requested, []);
  },
);

Deno.test({
  name: "install.sh leaves nothing behind when nobody reads what it says",
  ignore,
  async fn() {
    await using place = await Place.make();
    await programOutput([
      ...["sh", "-c", 'sh "$@" | true', "sh", SCRIPT],
      ...["--from", place.releases.url, "--to", place.folder],
    ]);
    const unfinished = place.files().filter((name) => name.includes("/."));
    assertEquals(
      unfinished.filter((name) => /\.agent-gateway\./.test(name)),
      [],
    );
  },
});

Deno.test({
  name: "install.sh removes what it has begun when the disk is full",
  ignore,
  async fn() {
    await using place = await Place.make("x".repeat(1024 * 1024));
    // No file larger than 32 KiB: writing fails as on a disk that is full.
    const limit = 'ulimit -f 64; trap "" XFSZ; exec sh "$0" "$@"';
    const { code, stderr } = await programOutput([
      ...["sh", "-c", limit, SCRIPT],
      ...["--from", place.releases.url, "--to", place.folder],
    ], { env: { HOME: place.home, PATH }, clearEnv: true });

    assertEquals(code, 1, stderr);
    assertStringIncludes(stderr, "no room on the disk; nothing was installed");
    assertEquals(place.files(), []);
  },
});

Deno.test({
  name: "shellcheck finds nothing in install.sh",
  ignore: !isInstalled("shellcheck"),
  async fn() {
    const command = ["shellcheck", "--shell=sh", SCRIPT];
    assertEquals((await programOutput(command)).stdout, "");
  },
});
