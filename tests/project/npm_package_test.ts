import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { clientPermissionFlags } from "../../tools/bundle.ts";
import { PINNED_DENO } from "../../tools/pins.ts";
import { ReferenceService, TEST_KEY } from "../support/service/service.ts";
import { SourceCopy } from "../support/source_copy.ts";

// The package as users get it: packed, installed by npm without install scripts,
// and started by Node.js.

const NPM = Deno.build.os === "windows" ? "npm.cmd" : "npm";
const REPLY =
  "Hello! I am the-brain. Ask me something, or what you said before.";

/** The package, installed into a folder of its own. */
class InstalledPackage implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<InstalledPackage> {
    await using sources = await SourceCopy.make();
    const packed = await sources.deno(["task", "-q", "npm"]);
    assertEquals(packed.code, 0, packed.stderr);
    const tarball = packed.stdout.trim().split("\n").at(-1) ?? "";
    const folder = await Deno.makeTempDir();
    const { success, stderr } = await new Deno.Command(NPM, {
      args: [
        ...["install", "--silent", "--no-save", "--ignore-scripts"],
        ...["--prefix", folder, `${sources.folder}/${tarball}`],
      ],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    return new InstalledPackage(folder);
  }

  /** Starts it with Node.js, like a client that does not use a shell. */
  start(
    args: readonly string[],
    options: { env?: Record<string, string>; cwd?: string } = {},
  ): Deno.ChildProcess {
    const entry = `${this.folder}/node_modules/agent-gateway/agent-gateway.cjs`;
    return new Deno.Command("node", {
      args: [entry, ...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...options,
    }).spawn();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function finish(child: Deno.ChildProcess, input = ""): Promise<Output> {
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

function environment(service: ReferenceService): Record<string, string> {
  return { APP_API_KEY: TEST_KEY, APP_BASE_URL: service.url };
}

Deno.test("the npm package", async (t) => {
  await using installed = await InstalledPackage.make();

  await t.step("starts without install scripts", async () => {
    const { code, stdout, stderr } = await finish(
      installed.start(["--version"]),
    );

    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^agent-gateway \S+ \(deno \S+, \S+\)\n$/);
    assertStringIncludes(stdout, `(deno ${PINNED_DENO}, `);
  });

  await t.step("has exactly the permissions of the client", async () => {
    const flags: string[] = JSON.parse(
      await Deno.readTextFile(
        `${installed.folder}/node_modules/agent-gateway/flags.json`,
      ),
    );

    assertEquals(
      flags.filter((flag) => /^--(?:allow|no-prompt)/.test(flag)),
      [...clientPermissionFlags],
    );
  });

  await t.step(
    "has an optional dependency for each system, and no script",
    async () => {
      const { dependencies, optionalDependencies, scripts } = JSON.parse(
        await Deno.readTextFile(
          `${installed.folder}/node_modules/agent-gateway/package.json`,
        ),
      );
      assertEquals([dependencies, scripts], [undefined, undefined]);
      assertEquals(
        new Set(Object.values(optionalDependencies)),
        new Set([PINNED_DENO]),
      );
      assertEquals(Object.keys(optionalDependencies).length, 6);
    },
  );

  await t.step("names the package that is missing", async () => {
    const cwd = await Deno.makeTempDir();
    const package_ = `${installed.folder}/node_modules/agent-gateway`;
    for (const name of ["agent-gateway.cjs", "flags.json"]) {
      await Deno.copyFile(`${package_}/${name}`, `${cwd}/${name}`);
    }
    const { code, stderr } = await new Deno.Command("node", {
      args: [`${cwd}/agent-gateway.cjs`, "--version"],
    }).output();
    await Deno.remove(cwd, { recursive: true });

    assertEquals(code, 1);
    assertMatch(
      new TextDecoder().decode(stderr),
      /^agent-gateway: the optional package @deno\/\w+-\w+\S* is not installed: /,
    );
  });

  const preload = `${installed.folder}/preload.cjs`;
  await Deno.writeTextFile(
    preload,
    'if (globalThis.Deno) console.error("loaded");',
  );
  // Each makes Deno itself load code, print, stop, listen or write files.
  for (
    const [name, value] of [
      ["NODE_OPTIONS", `--require ${preload}`],
      ["DENO_V8_FLAGS", "--no-such-flag"],
      ["DENO_COVERAGE_DIR", "coverage"],
      ["DENO_AUDIT_PERMISSIONS", "audit"],
      ["DENO_PERMISSION_BROKER_PATH", "nothing"],
      ["DENO_LOG", "debug"],
    ] as const
  ) {
    await t.step(`keeps ${name} from the program`, async () => {
      const cwd = await Deno.makeTempDir();
      const env = { [name]: value };
      const { code, stderr } = await finish(
        installed.start(["--version"], { cwd, env }),
      );
      assertEquals([code, stderr], [0, ""]);
      await Deno.remove(cwd); // It is empty.
    });
  }

  await t.step("runs prompts of standard input", async () => {
    await using service = ReferenceService.start();
    const child = installed.start(["-q"], { env: environment(service) });

    assertEquals(await finish(child, "hello\n"), {
      code: 0,
      stdout: `${REPLY}\n`,
      stderr: "",
    });
  });

  await t.step("serves an editor", async () => {
    await using service = ReferenceService.start();
    const child = installed.start(["--bridge"], { env: environment(service) });

    const { code, stdout, stderr } = await finish(
      child,
      '{"id":1,"method":"initialize"}\n{"id":2,"method":"session/new"}\n',
    );

    assertEquals([code, stderr], [0, ""]);
    const [initialized, created] = stdout.trim().split("\n")
      .map((line) => JSON.parse(line));
    assertEquals(initialized.result.serverInfo.version, config.version);
    assertEquals(typeof created.result.sessionId, "string");
  });

  await t.step("is not disturbed by the project it is started in", async () => {
    const cwd = await Deno.makeTempDir();
    await Deno.writeTextFile(`${cwd}/deno.json`, "not JSON");
    await Deno.writeTextFile(`${cwd}/package.json`, "not JSON");
    await Deno.writeTextFile(`${cwd}/deno.lock`, "not JSON");

    const { code } = await finish(installed.start(["--version"], { cwd }));

    await Deno.remove(cwd, { recursive: true });
    assertEquals(code, 0);
  });

  for (
    const [signal, expected] of [["SIGTERM", 143], ["SIGINT", 130]] as const
  ) {
    await t.step({
      name: `hands ${signal} on, and leaves with ${expected}`,
      ignore: Deno.build.os === "windows",
      async fn() {
        await using service = ReferenceService.start();
        const env = environment(service);
        const child = installed.start(["--bridge"], { env });
        const writer = child.stdin.getWriter();
        const request = '{"id":1,"method":"initialize"}\n';
        await writer.write(new TextEncoder().encode(request));
        const reader = child.stdout.getReader();
        await reader.read(); // The program listens for signals now.

        child.kill(signal);

        assertEquals((await child.status).code, expected);
        await reader.cancel();
        await child.stderr.cancel();
        await writer.abort().catch(() => {});
      },
    });
  }
});
