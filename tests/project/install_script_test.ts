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

/** A program that only prints its version, and is no script by its start. */
function program(version: string): string {
  return `echo "agent-gateway ${version} (test)"\n`;
}

/** An empty home folder, and a release of version 1.2.3 that goes there. */
class Place implements AsyncDisposable {
  readonly home: string = Deno.makeTempDirSync();
  readonly folder: string = `${this.home}/.local/bin`;
  readonly releases: ReleaseFolder = new ReleaseFolder();

  static async make(): Promise<Place> {
    const place = new Place();
    await place.releases.add("latest", { [NAME]: program("1.2.3") });
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
    const plain = { bytes: new Uint8Array(), status: 404 };
    place.releases.set("v1.2.4", `${NAME}.gz`, plain);
    await place.installOld();
    const env = { PATH: `${place.folder}/:${PATH}` };

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
        [{ bytes, status: 403 }, ".gz (HTTP 403), perhaps because of a limit"],
        [{ bytes: encoder.encode("<html>") }, "the file is damaged, or "],
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

  test("replaces and removes nothing of others", async () => {
    await using place = await Place.make();
    await place.installOld();
    // It does not wait for the program that hangs.
    await Deno.writeTextFile(`${place.home}/sleep`, "", { mode: 0o755 });
    const file = `${place.folder}/agent-gateway`;
    for (
      const [text, message, path = PATH] of [
        [`#!/bin/sh\n${program("1.0.0")}`, "is a script"],
        ["echo deno 2.9.6", "does not say within 5 s"],
        ["exec tail -f /dev/null", "does not", `${place.home}:${PATH}`],
        ["../node_modules/agent-gateway/x", "npm uninstall -g agent-gateway"],
        ["../own", "is a link to ../own; it is left as it is"],
      ] as const
    ) {
      await Deno.remove(file);
      if (text.startsWith("..")) await Deno.symlink(text, file);
      else await Deno.writeTextFile(file, text, { mode: 0o755 });
      const { ino } = await Deno.lstat(file);
      for (const args of [[], ["--uninstall"]]) {
        const { code, stderr } = await place.install(shell, args, {
          PATH: path,
        });
        assertEquals(code, 1);
        assertStringIncludes(stderr, message);
        assertEquals((await Deno.lstat(file)).ino, ino);
      }
    }
    assertEquals(place.releases.requested, []);
  });

  test("installs a file that was downloaded, if it is the program", async () => {
    await using place = await Place.make();
    for (
      const [name, text, message] of [
        ["file", "exit 1", "the program does not start: it needs glibc"],
        ["file", "echo deno 2.9.6", "is not agent-gateway: it says 'deno "],
        ["file.gz", program("1.2.3"), ""],
      ] as const
    ) {
      const bytes = new TextEncoder().encode(text);
      const from = `${place.home}/${name}`;
      await Deno.writeFile(from, message === "" ? await gzip(bytes) : bytes);
      const { code, stdout, stderr } = await place.install(shell, [
        ...["--from", from],
      ], { PATH: `${place.folder}:${PATH}` });

      assertEquals(code, message === "" ? 0 : 1);
      assertStringIncludes(stderr, message);
      assertMatch(stdout, /^Not checked: (?!.*PATH)/s);
      // A failed run leaves no folder.
      assertEquals(
        Array.from(Deno.readDirSync(place.home)).length > 1,
        code === 0,
      );
    }
    assertEquals(place.releases.requested, []);
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
        [["--from", "none"], "there is no file 'none'"],
        [["--from", SCRIPT, "--version", "1.2.3"], "the version of a file"],
        // Not a folder without permissions, which do not affect root.
        [["--to", `${place.home}/file/bin`], "cannot make the folder "],
        [["--to", `${place.home}/taken`], "agent-gateway is a folder; "],
      ] as const
    ) {
      const { code, stderr } = await place.install(shell, args);
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
    assertEquals(place.files(), ["file"]);
    const { stdout } = await place.install(shell, ["-h"]);
    assertStringIncludes(stdout, "--help, -h");
  });

