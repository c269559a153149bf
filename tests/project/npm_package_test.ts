import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { PINNED_DENO } from "../../tools/pins.ts";
import { runCommand } from "../../tools/run_command.ts";
import { Client, settings } from "../support/client_process.ts";
import { Folder } from "../support/environment.ts";
import { namesIn, writeFiles } from "../support/files.ts";
import {
  HOSTILE_FOLDERS,
  STEERING_VARIABLES,
} from "../support/hostile_folders.ts";
import { isInstalled } from "../support/fronts.ts";
import {
  type ProgramOptions,
  programOutput,
} from "../support/program_output.ts";
import { ReferenceService } from "../support/service/service.ts";
import { SourceCopy } from "../support/source_copy.ts";
import { Screen } from "../support/tmux_screen.ts";

// The package as users get it: packed, installed by npm without install scripts,
// and started by Node.js.

const NPM = Deno.build.os === "windows" ? "npm.cmd" : "npm";
const REPLY =
  "Hello! I am the-brain. Ask me something, or what you said before.";

/** Starts a command as PID 1, with a user id that has no name. */
const AS_PID_1 = [
  ...["unshare", "--pid", "--fork", "--mount-proc", "--map-user=12345"],
  ...["env", "-u", "DENO_DIR", "-u", "HOME", "-u", "XDG_CACHE_HOME"],
  "TMPDIR=/proc",
];

/** Packs the package, and installs it into a folder. */
async function install(folder: string): Promise<void> {
  await using sources = await SourceCopy.make();
  const packed = await sources.deno(["task", "-q", "npm"]);
  assertEquals(packed.code, 0, packed.stderr);
  const tarball = packed.stdout.trim().split("\n").at(-1) ?? "";
  await runCommand([
    ...[NPM, "install", "--silent", "--no-save", "--ignore-scripts"],
    ...["--prefix", folder, `${sources.folder}/${tarball}`],
  ]);
}

