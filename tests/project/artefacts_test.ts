import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { cp } from "node:fs/promises";
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { parseSums, sha256 } from "../../tools/checksums.ts";
import { sameFlags } from "../../tools/deno.ts";
import { Client, settings } from "../support/client_process.ts";
import {
  BUNDLE,
  compileHere,
  findObstacle,
  installFromUrl,
  runFromUrl,
  TOOLCHAIN,
} from "../support/deployment.ts";
import {
  HOSTILE_FOLDERS,
  isTaken,
  makeFolderOf,
  STEERING_VARIABLES,
} from "../support/hostile_folders.ts";
import { programOutput } from "../support/program_output.ts";
import { complete, events } from "../support/service/behaviours.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { SourceCopy } from "../support/source_copy.ts";

const REPLY =
  "Hello! I am the-brain. Ask me something, or what you said before.";

/** What an editor sends first. */
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';

const OBSTACLE = await findObstacle();

/** A test of a binary; skipped where none can be made. */
function binaryTest(name: string, fn: () => Promise<void>): void {
  const ignore = OBSTACLE !== undefined;
  Deno.test(ignore ? `${name} (skipped: ${OBSTACLE})` : name, { ignore }, fn);
}

for (
  const [name, test, deploy, variables] of [
    ["the bundle, run from a URL", Deno.test, runFromUrl, {}],
    ["the bundle, installed from a URL", Deno.test, installFromUrl, {}],
    ["the binary", binaryTest, compileHere, STEERING_VARIABLES],
  ] as const
) {
  test(`${name}, runs a prompt with the settings of .env, and writes no file`, async () => {
    await using service = ReferenceService.start();
    await using resources = new AsyncDisposableStack();
    const { command, env } = await deploy(resources);
    const cwd = await Deno.makeTempDir();
    await Deno.writeTextFile(
      `${cwd}/.env`,
      `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
    );

    const { code, stdout, stderr } = await programOutput([...command, "-q"], {
      ...{ cwd, input: "hello\n", clearEnv: true },
      env: { ...env, ...variables },
    });

    assertEquals([code, stdout], [0, `${REPLY}\n`]);
    assertEquals(stderr.replace(/^.*Download.*\n/, ""), "");
    await Deno.remove(`${cwd}/.env`);
    await Deno.remove(cwd); // It is empty.
  });

  test(`${name}, started in a folder that other people wrote, runs nothing of it`, async () => {
    await using service = ReferenceService.start();
    await using resources = new AsyncDisposableStack();
    const { command, env } = await deploy(resources);
    for (const [what, files] of Object.entries(HOSTILE_FOLDERS)) {
      const cwd = await makeFolderOf(files);
      const { code, stdout } = await programOutput([...command, "--bridge"], {
        cwd,
        input: INITIALIZE,
        clearEnv: true,
        env: { ...env, ...settings(service) },
      });
      assertEquals([code, isTaken(cwd)], [0, false], what);
      assertStringIncludes(stdout, '"protocolVersion":1');
      await Deno.remove(cwd, { recursive: true });
    }
  });
}

Deno.test("the source, replaced while it runs, follows a run to its reply", async () => {
  await using service = ReferenceService.start();
  await using sources = await SourceCopy.make();
  await using client = new Client({
    program: [
      ...[Deno.execPath(), "run", "-q", `--config=${sources.folder}/deno.json`],
      ...sameFlags.slice(1).map((flag) =>
        flag.replace(/=.*(?=\/tools\/)/, `=${sources.folder}`)
      ),
      ...[...clientPermissionFlags, `${sources.folder}/main.ts`],
    ],
    args: ["--color", "always"],
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

binaryTest(
  "deno task compile makes a binary, with arguments, and checksums",
  async () => {
    await using sources = await SourceCopy.make();
    const extension = Deno.build.os === "windows" ? ".exe" : "";
    const name = `agent-gateway-${Deno.build.target}${extension}`;

    const { code, stdout } = await sources.deno(
      ["task", "-q", "compile", Deno.build.target, "--", "--version"],
      TOOLCHAIN,
    );

    assertEquals(code, 0);
    assert(stdout.endsWith(`dist/${name}\n`));
    const dist = `${sources.folder}/dist`;
    const { success } = await new Deno.Command(`${dist}/${name}`).output();
    assert(success, "--version is not part of it");
    const sums = parseSums(await Deno.readTextFile(`${dist}/SHA256SUMS`));
    const files = [name, "agent-gateway.js"];
    assertEquals([...sums.keys()], files);
    for (const file of files) {
      const bytes = await Deno.readFile(`${dist}/${file}`);
      assertEquals(sums.get(file), await sha256(bytes));
    }
  },
);

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
    const { command, env } = await compileHere(resources, HOSTILE);

    const { stdout } = await programOutput(command, { clearEnv: true, env });

    assertEquals(stdout.trim(), "5 of 5");
  },
);