  test("does nothing when it was cut off while it was downloaded", async () => {
    const script = await Deno.readTextFile(SCRIPT);
    const cut = script.slice(0, script.lastIndexOf("main"));
    const { code, stdout } = await programOutput([...shell, "-c", cut]);

    assertEquals([code, stdout], [0, ""]);
  });
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
      for (const [name, script] of Object.entries(commands)) {
        const source = `#!/bin/sh\n${script}\n`;
        await Deno.writeTextFile(`${place.home}/${name}`, source, {
          mode: 0o755,
        });
      }
      const to = "id" in commands ? [] : ["--to", place.folder];
      const { code, stderr } = await programOutput(["sh", SCRIPT, ...to], {
        env: { PATH: `${place.home}:${PATH}` },
        clearEnv: true,
      });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
    assertEquals(place.releases.requested, []);
  },
});

/**
 * The tools of the script as BusyBox has them, but for what downloads. The shell is
 * not BusyBox's: that of Debian's static one finds every applet, wherever `PATH` leads.
 */
const BUSYBOX_TOOLS =
  "cat chmod grep id mkdir mktemp mv rm rmdir sed sh sha256sum uname";

for (
  const [downloader, tools] of [
    ["curl", { curl: "/usr/bin/curl", gzip: "/bin/busybox" }],
    ["GNU wget", { wget: "/usr/bin/wget", gzip: "/bin/busybox" }],
    ["BusyBox's wget, and no gzip,", { wget: "/bin/busybox" }],
  ] as const
) {
  Deno.test({
    name:
      `install.sh with ${downloader} installs, and takes nothing after a redirect to http:`,
    ignore: Deno.build.os !== "linux" || !isInstalled("busybox"),
    async fn() {
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
      for (const tool of BUSYBOX_TOOLS.split(" ")) {
        await Deno.symlink("/bin/busybox", `${place.home}/${tool}`);
      }
      // BusyBox speaks TLS through OpenSSL.
      const others = { ...tools, openssl: "/usr/bin/openssl" };
      for (const [tool, target] of Object.entries(others)) {
        await Deno.symlink(target, `${place.home}/${tool}`);
      }
      // GNU wget takes the test's certificate authority from its settings file only.
      const WGETRC = `${place.home}/wgetrc`;
      await Deno.writeTextFile(WGETRC, `ca_certificate=${ca.certificate}\n`);
      const { certificate } = ca;
      const install = (...args: readonly string[]) =>
        place.install(["/bin/sh"], args, {
          PATH: place.home,
          CURL_CA_BUNDLE: certificate,
          SSL_CERT_FILE: certificate,
          WGETRC,
        });

      const redirected = `https://localhost:${server.addr.port}`;
      const refused = await install("--from", redirected);
      assertEquals(refused.code, 1);
      assertMatch(refused.stderr, /redirect|\(1\)/);
      assert(!place.files().some((name) => name.startsWith(".local")));
      const { code, stderr } = await install();
      assertEquals([code, stderr], [0, ""]);
      const compressed = "gzip" in tools ? ".gz" : "";
      assertEquals(
        place.releases.requested.at(-1),
        `/latest/download/${NAME}${compressed}`,
      );
      for (const status of [404, 429, 503]) {
        const bytes = new Uint8Array();
        place.releases.set("latest", "SHA256SUMS", { bytes, status });
        const { stderr } = await install();
        const message = status === 404 ? "there is no " : `HTTP ${status}`;
        assertStringIncludes(stderr, message);
      }
      await Deno.remove(`${place.home}/mktemp`);
      assertStringIncludes((await install()).stderr, "mktemp is needed");
    },
  });
}

Deno.test({
  name: "shellcheck finds nothing in install.sh",
  ignore: !isInstalled("shellcheck"),
  async fn() {
    const command = ["shellcheck", "--shell=sh", SCRIPT];
    assertEquals((await programOutput(command)).stdout, "");
  },
});
