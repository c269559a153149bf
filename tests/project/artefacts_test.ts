import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { cp } from "node:fs/promises";
import { dirname } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { bundle, bundleParts } from "../../tools/bundle.ts";
import { checkSums } from "../../tools/checksums.ts";
import {
  binaryName,
  compile,
  CompileError,
  TARGETS,
} from "../../tools/compile.ts";
import { runCommand } from "../../tools/run_command.ts";
import { Client, settings } from "../support/client_process.ts";
import { Folder } from "../support/environment.ts";
import { namesIn, writeFiles } from "../support/files.ts";
import { isInstalled } from "../support/fronts.ts";
import {
  HOSTILE_FOLDERS,
  STEERING_VARIABLES,
} from "../support/hostile_folders.ts";
import { programOutput } from "../support/program_output.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { SourceCopy } from "../support/source_copy.ts";

const REPLY =
  "Hello! I am the-brain. Ask me something, or what you said before.";

/** The bundle that `deno task bundle` writes. */
const BUNDLE = await bundle();

const { target } = Deno.build;

/** A form in which users get the program: its command and its whole environment. */
interface Deployment {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The bundle, installed from a URL with the options of its second line. */
async function install(resources: AsyncDisposableStack): Promise<Deployment> {
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const { addr } = resources.use(
    Deno.serve(address, () => new Response(BUNDLE)),
  );
  const [, options = ""] =
    BUNDLE.match(/^\/\/ Usage: deno run (.*) agent-gateway\.js$/m) ?? [];
  const url = `http://127.0.0.1:${addr.port}/agent-gateway.js`;
  const cwd = await makeFolder(resources);
  const env = {
    ...BARE_ENV,
    DENO_DIR: `${cwd}/cache`,
    DENO_INSTALL_ROOT: cwd,
    PATH: dirname(Deno.execPath()), // The command starts Deno by its name.
  };
  const { code, stderr } = await programOutput([
    ...[Deno.execPath(), "install", "--global", ...options.split(" "), url],
  ], { cwd, clearEnv: true, env });
  assertEquals(code, 0, stderr);
  const extension = Deno.build.os === "windows" ? ".cmd" : "";
  return { command: [`${cwd}/bin/agent-gateway${extension}`], env };
}

/** A program, compiled for this system: the client by default. */
async function compileHere(
  resources: AsyncDisposableStack,
  program?: Readonly<Record<string, string>>,
): Promise<Deployment> {
  program ??= await bundleParts();
  const folder = await makeFolder(resources);
  const binary = await compile({ program, target, folder });
  return { command: [binary], env: BARE_ENV };
}

/** Windows has no network without this variable. */
const SYSTEMROOT = Deno.env.get("SYSTEMROOT");
const BARE_ENV: Readonly<Record<string, string>> = {
  ...SYSTEMROOT !== undefined && { SYSTEMROOT },
};

/**
 * A folder that is removed at the end. On Windows, what holds Deno's cache stays in
 * the temporary folder: Deno keeps a hard link to itself there, and the system does
 * not remove one while the program runs.
 */
async function makeFolder(resources: AsyncDisposableStack): Promise<string> {
  const folder = await Deno.makeTempDir();
  resources.defer(async () => {
    try {
      await Deno.remove(folder, { recursive: true });
    } catch (error) {
      const inUse = Deno.build.os === "windows" &&
        error instanceof Deno.errors.PermissionDenied;
      if (!inUse) throw error;
    }
  });
  return folder;
}

/** The reason why nothing can be compiled here, if any. */
async function findObstacle(): Promise<string | undefined> {
  await using resources = new AsyncDisposableStack();
  try {
    await compileHere(resources, { "main.js": "" });
    return undefined;
  } catch (error) {
    const [url] = error instanceof CompileError
      ? error.message.match(/https:\S+denort[\w.-]+/) ?? []
      : [];
    if (url === undefined) throw error;
    return `${url} cannot be downloaded`;
  }
}

const OBSTACLE = await findObstacle();

/** A test of a binary; skipped where none can be made. */
function binaryTest(
  name: string,
  fn: (t: Deno.TestContext) => Promise<void>,
): void {
  const ignore = OBSTACLE !== undefined;
  Deno.test(ignore ? `${name} (skipped: ${OBSTACLE})` : name, { ignore }, fn);
}

for (
  const [name, test, deploy, variables] of [
    ["the bundle, installed from a URL", Deno.test, install, {}],
    ["the binary", binaryTest, compileHere, STEERING_VARIABLES],
  ] as const
) {
  test(`${name}, started in a folder that other people wrote, runs nothing of it but takes .env, and writes no file`, async () => {
    await using service = ReferenceService.start();
    await using resources = new AsyncDisposableStack();
    const { command, env } = await deploy(resources);
    const dotenv = `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`;
    for (const [what, files] of Object.entries(HOSTILE_FOLDERS)) {
      using folder = new Folder(dotenv);
      await writeFiles(folder.path, files);
      const before = namesIn(folder.path);
      const { code, stdout, stderr } = await programOutput([...command, "-q"], {
        ...{ cwd: folder.path, input: "hello\n", clearEnv: true },
        env: { ...env, ...variables },
      });
      assertEquals([code, stdout], [0, `${REPLY}\n`], what);
      assertEquals(stderr.replace(/^.*Download.*\n/, ""), "");
      assertEquals(namesIn(folder.path), before, what);
    }
  });
}

Deno.test("the source, replaced while it runs, follows a run to its reply", async () => {
  await using service = ReferenceService.start();
  await using sources = await SourceCopy.make();
  await using client = new Client({
    program: [Deno.execPath(), "task", "-q", "start"],
    args: ["--color", "always"],
    cwd: sources.folder,
    env: settings(service),
  });
  await service.waitFor("create thread");
  const many = 'data: {"event":"progress","node":"plan"}\n'.repeat(50);
  service.misbehave("stream", events([many, complete("**done**")]));

  for (const folder of ["lib", "tools/npm"]) {
    const path = `${sources.folder}/${folder}`;
    await Deno.rename(path, `${path}.old`);
    await cp(`${path}.old`, path, { recursive: true });
  }
  const { code, stdout } = await client.finish("hello\n");

  assertEquals(code, 0);
  assert(stdout.includes("**done**"), stdout);
});

/** The environment variables that name another compiler than this Deno, if any. */
const TOOLCHAIN = Object.fromEntries(
  Object.entries(Deno.env.toObject())
    .filter(([name]) => /^(?:COMPILE_DENO|DENORT_BIN)$/.test(name)),
);

binaryTest(
  "deno task compile makes a binary with arguments and checksums, or nothing, and says why",
  async () => {
    await using sources = await SourceCopy.make();
    const dist = `${sources.folder}/dist`;
    const compile = (args: string, env: Readonly<Record<string, string>>) =>
      sources.deno(["task", "-q", "compile", ...args.split(" ")], env);
    const made = await compile(`${target} -- --version`, TOOLCHAIN);
    assertEquals(made.code, 0, made.stderr);
    const name = binaryName(target);
    assert(made.stdout.endsWith(`dist/${name}\n`));
    await runCommand([`${dist}/${name}`]); // It prints its version, and ends.
    const sums = await checkSums(dist);
    assertEquals([...sums.keys()], [name, "agent-gateway.js"]);

    const names = namesIn(dist);
    const other = TARGETS.find((it) => it !== target);
    for (
      const [args, code, message] of [
        [
          "-- --colour",
          2,
          /does not start with these: Unknown argument "--colour"/,
        ],
        ["-- --base-url=http://a.example", 2, /these: --base-url cannot/],
        [`${other}`, 1, /Cannot compile for .*: DENORT_BIN names a runtime /],
      ] as const
    ) {
      const failed = await compile(args, { DENORT_BIN: Deno.execPath() });
      assertEquals(failed.code, code, failed.stderr);
      assertMatch(failed.stderr, message);
    }
    assertEquals(namesIn(dist), names);
  },
);

const DEB = `agent-gateway_${config.version}-1_amd64.deb`;

/** Builds bundle, binary and packages for this system; returns their sums. */
async function build(copy: SourceCopy): Promise<string> {
  await copy.commit();
  for (const task of ["compile", "npm", "deb"]) {
    const { code, stderr } = await copy.deno(["task", "-q", task], TOOLCHAIN);
    assertEquals(code, 0, stderr);
  }
  const npm = `agent-gateway-${config.version}.tgz`;
  const files = ["agent-gateway.js", binaryName(target), npm, DEB];
  const cwd = `${copy.folder}/dist`;
  return await runCommand(["sha256sum", ...files], { cwd });
}

if (target === "x86_64-unknown-linux-gnu") {
  binaryTest("a release", async (t) => {
    await using first = await SourceCopy.make();
    const sums = await build(first);
    const deb = `${first.folder}/dist/${DEB}`;

    await t.step("is the same bytes when it is built again", async () => {
      await using second = await SourceCopy.make();
      assertEquals(await build(second), sums);
    });

    await t.step({
      name: "has a Debian package in which lintian and mandoc find nothing",
      ignore: !["dpkg-deb", "lintian", "mandoc"].every(isInstalled),
      async fn() {
        assertEquals(await runCommand(["lintian", "--allow-root", deb]), "");
        const folder = `${first.folder}/installed`;
        await runCommand(["dpkg-deb", "--extract", deb, folder]);
        const program = `${folder}/usr/bin/agent-gateway`;
        const printed = await runCommand([program, "--version"]);
        assertStringIncludes(printed, `agent-gateway ${config.version} (`);
        const manual = `${folder}/usr/share/man/man1/agent-gateway.1.gz`;
        const mandoc = ["mandoc", "-T", "lint", "-W", "warning", manual];
        assertEquals(await runCommand(mandoc), "");
        const page = await runCommand(["mandoc", "-T", "html", manual]);
        assertMatch(page, />--timeout\s+SECONDS<[^]{0,40}>Time limit for each/);
      },
    });
  });
}

/** The bundle with an added module that tries what the client never does. */
const HOSTILE = `
// In a binary, Deno.execPath() is the binary itself: it must not start itself for ever.
if (Deno.args.includes("again")) Deno.exit();
const attempts = {
  readFile: () => Deno.readTextFileSync("/etc/passwd"),
  readVariable: () => Deno.env.get("HOME"),
  writeDotenv: () => Deno.writeTextFileSync(".env", ""),
  runProgram: () => new Deno.Command(Deno.execPath(), { args: ["again"] }).outputSync(),
  callLibrary: () => Deno.dlopen(Deno.execPath(), {}),
};
const refused = Object.keys(attempts).filter((name) => {
  try {
    attempts[name]();
  } catch (error) {
    return error.name === "NotCapable";
  }
});
console.log(refused.length + " of " + Object.keys(attempts).length);
Deno.exit();
${BUNDLE}`;

binaryTest(
  "a hostile module in the binary reads no other file and no other variable, writes none and starts nothing",
  async () => {
    await using resources = new AsyncDisposableStack();
    const { command, env } = await compileHere(resources, {
      "main.js": HOSTILE,
    });

    const { stdout } = await programOutput(command, { clearEnv: true, env });

    assertEquals(stdout.trim(), "5 of 5");
  },
);
