import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
import { programOutput } from "../support/program_output.ts";
import { gzip, ReleaseFolder } from "../support/release_folder.ts";

// Each test runs the real script in a real shell, against a release on loopback.

const SCRIPT = `${import.meta.dirname}/../../tools/release/install.sh`;
const NAME = `agent-gateway-${Deno.build.target}`;
const PATH = Deno.env.get("PATH") ?? "";
const ignore = Deno.build.os === "windows";

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

  /** All files, links and folders in the home folder, with their inodes. */
  entries(folder: string = this.home): string[] {
    return Array.from(Deno.readDirSync(folder)).flatMap(
      ({ name, isDirectory }) => {
        const path = `${folder}/${name}`;
        const below = isDirectory ? this.entries(path) : [];
        return [`${Deno.lstatSync(path).ino} ${path}`, ...below];
      },
    ).sort();
  }

  /** Puts a program, or a link, where the script puts its own. */
  async put(folder: string, text: string): Promise<void> {
    const file = `${this.home}/${folder}/agent-gateway`;
    await Deno.mkdir(`${this.home}/${folder}`, { recursive: true });
    if (text.startsWith("..")) await Deno.symlink(text, file);
    else await Deno.writeTextFile(file, text, { mode: 0o755 });
  }

  /** Feeds the script to a shell, as `curl ... | sh -s -- ARGS` does. */
  install(
    shell: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ) {
    return programOutput([
      ...[...shell.split(" "), "-s", "--", "--from", this.releases.url],
      ...["--to", this.folder, ...args],
    ], {
      cwd: this.home,
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

for (const shell of ["dash", "bash --posix", "busybox sh", "zsh"]) {
  const [name = ""] = shell.split(" ");
  const test = (title: string, fn: () => Promise<void>) =>
    Deno.test({
      name: `install.sh in ${name} ${title}`,
      ignore: ignore || !isInstalled(name),
      fn,
    });

  test("installs the latest version, and its commands for using and removing it work", async () => {
    await using place = await Place.make();
    const folder = `${place.home}/it's "$HOME"`;

    const to = ["--to", folder];
    const { code, stdout, stderr } = await place.install(shell, to);

    assertEquals([code, stderr], [0, ""]);
    const file = `${folder}/agent-gateway`;
    assertStringIncludes(stdout, `Installed ${file}: agent-gateway 1.2.3 (`);
    assertEquals((await Deno.stat(file)).mode, 0o100755);
    const [, path] = stdout.match(/^ {2}(export PATH=.*)$/m) ?? [];
    const [, remove] = stdout.match(/^To uninstall: (rm .*)$/m) ?? [];
    const commands = `${path}; agent-gateway; ${remove}`;
    const printed = await programOutput(["sh", "-c", commands]);
    assertEquals(printed.stdout, "agent-gateway 1.2.3 (test)\n");
    assertEquals(place.entries(folder), []);
    assertEquals(place.releases.requested, [
      "/latest/download/SHA256SUMS",
      `/latest/download/${NAME}.gz`,
    ]);
  });

  test("updates to the version that was asked for, uninstalls it, and installs a file", async () => {
    await using place = await Place.make();
    await place.releases.add("v1.2.4", { [NAME]: program("1.2.4") });
    const none = { bytes: new Uint8Array(), status: 404 };
    place.releases.set("v1.2.4", `${NAME}.gz`, none);
    await place.put(".local/bin", program("1.0.0"));
    await Deno.writeFile(`${place.home}/file.gz`, await gzip(program("1.2.5")));
    const file = `${place.folder}/agent-gateway`;
    for (
      const [args, entry, expected] of [
        [["--version", "v1.2.4"], `${place.folder}/`, "agent-gateway 1.2.4"],
        [["--uninstall"], place.folder, `Removed ${file}\n`],
        [["--from", "file.gz"], place.folder, "Not attested: "],
      ] as const
    ) {
      const env = { PATH: `${entry}:${PATH}` };
      const { code, stdout } = await place.install(shell, args, env);
      assertEquals(code, 0);
      assertStringIncludes(stdout, expected);
      assert(!stdout.includes("PATH"), stdout);
      const count = place.entries(place.folder).length;
      assertEquals(count, args[0] === "--uninstall" ? 0 : 1);
    }
    assertEquals(await Deno.readTextFile(file), program("1.2.5"));
  });

  test("changes nothing when it fails, and replaces and removes nothing of others", async () => {
    await using place = await Place.make();
    const bytes = await gzip(program("1.2.3"));
    const HOST = new URL(place.releases.url).host;
    for (
      const [version, file] of [
        ["v0.0.1", { bytes: await gzip(program("1.2.4")) }],
        ["v0.0.2", { bytes, cutAfter: 5 }],
        ["v0.0.3", { bytes, status: 403 }],
        ["v0.0.4", { bytes: new TextEncoder().encode("<html>") }],
      ] as const
    ) {
      await place.releases.add(version, { [NAME]: program("1.2.3") });
      place.releases.set(version, `${NAME}.gz`, file);
    }
    await place.put(".local/bin", program("1.0.0"));
    await place.put("script", `#!/bin/sh\n${program("1.0.0")}`);
    await place.put("other", "echo deno 2.9.6");
    await place.put("hangs", "exec tail -f /dev/null");
    await place.put("npm", "../node_modules/agent-gateway/x");
    await place.put("link", "../own");
    await place.put("folder/agent-gateway", "exit 1");
    // The script does not wait for the program that hangs.
    await Deno.writeTextFile(`${place.home}/sleep`, "", { mode: 0o755 });
    for (
      const [args, message] of [
        [["--version", "0.0.1"], "is damaged: its SHA-256 sum is "],
        [["--version", "0.0.2"], ".gz; nothing was installed\n"],
        [["--version", "0.0.3"], ".gz (HTTP 403), perhaps because of a limit"],
        [["--version", "0.0.4"], "the file is damaged, or "],
        [["--form", "x"], "unknown argument '--form': see --help"],
        [["--to"], "--to needs a value"],
        [["--version", "1.0/.."], "'1.0/..' is not a version such as 1.2.3"],
        [["--from", "http://other.example"], "--from needs an https: URL"],
        [
          ["--from", `http://localhost:1@${HOST}`],
          "--from needs an https: URL",
        ],
        [
          ["--from", `http://127.0.0.1:@${HOST}/`],
          "--from needs an https: URL",
        ],
        [["--from", "none"], "there is no file 'none'"],
        [["--from", "sleep", "--version", "1.2.3"], "the version of a file"],
        [["--from", "other/agent-gateway"], "it says 'deno 2.9.6' to"],
        [
          ["--from", "folder/agent-gateway/agent-gateway", "--to", "new/one"],
          "the program does not start: it needs glibc",
        ],
        // Not a folder without permissions, which do not affect root.
        [["--to", "sleep/bin"], "cannot make the folder "],
        [["--to", "new", "--uninstall"], "/new/agent-gateway: use --to DIR"],
        [["--to", "folder"], "agent-gateway is a folder; "],
        [["--to", "script"], "is a script"],
        [["--to", "other"], "does not say within 5 s that it is agent-gateway"],
        [["--to", "other", "--uninstall"], "does not say within 5 s"],
        [["--to", "hangs"], "does not say within 5 s"],
        [["--to", "npm", "--uninstall"], "npm uninstall -g agent-gateway"],
        [["--to", "link"], "is a link to ../own; it is left as it is"],
      ] as const
    ) {
      const before = place.entries();
      const path = args[1] === "hangs" ? `${place.home}:${PATH}` : PATH;
      const { code, stderr } = await place.install(shell, args, { PATH: path });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
      assertEquals(place.entries(), before);
    }
    assert(!place.releases.requested.some((path) => path.includes("latest")));
    const { stdout } = await place.install(shell, ["-h"]);
    assertStringIncludes(stdout, "--help, -h");
  });

  test("asks the GitHub CLI about a mirror's file and a local one, and says when it cannot", async () => {
    for (
      const [gh, code, expected] of [
        ["exit 0", 0, "Attestation verified: "],
        ["[ $1 = auth ] || [ $3 = --help ]", 1, "does not find an attestation"],
        ["[ $1 != auth ]", 0, "Not attested: "],
      ] as const
    ) {
      await using place = await Place.make();
      await Deno.mkdir(`${place.home}/tools`);
      const script = `#!/bin/sh\necho "$*" >>"$HOME/asked"\n${gh}\n`;
      await Deno.writeTextFile(`${place.home}/tools/gh`, script, {
        mode: 0o755,
      });
      await Deno.writeTextFile(`${place.home}/file`, program("1.2.5"));
      const env = { PATH: `${place.home}/tools:${PATH}` };
      for (const args of [[], ["--from", "file"]]) {
        const answer = await place.install(shell, args, env);
        assertEquals(answer.code, code, answer.stderr);
        assertStringIncludes(answer.stdout + answer.stderr, expected);
      }
      const installed = place.entries().some((entry) =>
        entry.endsWith("bin/agent-gateway")
      );
      assertEquals(installed, code === 0);
    }
  });

  test("does nothing when it was cut off while it was downloaded", async () => {
    const script = await Deno.readTextFile(SCRIPT);
    const cut = script.slice(0, script.lastIndexOf("main"));
    const command = [...shell.split(" "), "-c", cut];
    const { code, stdout } = await programOutput(command);

    assertEquals([code, stdout], [0, ""]);
  });
}

Deno.test({
  name: "install.sh says what it needs",
  ignore,
  async fn() {
    await using place = await Place.make();
    for (
      const [command, script, message] of [
        ["uname", "echo i686", "no build for i686; with Deno 2.6 or later"],
        ["uname", "[ $1 = -m ] && echo arm64 || echo MSYS", "use install.ps1"],
        ["id", "echo 0", "as root, it needs --to DIR"],
        ["id", "echo 1000", "HOME is not set: use --to DIR"],
      ] as const
    ) {
      const file = `${place.home}/${command}`;
      await Deno.writeTextFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const to = command === "id" ? [] : ["--to", place.folder];
      const { code, stderr } = await programOutput(["sh", SCRIPT, ...to], {
        env: { PATH: `${place.home}:${PATH}` },
        clearEnv: true,
      });
      assertEquals(code, 1);
      assertStringIncludes(stderr, message);
    }
  },
});

/**
 * The tools of the script as BusyBox has them, but for what downloads. The shell is
 * not BusyBox's: that of Debian's static one finds every applet, wherever `PATH` leads.
 */
const BUSYBOX_TOOLS =
  "cat chmod grep id mkdir mktemp mv rm rmdir sed sh sha256sum uname";

const DOWNLOADERS: readonly (readonly [string, Record<string, string>])[] = [
  ["curl", { curl: "/usr/bin/curl", gzip: "/bin/busybox" }],
  ["GNU wget", { wget: "/usr/bin/wget", gzip: "/bin/busybox" }],
  ["BusyBox's wget, and no gzip,", { wget: "/bin/busybox" }],
];

for (const [downloader, tools] of DOWNLOADERS) {
  Deno.test({
    name:
      `install.sh with ${downloader} installs, and takes nothing after a redirect to http:`,
    ignore: Deno.build.os !== "linux" || !isInstalled("busybox"),
    async fn() {
      await using place = await Place.make();
      using ca = new LocalCa();
      const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
      await using server = Deno.serve(
        { ...ca.issue("localhost"), ...address },
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
        place.install("/bin/sh", args, {
          PATH: place.home,
          CURL_CA_BUNDLE: certificate,
          SSL_CERT_FILE: certificate,
          WGETRC,
        });

      const redirected = `https://localhost:${server.addr.port}`;
      const refuse = async (reason: RegExp) => {
        const { code, stderr } = await install("--from", redirected);
        assertEquals(code, 1);
        assertMatch(stderr, reason);
        assert(!place.entries().some((entry) => entry.includes(".local")));
      };
      if (tools.wget === "/bin/busybox") {
        await refuse(/^install\.sh: curl or GNU wget is needed: this wget /);
        const gh = `${place.home}/gh`; // attests whatever it is
        await Deno.writeTextFile(gh, "#!/bin/sh\n", { mode: 0o755 });
        await refuse(/redirect/);
        await Deno.remove(gh);
      } else {
        await refuse(/redirect|\(1\)/);
      }
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
