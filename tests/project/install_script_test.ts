import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
import {
  type ProgramOutput,
  programOutput,
} from "../support/program_output.ts";
import { gzip, ReleaseFolder } from "../support/release_folder.ts";

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

  /** The program in the folder. */
  installed(): Promise<string> {
    return Deno.readTextFile(`${this.folder}/agent-gateway`);
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

  test("installs the latest version, and its commands for using and removing it work", async () => {
    await using place = await Place.make();
    const folder = `${place.home}/it's "$HOME"`;

    const { code, stdout, stderr } = await place.install(shell, [
      ...["--to", folder],
    ]);

    assertEquals([code, stderr], [0, ""]);
    const file = `${folder}/agent-gateway`;
    assertStringIncludes(
      stdout,
      `Installed ${file}: agent-gateway 1.2.3 (test)\n`,
    );
    assertEquals(place.files(), [`it's "$HOME"/agent-gateway`]);
    assertEquals((await Deno.stat(file)).mode, 0o100755);
    const [, path] = stdout.match(/^ {2}(export PATH=.*)$/m) ?? [];
    const [, remove] = stdout.match(/^To uninstall: (rm .*)$/m) ?? [];
    const printed = await programOutput([
      ...["sh", "-c", `${path}; agent-gateway; ${remove}`],
    ]);
    assertEquals(printed.stdout, "agent-gateway 1.2.3 (test)\n");
    assertEquals(place.files(), []);
    assertEquals(place.releases.requested, [
      "/latest/download/SHA256SUMS",
      `/latest/download/${NAME}.gz`,
    ]);
  });

  test("installs the version that was asked for over an older one, and uninstalls it", async () => {
    await using place = await Place.make();
    await place.releases.add("v1.2.4", { [NAME]: program("1.2.4") });
    await place.installOld();
    const env = { PATH: `${place.folder}:${PATH}` };

    const installed = await place.install(shell, ["--version", "v1.2.4"], env);
    const text = await place.installed();
    const removed = await place.install(shell, ["--uninstall"]);
    const again = await place.install(shell, ["--uninstall"]);

    assertEquals([installed.code, text], [0, program("1.2.4")]);
    assert(!installed.stdout.includes("PATH"), installed.stdout);
    const file = `${place.folder}/agent-gateway`;
    assertEquals([removed.code, removed.stdout], [0, `Removed ${file}\n`]);
    assertEquals(place.files(), []);
    assertEquals(again.code, 1);
    assertStringIncludes(again.stderr, `there is no ${file}: use --to DIR`);
  });

  test("refuses a damaged download, and leaves the older version alone", async () => {
    await using place = await Place.make();
    await place.installOld();
    const encoder = new TextEncoder();
    const bytes = await gzip(encoder.encode(program("1.2.3")));
    for (
      const [file, message] of [
        [
          { bytes: await gzip(encoder.encode(program("1.2.4"))) },
          "the download is damaged: its SHA-256 sum is ",
        ],
        [{ bytes, cutAfter: 5 }, ".gz; nothing was installed\n"],
        [{ bytes: encoder.encode("<html>") }, "the download is damaged, or "],
      ] as const
    ) {
      place.releases.set("latest", `${NAME}.gz`, file);
      const { code, stderr } = await place.install(shell);

      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
      assertEquals(place.files(), [".local/bin/agent-gateway"]);
      assertEquals(await place.installed(), program("1.0.0"));
    }
  });

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
        // Not a folder without permissions, which do not affect root.
        [["--to", `${place.home}/file/bin`], "cannot make the folder "],
        [["--to", `${place.home}/taken`], "agent-gateway is a folder: "],
      ] as const
    ) {
      const { code, stderr } = await place.install(shell, args);
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
    assertEquals(place.files(), ["file"]);
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

Deno.test({
  name: "install.sh says what it needs, and requests nothing",
  ignore,
  async fn() {
    await using place = await Place.make();
    for (
      const [commands, message] of [
        [{ uname: "echo i686" }, "no build for i686; with Deno 2.6 or later"],
        [
          { uname: "case $1 in -m) echo x86_64;; *) echo MINGW64_NT;; esac" },
          "use install.ps1 in PowerShell",
        ],
        [{ id: "echo 0" }, "as root, it needs --to DIR"],
        [{ id: "echo 1000" }, "HOME is not set: use --to DIR"],
      ] as const
    ) {
      const to = "id" in commands ? [] : ["--to", place.folder];
      const { code, stderr } = await programOutput(["sh", SCRIPT, ...to], {
        env: { PATH: await withCommands(place.home, commands) },
        clearEnv: true,
      });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
    assertEquals(place.releases.requested, []);
  },
});

Deno.test({
  name: "install.sh refuses a program that does not start here",
  ignore,
  async fn() {
    await using place = await Place.make("#!/bin/sh\nexit 1\n");
    const { code, stderr } = await place.install();

    assertEquals(code, 1);
    assertStringIncludes(stderr, "the program does not start: it needs glibc");
    assertEquals(place.files(), []);
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
    `install.sh with ${downloader} installs, and takes nothing after a redirect to http:`,
    onLinux,
    async () => {
      await using place = await Place.make();
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
      // GNU wget takes the test's certificate authority from its settings file only.
      const WGETRC = `${place.home}/wgetrc`;
      await Deno.writeTextFile(WGETRC, `ca_certificate=${ca.certificate}\n`);
      const env = {
        PATH: await makeTools(place.home, {
          [tool]: target,
          gzip: "/bin/busybox",
          sha256sum: "/bin/busybox",
          openssl: "/usr/bin/openssl", // BusyBox speaks TLS through it.
        }),
        CURL_CA_BUNDLE: ca.certificate,
        SSL_CERT_FILE: ca.certificate,
        WGETRC,
      };
      const install = (...args: readonly string[]) =>
        place.install(["/bin/busybox", "sh"], args, env);

      for (
        const [args, message] of [
          [
            ["--from", `https://localhost:${server.addr.port}`],
            /redirect|\(1\)/,
          ],
          [["--version", "9.9.9"], /404/],
        ] as const
      ) {
        const { code, stderr } = await install(...args);
        assertEquals(code, 1);
        assertMatch(stderr, message);
        assert(!place.files().some((name) => name.startsWith(".local")));
      }
      const { code, stderr } = await install();
      assertEquals([code, stderr], [0, ""]);
    },
  );
}

Deno.test(
  "install.sh needs no gzip, and names a missing tool at once",
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
