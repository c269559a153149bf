import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import {
  BUNDLE,
  Deployment,
  findObstacle,
  TOOLCHAIN,
} from "../support/deployment.ts";
import { programOutput } from "../support/program_output.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { SourceCopy } from "../support/source_copy.ts";

const REPLY =
  "Hello! I am the-brain. Ask me something, or what you said before.";

const OBSTACLE = await findObstacle();

/** A test of a binary; skipped where none can be made. */
function binaryTest(name: string, fn: () => Promise<void>): void {
  const ignore = OBSTACLE !== undefined;
  Deno.test(ignore ? `${name} (skipped: ${OBSTACLE})` : name, { ignore }, fn);
}

async function digest(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}

for (
  const [name, test, deploy] of [
    ["the bundle, run from a URL", Deno.test, Deployment.run],
    ["the bundle, installed from a URL", Deno.test, Deployment.install],
    ["the binary", binaryTest, Deployment.compile],
  ] as const
) {
  test(`${name}, runs a prompt with the settings of .env, and writes no file`, async () => {
    await using service = ReferenceService.start();
    await using program = await deploy();
    const cwd = await Deno.makeTempDir();
    await Deno.writeTextFile(
      `${cwd}/.env`,
      `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
    );

    const { code, stdout } = await program.output({ cwd, input: "hello\n" });

    assertEquals([code, stdout], [0, `${REPLY}\n`]);
    await Deno.remove(`${cwd}/.env`);
    await Deno.remove(cwd); // It is empty.
  });

  test(`${name}, needs no key for --help, and serves an editor`, async () => {
    await using service = ReferenceService.start();
    await using program = await deploy();
    const cwd = "/";

    const help = await program.output({ cwd, args: ["--help"] });
    const { code, stdout } = await program.output({
      cwd,
      env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: service.url },
      args: ["--bridge"],
      input:
        '{"id":1,"method":"initialize"}\n{"id":2,"method":"session/new"}\n',
    });

    assertEquals(help.code, 0);
    assertStringIncludes(
      help.stdout,
      "\n\nUsage: agent-gateway [OPTIONS] [-]\n",
    );
    assertEquals(code, 0);
    const [initialized, created] = stdout.trim().split("\n")
      .map((line) => JSON.parse(line));
    assertEquals(initialized.result.serverInfo.version, config.version);
    assertEquals(typeof created.result.sessionId, "string");
  });
}

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
    assertStringIncludes(
      await Deno.readTextFile(`${dist}/SHA256SUMS`),
      `${await digest(`${dist}/${name}`)}  ${name}\n`,
    );
  },
);

binaryTest(
  "the binary is at most 0.5 % larger than that of an empty program",
  async () => {
    await using program = await Deployment.compile();
    await using empty = await Deployment.compile({ code: "" });

    const { size } = await Deno.stat(program.path);
    const { size: least } = await Deno.stat(empty.path);
    assert(size <= least * 1.005, `${size} bytes instead of ${least}`);
  },
);

/** The bundle with an added module that tries what the client never does. */
const HOSTILE = `
const attempts = {
  readFile: () => Deno.readTextFileSync("/etc/passwd"),
  readFolder: () => Deno.readDirSync("."),
  readVariable: () => Deno.env.get("HOME"),
  readEnvironment: () => Deno.env.toObject(),
  writeFile: () => Deno.writeTextFileSync("file", ""),
  writeDotenv: () => Deno.writeTextFileSync(".env", ""),
  changeFolder: () => Deno.chdir("/"),
  runProgram: () => new Deno.Command(Deno.execPath()).outputSync(),
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
  "a hostile module in the binary gets nothing but the network, the named variables, .env and facts about the system",
  async () => {
    await using program = await Deployment.compile({ code: HOSTILE });

    const { stdout } = await program.output({ cwd: "/" });

    assertEquals(stdout, "9 of 9\n");
  },
);

(Deno.build.os === "linux" ? binaryTest : Deno.test.ignore)(
  "a hostile module in the binary cannot have the user asked on a terminal",
  async () => {
    await using program = await Deployment.compile({ code: HOSTILE });

    // script(1) of util-linux gives its child a terminal.
    const { stdout } = await programOutput([
      ...["script", "--quiet", "--return"],
      ...["--command", program.path, "/dev/null"],
    ], {
      env: { NO_COLOR: "1" },
      signal: AbortSignal.timeout(60_000), // Nobody answers a question.
    });

    assertEquals(stdout, "9 of 9\r\n");
  },
);