Deno.test("the npm package", async (t) => {
  using scratch = new Folder();
  const folder = scratch.path;
  await install(folder);
  const installed = `${folder}/node_modules/agent-gateway`;
  const packages = `${folder}/node_modules/@deno`;
  const deno = `${packages}/${namesIn(packages)[0]}/deno`;
  const command = ["node", `${installed}/agent-gateway.cjs`];
  const run = (args: readonly string[], options: ProgramOptions = {}) =>
    programOutput([...command, ...args], options);

  await t.step(
    "starts the pinned Deno of its system, without any script, with exactly the permissions of the client, and its code in one file",
    async () => {
      const { code, stdout, stderr } = await run(["--version"]);
      assertEquals([code, stderr], [0, ""]);
      assertStringIncludes(stdout, `(deno ${PINNED_DENO}, `);

      const read = (name: string) => Deno.readTextFile(`${installed}/${name}`);
      const manifest = JSON.parse(await read("package.json"));
      assertEquals([manifest.dependencies, manifest.scripts], [
        undefined,
        undefined,
      ]);
      const denos = Object.values(manifest.optionalDependencies);
      assertEquals(denos, Array(6).fill(PINNED_DENO));
      const flags: string[] = JSON.parse(await read("flags.json"));
      const permissions = flags.filter((it) =>
        /^--(?:allow|no-prompt)/.test(it)
      );
      assertEquals(permissions, [...clientPermissionFlags]);
      const files = namesIn(installed);
      assertEquals(files.filter((name) => !/\.(?:json|md)$/.test(name)), [
        ...["LICENSE", "agent-gateway.cjs", "agent-gateway.js"],
      ]);
    },
  );

  await t.step("keeps from the program what steers Deno", async () => {
    await using service = ReferenceService.start();
    using cwd = new Folder();
    const preload = `${folder}/preload.cjs`;
    const code = 'if (globalThis.Deno) console.error("loaded");';
    await Deno.writeTextFile(preload, code);
    const env = {
      ...{ ...STEERING_VARIABLES, ...settings(service) },
      ...{ DENO_LOG: "debug", DENO_TOKIO_METRICS: "1" },
      ...{ NODE_OPTIONS: `--require ${preload}`, SSLKEYLOGFILE: "secrets" },
    };
    for (const args of [["--version"], ["-q", "-p", "hello"]]) {
      const { code, stderr } = await run(args, { cwd: cwd.path, env });
      assertEquals([code, stderr], [0, ""]);
    }
    assertEquals(namesIn(cwd.path), []);
  });

  await t.step(
    "runs nothing of a folder that other people wrote, and npx does",
    async () => {
      await using service = ReferenceService.start();
      const names = ["deno.json", "package.json", "deno.lock"];
      const folders = {
        ...HOSTILE_FOLDERS,
        nonsense: Object.fromEntries(names.map((name) => [name, "not JSON"])),
      };
      for (const [what, files] of Object.entries(folders)) {
        using at = new Folder();
        const { path: cwd } = at;
        await writeFiles(cwd, files);
        const isTaken = () => namesIn(cwd).includes("taken");
        const options = { cwd, env: settings(service), input: "hello\n" };
        const { code, stdout } = await run(["-q"], options);
        assertEquals([code, stdout], [0, `${REPLY}\n`], what);
        assert(!isTaken(), what);
        // Without a network: only what is there can run.
        const npx = NPM.replace("npm", "npx");
        await programOutput([npx, "--offline", "agent-gateway"], { cwd });
        const isOfNpm = "node_modules/.bin/agent-gateway" in files;
        if (isOfNpm) assert(isTaken(), what);
      }
    },
  );

  await t.step({
    name: "keeps Deno's cache where there is no home",
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using service = ReferenceService.start();
      using temporary = new Folder();
      const nowhere = {
        HOME: "/proc/nobody",
        XDG_CACHE_HOME: "",
        DENO_DIR: "",
      };
      const { stdout } = await run(["-q", "-p", "hello"], {
        env: { ...settings(service), ...nowhere, TMPDIR: temporary.path },
      });

      assertEquals(stdout, `${REPLY}\n`);
      assertMatch(namesIn(temporary.path).join(), /^agent-gateway-\d+$/);
    },
  });

  await t.step({
    name: "stops at Ctrl-Z with the process that has started it",
    ignore: !isInstalled("tmux"),
    async fn() {
      await using service = ReferenceService.start();
      await using screen = await Screen.open({ env: settings(service) });
      // A shell that waits for it, as npx does and many a script.
      await screen.enter(`sh -c '${command.join(" ")} -q; echo left'`);
      await screen.waitFor(/^>$/m);
      await screen.type("hel");
      await screen.waitFor(/^> hel$/m);

      await screen.press("C-z");
      await screen.waitFor(/^> hel\n[^]*Stopped[^]*\[148\]\$$/m);
      await screen.enter("fg");
      await screen.waitFor(/\$ fg\n[^]*^> hel$/m);
      await screen.enter("lo");
      await screen.waitFor(REPLY);
      await screen.press("C-d");
      await screen.waitFor(/^left$/m);
    },
  });

  await t.step({
    name: "ends at SIGUSR1, and opens no debugger",
    ignore: Deno.build.os === "windows",
    async fn() {
      await using client = new Client({ program: command, args: ["--bridge"] });
      await client.write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
      await client.stdout.waitFor('"id":1');
      client.kill("SIGUSR1");
      const { code } = await client.status;
      await client.closeInput();
      assertEquals([code, client.stderr.text], [138, ""]);
    },
  });

  // Not registered elsewhere: where nothing may be skipped, a skipped test is a failure.
  const canBePid1 = isInstalled("unshare") &&
    (await programOutput([...AS_PID_1, "true"])).code === 0;
  if (canBePid1) {
    await t.step(
      "as PID 1, needs no cache, and never leaves with 0 for a program that was killed",
      async () => {
        const start = [...AS_PID_1, ...command, "--version"];
        const { code, stderr } = await programOutput(start);
        assertEquals([code, stderr], [0, ""]);

        await Deno.writeTextFile(deno, "#!/bin/sh\nkill -KILL $$\n");
        assertEquals((await programOutput(start)).code, 137);
      },
    );
  }

  await t.step("says in one line why it cannot start", async () => {
    const refuse = async (start: readonly string[], reason: RegExp) => {
      const { code, stderr } = await programOutput(start);
      assertEquals(code, 1);
      assertMatch(stderr, reason);
    };
    if (Deno.build.os !== "windows") {
      const gone = 'cd $(mktemp -d); rmdir $PWD; exec "$0" "$@"';
      await refuse(["sh", "-c", gone, ...command], /^.* no longer exists\n$/);
      await Deno.chmod(deno, 0o644);
      await refuse(command, /^agent-gateway: cannot start Deno: .* EACCES\n$/);
    }
    await Deno.remove(packages, { recursive: true });
    await refuse(command, /^.* package @deno\/\w+-\S+ is not installed: .*\n$/);
  });
});
