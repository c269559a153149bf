import { assert, assertEquals, assertMatch } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import config from "../../deno.json" with { type: "json" };
import {
  BUNDLE,
  Deployment,
  findObstacle,
  TOOLCHAIN,
} from "../support/deployment.ts";
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

// deno-lint-ignore no-explicit-any -- the test asserts what it expects
type Message = any;

/** Runs a session like an editor; returns all messages of the bridge. */
async function holdSession(program: Deno.ChildProcess): Promise<Message[]> {
  const writer = program.stdin.getWriter();
  const lines = program.stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream()).getReader();
  const messages: Message[] = [];

  async function request(id: number, method: string, params: unknown) {
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    await writer.write(new TextEncoder().encode(`${line}\n`));
    for (;;) {
      const { done, value } = await lines.read();
      assert(!done, `No answer to ${method}`);
      messages.push(JSON.parse(value));
      if (messages.at(-1).id === id) return messages.at(-1).result;
    }
  }

  await request(1, "initialize", { protocolVersion: 1 });
  const session = { cwd: "/", mcpServers: [] };
  const { sessionId } = await request(2, "session/new", session);
  const prompt = [{ type: "text", text: "hello" }];
  await request(3, "session/prompt", { sessionId, prompt });
  await writer.close();
  assertEquals((await lines.read()).done, true);
  return messages;
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
  test(`${name}, prints the usage, needs no key and writes no file`, async () => {
    await using program = await deploy();
    const cwd = await Deno.makeTempDir();

    const { code, stdout } = await program.output({ cwd, args: ["--help"] });

    assertEquals(code, 0);
    assertMatch(
      stdout,
      /^agent-gateway .*\n\nUsage: agent-gateway \[OPTIONS\] \[-\]\n/,
    );
    await Deno.remove(cwd); // It is empty.
  });

  test(`${name}, runs prompts in interactive mode`, async () => {
    await using service = ReferenceService.start();
    await using program = await deploy();
    const cwd = await Deno.makeTempDir();

    const { code, stdout } = await program.output({
      cwd,
      env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: service.url },
      input: "hello\nexit\n",
    });

    assertEquals(code, 0);
    assertEquals(stdout, `${REPLY}\n`);
    await Deno.remove(cwd);
  });

  test(`${name}, holds a session in bridge mode`, async () => {
    await using service = ReferenceService.start();
    await using program = await deploy();
    const cwd = await Deno.makeTempDir();
    const child = program.start({
      cwd,
      env: { APP_API_KEY: TEST_KEY, APP_BASE_URL: service.url },
      args: ["--bridge"],
    });

    const messages = await holdSession(child);

    const [initialized] = messages;
    assertEquals(initialized.result.serverInfo.version, config.version);
    const [reply, ended] = messages.slice(-2);
    assertEquals(reply.params.update.content.text, REPLY);
    assertEquals(ended.result, { stopReason: "end_turn" });
    assertEquals((await child.status).code, 0);
    await child.stderr.cancel();
    await Deno.remove(cwd);
  });

  test(`${name}, reads .env of the current folder`, async () => {
    await using service = ReferenceService.start();
    await using program = await deploy();
    const cwd = await Deno.makeTempDir();
    await Deno.writeTextFile(
      `${cwd}/.env`,
      `APP_API_KEY=${TEST_KEY}\nAPP_BASE_URL=${service.url}\n`,
    );

    const { code, stdout } = await program.output({ cwd, input: "hello\n" });

    await Deno.remove(cwd, { recursive: true });
    assertEquals(code, 0);
    assertEquals(stdout, `${REPLY}\n`);
  });
}

binaryTest("the binary tells its version and its target", async () => {
  await using program = await Deployment.compile();

  const { stdout } = await program.output({ cwd: "/", args: ["--version"] });

  const [, version, target] =
    stdout.match(/^agent-gateway (\S+) \(deno [\d.]+, (\S+)\)\n$/) ?? [];
  assertEquals([version, target], [config.version, Deno.build.target]);
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
    assertEquals(
      await Deno.readTextFile(`${dist}/SHA256SUMS`),
      `${await digest(`${dist}/${name}`)}  ${name}\n` +
        `${await digest(`${dist}/agent-gateway.js`)}  agent-gateway.js\n`,
    );
  },
);

binaryTest(
  "a --base-url in the binary counts unless the command line has another",
  async () => {
    await using builtIn = ReferenceService.start();
    await using chosen = ReferenceService.start();
    await using program = await Deployment.compile({
      args: [`--base-url=${builtIn.url}`],
    });
    const env = { APP_API_KEY: TEST_KEY };
    const cwd = "/";

    await program.output({ cwd, env, input: "hello\n" });
    assertEquals(builtIn.requests.length, 3);

    const args = [`--base-url=${chosen.url}`];
    await program.output({ cwd, env, args, input: "hello\n" });
    assertEquals(builtIn.requests.length, 3);
    assertEquals(chosen.requests.length, 3);
  },
);

binaryTest("two binaries of the same bundle are the same bytes", async () => {
  await using first = await Deployment.compile();
  await using second = await Deployment.compile();

  assertEquals(await digest(first.path), await digest(second.path));
});

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
  readHostname: () => Deno.hostname(),
};
const outcomes = Object.entries(attempts).map(([name, attempt]) => {
  try {
    attempt();
    return [name, "done"];
  } catch (error) {
    return [name, error.name];
  }
});
console.log(JSON.stringify(Object.fromEntries(outcomes)));
Deno.exit();
${BUNDLE}`;

const REFUSED = {
  readFile: "NotCapable",
  readFolder: "NotCapable",
  readVariable: "NotCapable",
  readEnvironment: "NotCapable",
  writeFile: "NotCapable",
  writeDotenv: "NotCapable",
  changeFolder: "NotCapable",
  runProgram: "NotCapable",
  callLibrary: "NotCapable",
  readHostname: "NotCapable",
};

binaryTest(
  "a hostile module in the binary gets nothing but the network, the named variables and .env",
  async () => {
    await using program = await Deployment.compile({ code: HOSTILE });

    const { stdout } = await program.output({ cwd: "/" });

    assertEquals(JSON.parse(stdout), REFUSED);
  },
);

(Deno.build.os === "linux" ? binaryTest : Deno.test.ignore)(
  "a hostile module in the binary cannot have the user asked on a terminal",
  async () => {
    await using program = await Deployment.compile({ code: HOSTILE });

    // script(1) of util-linux gives its child a terminal.
    const { stdout } = await new Deno.Command("script", {
      args: ["--quiet", "--return", "--command", program.path, "/dev/null"],
      env: { NO_COLOR: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(10_000), // Nobody answers a question.
    }).output();

    assertEquals(JSON.parse(new TextDecoder().decode(stdout)), REFUSED);
  },
);
