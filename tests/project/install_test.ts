import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { formatSums, sha256 } from "../../tools/checksums.ts";
import { gzip } from "../../tools/release/archive.ts";
import { runCommand } from "../../tools/run_command.ts";
import { namesIn, writeFiles } from "../support/files.ts";
import { isInstalled } from "../support/fronts.ts";
import { LocalCa } from "../support/local_ca.ts";
import { programOutput } from "../support/program_output.ts";
import { answer, body } from "../support/service/behaviours.ts";
import { rowsOf } from "../support/tables.ts";

// The real scripts in real shells, with releases on loopback.

const TOOLS = `${import.meta.dirname}/../../tools/release`;
const SCRIPT = `${TOOLS}/install.sh`;
const NAME = `agent-gateway-${Deno.build.target}`;
const PATH = Deno.env.get("PATH") ?? "";
const onWindows = Deno.build.os === "windows";
const LOOPBACK = { hostname: "127.0.0.1", port: 0, onListen() {} } as const;

/** A program that only prints its version, and is no script by its start. */
function program(version: string): string {
  return `echo "agent-gateway ${version} (test)"\n`;
}

/** Releases on loopback, laid out as GitHub does. */
class Releases implements AsyncDisposable {
  readonly answers = new Map<string, () => Response>();
  /** The requested paths, in order. */
  readonly requested: string[] = [];
  readonly #server = Deno.serve(
    { ...LOOPBACK, onError: () => new Response(null, { status: 500 }) },
    ({ url }) => {
      const { pathname } = new URL(url);
      this.requested.push(pathname);
      return (this.answers.get(pathname) ?? answer(404))();
    },
  );

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Adds a program, plain and compressed, and its sum, to the release in a folder. */
  async add(
    folder: string,
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
    packed: () => Response = answer(200, gzip(bytes)),
  ): Promise<void> {
    const sums = formatSums(new Map([[name, await sha256(bytes)]]));
    this.answers.set(`/${folder}/${name}`, answer(200, bytes));
    this.answers.set(`/${folder}/${name}.gz`, packed);
    this.answers.set(`/${folder}/SHA256SUMS`, answer(200, sums));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A home folder with files of all kinds in the place of the program, and releases. */
class Place implements AsyncDisposable {
  readonly home: string = Deno.makeTempDirSync();
  readonly releases: Releases = new Releases();

  static async make(): Promise<Place> {
    const place = new Place();
    const { releases, home } = place;
    const whole = gzip(program("1.2.3"));
    const headers = { "content-length": `${whole.length}` };
    const cutOff = body([whole.slice(0, 5)], { headers, end: "break" });
    for (
      const [folder, version, packed] of [
        ["latest/download", "1.2.3"],
        ["download/v1.2.4", "1.2.4", answer(404)], // it is there as it is, too
        ["download/v0.0.1", "1.2.3", answer(200, gzip(program("1.2.4")))],
        ["download/v0.0.2", "1.2.3", cutOff],
        ["download/v0.0.3", "1.2.3", answer(403)],
        ["download/v0.0.4", "1.2.3", answer(200, "<html>")],
      ] as const
    ) {
      const bytes = new TextEncoder().encode(program(version));
      await releases.add(folder, NAME, bytes, packed);
    }
    await writeFiles(home, {
      "old/agent-gateway": program("1.0.0"),
      "script/agent-gateway": `#!/bin/sh\n${program("1.0.0")}`,
      "other/agent-gateway": "echo deno 2.9.6",
      "hangs/agent-gateway": "exec tail -f /dev/null",
      "folder/agent-gateway/x": "exit 1",
      "npm/agent-gateway": "-> ../node_modules/x",
      "link/agent-gateway": "-> ../own",
      // The script waits five times for an old program to say its version.
      "tools/sleep": "#!/bin/sh\nexec /bin/sleep 20",
    });
    await Deno.writeFile(`${home}/file.gz`, gzip(program("1.2.5")));
    return place;
  }

  /** All files, links and folders, with their inodes. */
  entries(folder: string = this.home): string[] {
    return Array.from(Deno.readDirSync(folder)).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      const below = entry.isDirectory ? this.entries(path) : [];
      return [`${Deno.lstatSync(path).ino} ${path}`, ...below];
    }).sort();
  }

  /** Feeds the script to a shell, as `curl ... | sh -s -- ARGS` does. */
  install(
    shell: string,
    args: string,
    env: Readonly<Record<string, string>> = {},
  ) {
    const words = `${shell} -s -- --from ${this.releases.url} ${args}`;
    return programOutput(words.split(" ").filter((word) => word !== ""), {
      cwd: this.home,
      env: {
        HOME: this.home,
        PATH: `${this.home}/tools:${this.home}/old/:${PATH}`,
        ...env,
      },
      clearEnv: true,
      input: Deno.readTextFileSync(SCRIPT),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.releases[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }
}

/**
 * Calls in one folder, one after the other: what each says, and the version that is
 * installed after it. One that is refused fails, and changes nothing. The script of a
 * tool takes the place of the real one.
 */
const CALLS = rowsOf<"args" | "says" | "then" | "tool" | "script">(String.raw`
args                            | says                                          | then    | tool  | script
--version v1.2.4                | Installed                                     | 1.2.4   |       |
                                | Installed                                     | 1.2.3   |       |
--uninstall                     | Removed                                       | none    |       |
--from file.gz                  | Not attested:                                 | 1.2.5   |       |
--help                          | --help, -h                                    | 1.2.5   |       |
                                | Not attested:                                 | 1.2.3   | gh    | [ $1 != auth ]
                                | Attestation verified:                         | 1.2.3   | gh    | exit 0
--from file.gz                  | Attestation verified:                         | 1.2.5   | gh    | exit 0
                                | does not find an attestation                  | refused | gh    | [ $1 = auth -o "$3" = --help ]
--from file.gz                  | does not find an attestation                  | refused | gh    | [ $1 = auth -o "$3" = --help ]
                                | no build for i686; with Deno 2.6 or later     | refused | uname | echo i686
                                | use install.ps1                               | refused | uname | if [ $1 = -m ]; then echo arm64; else echo MSYS; fi
--version 0.0.1                 | is damaged: its SHA-256 sum is                | refused |       |
--version 0.0.2                 | .gz; nothing was installed                    | refused |       |
--version 0.0.3                 | .gz (HTTP 403), perhaps because of a limit    | refused |       |
--version 0.0.4                 | the file is damaged, or                       | refused |       |
--form x                        | unknown argument '--form': see --help         | refused |       |
--to                            | --to needs a value                            | refused |       |
--version 1.0/..                | '1.0/..' is not a version such as 1.2.3       | refused |       |
--from http://mirror.example    | --from needs an https: URL                    | refused |       |
--from http://localhost.mirror.example           | --from needs an https: URL   | refused |       |
--from http://localhost:1@127.0.0.2:9019         | --from needs an https: URL   | refused |       |
--from http://127.0.0.1:@mirror.example          | --from needs an https: URL   | refused |       |
--from http://localhost:80\@mirror.example       | --from needs an https: URL   | refused |       |
--from ftp://localhost/         | --from needs an https: URL                    | refused |       |
--from none                     | there is no file 'none'                       | refused |       |
--from file.gz --version 1.2.3  | the version of a file                         | refused |       |
--from other/agent-gateway      | it says 'deno 2.9.6' to                       | refused |       |
--from folder/agent-gateway/x --to new/one | the program does not start: it needs glibc | refused | |
--to file.gz/bin                | cannot make the folder                        | refused |       |
--to new --uninstall            | /new/agent-gateway: use --to DIR              | refused |       |
--to folder                     | agent-gateway is a folder;                    | refused |       |
--to script                     | is a script                                   | refused |       |
--to other                      | does not say within 5 s that it is agent-gateway | refused |    |
--to other --uninstall          | does not say within 5 s                       | refused |       |
--to hangs                      | does not say within 5 s                       | refused | sleep | :
--to npm --uninstall            | npm uninstall -g agent-gateway                | refused |       |
--to link                       | is a link to ../own; it is left as it is      | refused |       |
`);

for (const shell of ["dash", "bash --posix", "busybox sh", "zsh"]) {
  const [name = ""] = shell.split(" ");
  const test = (title: string, fn: (place: Place) => Promise<void>) =>
    Deno.test({
      name: `install.sh in ${name} ${title}`,
      ignore: onWindows || !isInstalled(name),
      async fn() {
        await using place = await Place.make();
        await fn(place);
      },
    });

  test("installs, updates and uninstalls, asks for attestations, and changes nothing when it fails", async (place) => {
    for (const { args, says, then, tool, script } of CALLS) {
      const standIn = `tools/${tool || "none"}`;
      await writeFiles(place.home, { [standIn]: `#!/bin/sh\n${script}\n` });
      const before = place.entries();
      const output = await place.install(shell, `--to old ${args}`);
      const { code, stdout, stderr } = output;
      const about = `${args} with ${tool}: ${stdout}${stderr}`;
      assertStringIncludes(stdout + stderr, says, about);
      if (then === "refused") {
        assertEquals([code, place.entries()], [1, before], about);
      } else {
        assertEquals(code, 0, about);
        assert(!stdout.includes("on your PATH"), about);
        const file = `${place.home}/old/agent-gateway`;
        const names = then === "none" ? [] : ["agent-gateway"];
        assertEquals(namesIn(`${place.home}/old`), names, about);
        if (then === "none") continue;
        assertEquals(await Deno.readTextFile(file), program(then), about);
        assertEquals((await Deno.stat(file)).mode, 0o100755);
      }
      await Deno.remove(`${place.home}/${standIn}`);
    }
  });

  test("prints commands that work, in a folder of any name", async (place) => {
    const folder = `${place.home}/it's "$HOME"`;
    const { stdout } = await programOutput([
      ...[...shell.split(" "), SCRIPT, "--from", place.releases.url],
      ...["--to", folder],
    ]);
    const [, path] = stdout.match(/^ {2}(export PATH=.*)$/m) ?? [];
    const [, remove] = stdout.match(/^To uninstall: (rm .*)$/m) ?? [];
    const commands = `${path}; agent-gateway; ${remove}`;
    const printed = await programOutput(["sh", "-c", commands]);
    assertEquals(printed.stdout, "agent-gateway 1.2.3 (test)\n");
    assertEquals(place.entries(folder), []);
  });

  test("needs a folder as root, a home without one, and its last line", async (place) => {
    for (const [id, message] of [["0", "as root"], ["1000", "HOME is not"]]) {
      await writeFiles(place.home, { "tools/id": `#!/bin/sh\necho ${id}\n` });
      const { stderr } = await place.install(shell, "", { HOME: "" });
      assertStringIncludes(stderr, `${message}`);
    }
    const script = await Deno.readTextFile(SCRIPT);
    const cut = script.slice(0, script.lastIndexOf("main"));
    const command = [...shell.split(" "), "-c", cut];
    const { code, stdout } = await programOutput(command);
    assertEquals([code, stdout], [0, ""]);
  });
}

/**
 * The tools of the script as BusyBox has them, but for what downloads. The shell is
 * not BusyBox's: that of Debian's static one finds every applet, wherever `PATH` leads.
 */
const BUSYBOX_TOOLS =
  "cat chmod grep id mkdir mktemp mv rm rmdir sed sh sha256sum uname";

/** How each downloader is there, and how it refuses a redirect. */
const DOWNLOADERS = rowsOf<
  "downloader" | "system" | "busybox" | "gh" | "refusal"
>(`
downloader              | system | busybox | gh | refusal
curl                    | curl   | gzip    |    | (1)
GNU wget                | wget   | gzip    |    | redirect
BusyBox's wget          |        | wget    |    | or GNU wget is needed
BusyBox's wget, and gh, |        | wget    | gh | redirect
`);

for (const { downloader, system, busybox, gh, refusal } of DOWNLOADERS) {
  Deno.test({
    name:
      `install.sh with ${downloader} installs, and takes nothing after a redirect to http:`,
    ignore: Deno.build.os !== "linux" ||
      !["busybox", "curl", "wget", "openssl"].every(isInstalled),
    async fn() {
      await using place = await Place.make();
      using ca = new LocalCa();
      await using server = Deno.serve(
        { ...ca.issue("localhost"), ...LOOPBACK },
        ({ url }) =>
          Response.redirect(place.releases.url + new URL(url).pathname),
      );
      const folder = `${place.home}/tools`;
      // BusyBox speaks TLS through OpenSSL.
      for (const tool of ["openssl", system].filter(Boolean)) {
        await Deno.symlink(`/usr/bin/${tool}`, `${folder}/${tool}`);
      }
      for (const tool of `${BUSYBOX_TOOLS} ${busybox}`.split(" ")) {
        await Deno.symlink("/bin/busybox", `${folder}/${tool}`);
      }
      const { certificate } = ca;
      await writeFiles(place.home, {
        [`tools/${gh || "none"}`]: "#!/bin/sh\n", // It finds all good.
        // GNU wget takes the test's authority from its settings file only.
        wgetrc: `ca_certificate=${certificate}\n`,
      });
      const install = (args = "") =>
        place.install("/bin/sh", `--to old ${args}`, {
          PATH: folder,
          CURL_CA_BUNDLE: certificate,
          SSL_CERT_FILE: certificate,
          WGETRC: `${place.home}/wgetrc`,
        });

      const before = place.entries();
      const redirected = `--from https://localhost:${server.addr.port}`;
      const refused = await install(redirected);
      assertStringIncludes(refused.stderr, refusal);
      assertEquals([refused.code, place.entries()], [1, before]);

      const { code, stderr } = await install();
      assertEquals([code, stderr], [0, ""]);
      const compressed = busybox === "gzip" ? ".gz" : "";
      const last = `/latest/download/${NAME}${compressed}`;
      assertEquals(place.releases.requested.at(-1), last);
      const sums = "/latest/download/SHA256SUMS";
      for (const status of [404, 429, 503]) {
        place.releases.answers.set(sums, answer(status));
        const message = status === 404 ? "there is no " : `HTTP ${status}`;
        assertStringIncludes((await install()).stderr, message);
      }
      await Deno.remove(`${folder}/mktemp`);
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

/** The scripts that are not PowerShell. */
async function notPowerShell(scripts: readonly string[]): Promise<string[]> {
  const support = `${import.meta.dirname}/../support`;
  const { stdout, stderr } = await programOutput([
    ...[Deno.execPath(), "run", "-q", "--no-config", "--no-prompt"],
    ...[`--lock=${support}/powershell_syntax.lock.json`, "--frozen"],
    ...["--allow-read", "--allow-env", `${support}/powershell_syntax.ts`],
  ], { input: JSON.stringify(scripts) });
  assert(stdout !== "", stderr);
  return JSON.parse(stdout);
}

const POWERSHELL = await Deno.readTextFile(`${TOOLS}/install.ps1`);

Deno.test("install.ps1 and what the documents show as PowerShell is PowerShell", async () => {
  const wrong = POWERSHELL.replace(/\}\s*$/, "");
  const docs = `${import.meta.dirname}/../../docs`;
  const pages = ["install.md", "scripting.md"]
    .map((name) => Deno.readTextFileSync(`${docs}/${name}`));
  // The grammar does not know a dash alone, as in "git checkout -".
  const blocks = pages.join("\n")
    .matchAll(/^```powershell\n(.*?)^```$/gms)
    .map(([, block = ""]) => block.replaceAll(/ -(?=$| \|)/gm, " '-'"))
    .toArray();
  assert(blocks.length > 1);
  assertEquals(await notPowerShell([POWERSHELL, wrong, ...blocks]), [wrong]);
});

Deno.test("install.ps1 takes mirrors with https:, and with http: on this machine alone", () => {
  const [, pattern = ""] =
    /\[ValidatePattern\('([^']+)'\)\]\s+\[string\]\$From/.exec(POWERSHELL) ??
      [];
  const taken = [
    ...["https://mirror.example", "http://localhost/a", "http://127.0.0.1:80"],
    ...["http://localhost:80/a", "http://localhost"],
  ];
  const isTaken = (url: string) => RegExp(pattern, "i").test(url);
  const refused = CALLS.filter(({ says }) => says.includes("https: URL"))
    .map(({ args }) => args.replace("--from ", ""));
  assert(refused.length > 5);
  assertEquals([...taken, ...refused, "file"].filter(isTaken), taken);
});

// The rest changes the registry of the user, so it is for CI alone.
const canChangeRegistry = onWindows && Deno.env.has("CI") &&
  !Deno.env.has("ON_WINE");
const VARIABLES = ["HKCU\\Environment", "/v", "Path"];

/** The user's PATH as it is stored, before its variables are replaced. */
async function storedPath(): Promise<string> {
  const text = await runCommand(["reg", "query", ...VARIABLES]);
  return /Path +REG_EXPAND_SZ +(.*?)\r?\n/.exec(text)?.[1] ?? "";
}

async function storePath(value: string): Promise<void> {
  const type = ["/t", "REG_EXPAND_SZ", "/d", value, "/f"];
  await runCommand(["reg", "add", ...VARIABLES, ...type]);
}

for (const shell of canChangeRegistry ? ["powershell", "pwsh"] : []) {
  Deno.test(`install.ps1 in ${shell} installs, updates what runs, and uninstalls`, async () => {
    const before = await storedPath();
    const local = await Deno.makeTempDir({ prefix: "a [b] " });
    const programs = `${local}\\Programs`;
    const folder = `${programs}\\agent-gateway`;
    const run = (...args: string[]) =>
      runCommand([
        ...[shell, "-NoProfile", "-ExecutionPolicy", "Bypass", "-File"],
        ...[`${TOOLS}/install.ps1`, ...args],
      ], { env: { LOCALAPPDATA: local } });
    // It runs until it is killed, unless it is asked for its version.
    await Deno.writeTextFile(
      `${local}\\it.js`,
      "console.log('agent-gateway 1.2.3'); Deno.args[0] ?? setInterval(() => {}, 1000)",
    );
    const compile = ["compile", "-q", "--no-config", "-o", `${local}\\it.exe`];
    await runCommand([Deno.execPath(), ...compile, `${local}\\it.js`]);
    await using releases = new Releases();
    const bytes = await Deno.readFile(`${local}\\it.exe`);
    await releases.add("latest/download", `${NAME}.exe`, bytes);
    const own = "%USERPROFILE%\\bin;C:\\Tools";
    const isInstalledOnce = async () => {
      assertEquals(namesIn(folder), ["agent-gateway.exe"]);
      assertEquals(await storedPath(), `${own};${folder}`);
    };
    try {
      await storePath(`${own};`);
      await assertRejects(() => run("-From", `${releases.url}/none`), Error);
      assertEquals(namesIn(programs), []);

      const installed = await run("-From", releases.url);
      const file = `${folder}\\agent-gateway.exe`;
      assertStringIncludes(installed, `Installed ${file}: agent-gateway 1.2.3`);
      await isInstalledOnce();

      const running = new Deno.Command(file, { stdout: "piped" }).spawn();
      const reader = running.stdout.getReader();
      await reader.read();
      await run("-From", releases.url);
      running.kill();
      await running.status;
      await reader.cancel();
      await run("-From", releases.url);
      await isInstalledOnce();

      const other = `${local}\\Other`;
      await Deno.mkdir(other);
      await Deno.copyFile(Deno.execPath(), `${other}\\agent-gateway.exe`);
      for (const args of [["-Uninstall"], ["-From", releases.url]]) {
        await assertRejects(() => run(...args, "-To", other), Error);
      }
      assertEquals(namesIn(other), ["agent-gateway.exe"]);
      await run("-Uninstall", "-To", "C:\\Tools");
      await run("-Uninstall");
      assertEquals([await storedPath(), namesIn(programs)], [own, []]);
    } finally {
      await storePath(before);
      await Deno.remove(local, { recursive: true });
    }
  });
}
