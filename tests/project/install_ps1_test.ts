import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { runCommand } from "../../tools/run_command.ts";
import { programOutput } from "../support/program_output.ts";
import { ReleaseFolder } from "../support/release_folder.ts";

const SCRIPT = `${import.meta.dirname}/../../tools/release/install.ps1`;

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

Deno.test("install.ps1 and what the documents show as PowerShell is PowerShell", async () => {
  const script = await Deno.readTextFile(SCRIPT);
  const wrong = script.replace(/\}\s*$/, "");
  const docs = `${import.meta.dirname}/../../docs`;
  const pages = ["install.md", "scripting.md"]
    .map((name) => Deno.readTextFileSync(`${docs}/${name}`));
  // The grammar does not know a dash alone, as in "git checkout -".
  const blocks = pages.join("\n")
    .matchAll(/^```powershell\n(.*?)^```$/gms)
    .map(([, block = ""]) => block.replaceAll(/ -(?=$| \|)/gm, " '-'"))
    .toArray();
  assert(blocks.length >= 4);
  assertEquals(await notPowerShell([script, wrong, ...blocks]), [wrong]);
});

Deno.test("install.ps1 takes mirrors with https:, and with http: on this machine alone", async () => {
  const script = await Deno.readTextFile(SCRIPT);
  const [, pattern = ""] =
    /\[ValidatePattern\('([^']+)'\)\]\s+\[string\]\$From/.exec(script) ?? [];
  const isTaken = (url: string) => RegExp(pattern, "i").test(url);
  const taken = [
    ...["https://mirror.example", "http://localhost/a", "http://127.0.0.1:80"],
    ...["http://localhost:80/a", "http://localhost"],
  ];
  const refused = [
    ...["http://mirror.example", "http://localhost:1@127.0.0.2:9019"],
    ...[
      "http://127.0.0.1:@mirror.example",
      "http://localhost:1.mirror.example",
    ],
    ...["http://localhost.mirror.example", "ftp://localhost/", "file"],
    ...[
      "http://localhost:80\\@mirror.example",
      "http://localhost@mirror.example",
    ],
  ];
  assertEquals([...taken, ...refused].filter(isTaken), taken);
});

// The rest changes the registry of the user, so it is for CI alone.
const onWindows = Deno.build.os === "windows" && Deno.env.has("CI") &&
  !Deno.env.has("ON_WINE");

function filesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name);
}

/** The type and the value of the user's PATH, as they are stored. */
async function storedPath(): Promise<string | undefined> {
  const text = await runCommand([
    ...["reg", "query", "HKCU\\Environment", "/v", "Path"],
  ]);
  return /Path +(REG_\w+ +.*?)\r?\n/.exec(text)?.[1]?.replace(/ +/, " ");
}

async function storePath(value: string): Promise<void> {
  await runCommand([
    ...["reg", "add", "HKCU\\Environment", "/v", "Path", "/t", "REG_EXPAND_SZ"],
    ...["/d", value, "/f"],
  ]);
}

for (const shell of onWindows ? ["powershell", "pwsh"] : []) {
  const script = (...args: string[]) => [
    ...[shell, "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", SCRIPT],
    ...args,
  ];

  Deno.test(`install.ps1 in ${shell} installs, updates what runs, and uninstalls`, async () => {
    const before = (await storedPath() ?? "").replace(/^\S+ /, "");
    const local = await Deno.makeTempDir({ prefix: "a [b] " });
    const folder = `${local}\\Programs\\agent-gateway`;
    const program = `${folder}\\agent-gateway.exe`;
    const env = { LOCALAPPDATA: local };
    // It runs until it is killed, unless it is asked for its version.
    const source = `${local}\\program.js`;
    await Deno.writeTextFile(
      source,
      "console.log('agent-gateway 1.2.3'); Deno.args[0] ?? setInterval(() => {}, 1000)",
    );
    const compile = ["compile", "-q", "--no-config", "-o", `${local}\\it.exe`];
    await runCommand([Deno.execPath(), ...compile, source]);
    const bytes = await Deno.readFile(`${local}\\it.exe`);
    await using releases = new ReleaseFolder();
    await releases.add("latest", {
      [`agent-gateway-${Deno.build.target}.exe`]: bytes,
    });
    const install = script("-From", releases.url);
    try {
      await storePath("%USERPROFILE%\\bin;C:\\Tools;");

      const none = script("-From", `${releases.url}/none`);
      await assertRejects(() => runCommand(none, { env }), Error);
      assertEquals(filesIn(`${local}\\Programs`), []);

      const installed = await runCommand(install, { env });
      assertStringIncludes(
        installed,
        `Installed ${program}: agent-gateway 1.2.3`,
      );
      assertEquals(
        await storedPath(),
        `REG_EXPAND_SZ %USERPROFILE%\\bin;C:\\Tools;${folder}`,
      );

      assertEquals(filesIn(folder), ["agent-gateway.exe"]);

      const running = new Deno.Command(program, {
        stdout: "piped",
      }).spawn();
      const reader = running.stdout.getReader();
      await reader.read();
      await runCommand(install, { env });
      running.kill();
      await running.status;
      await reader.cancel();
      await runCommand(install, { env });
      assertEquals(filesIn(folder), ["agent-gateway.exe"]);
      assertEquals(
        await storedPath(),
        `REG_EXPAND_SZ %USERPROFILE%\\bin;C:\\Tools;${folder}`,
      );

      const other = `${local}\\Other`;
      await Deno.mkdir(other);
      await Deno.copyFile(Deno.execPath(), `${other}\\agent-gateway.exe`);
      for (const args of [["-Uninstall"], ["-From", releases.url]]) {
        const refused = runCommand(script(...args, "-To", other), { env });
        await assertRejects(() => refused, Error);
      }
      assertEquals(filesIn(other), ["agent-gateway.exe"]);
      await runCommand(script("-Uninstall", "-To", "C:\\Tools"), { env });
      await runCommand(script("-Uninstall"), { env });
      assertEquals(
        await storedPath(),
        "REG_EXPAND_SZ %USERPROFILE%\\bin;C:\\Tools",
      );
      assertEquals(
        await Array.fromAsync(Deno.readDir(`${local}\\Programs`)),
        [],
      );
    } finally {
      await storePath(before);
      await Deno.remove(local, { recursive: true });
    }
  });
}
