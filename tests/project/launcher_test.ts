import { assertEquals, assertStringIncludes } from "@std/assert";
import { unreachable } from "../support/faulty_service.ts";

const ROOT = `${import.meta.dirname}/../..`;
const STAND_IN_LINE =
  "Cannot reach jsr.io: using the same standard library from npm instead\n";

/**
 * Starts a launcher that has to choose the source of the standard library itself;
 * `env` is added to the environment of this process.
 */
function launch(
  args: readonly string[],
  env: Record<string, string>,
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-P=launcher", `${ROOT}/tools/deno.ts`, ...args],
    env: { STANDARD_LIBRARY: "", ...env },
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** A JSR that only answers that it is reachable. */
function startJsr(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) =>
      new URL(url).pathname === "/@std/assert/meta.json"
        ? Response.json({})
        : new Response(null, { status: 404 }),
  );
}

/** A URL from which Deno runs the source. */
function program(source: string): string {
  return `data:application/typescript,${encodeURIComponent(source)}`;
}

Deno.test("the launcher passes arguments, standard streams and the exit code through", async () => {
  const url = program(`
    console.error(JSON.stringify(Deno.args));
    await Deno.stdin.readable.pipeTo(Deno.stdout.writable);
    Deno.exit(7);
  `);
  const child = launch(
    ["run", "-q", url, "--bridge", "--", "", "two words"],
    { JSR_URL: unreachable() },
  );
  const input = new Uint8Array(1024 * 1024).fill(0x0a).fill(0xff, 1000);
  ReadableStream.from([input]).pipeTo(child.stdin);

  const { code, stdout, stderr } = await child.output();

  assertEquals(code, 7);
  assertEquals(stdout, input);
  assertEquals(
    new TextDecoder().decode(stderr),
    `${STAND_IN_LINE}["--bridge","--","","two words"]\n`,
  );
});

Deno.test("the launcher works from any folder, and the stand-ins with it", async () => {
  const url = program(`
    import "${import.meta.resolve("../../tools/standard_library.ts")}";
    console.log("ran");
  `);
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", "-P=launcher", `${ROOT}/tools/deno.ts`],
      ...["run", "-q", url],
    ],
    env: { STANDARD_LIBRARY: "", JSR_URL: unreachable() },
    cwd: `${ROOT}/..`,
  }).output();

  assertEquals(code, 0);
  assertEquals(new TextDecoder().decode(stdout), "ran\n");
});

Deno.test("the launcher uses JSR without a word if it answers", async () => {
  await using jsr = startJsr();
  const url = program(`console.log("ran");`);

  const { code, stdout, stderr } = await launch(["run", "-q", url], {
    JSR_URL: `http://127.0.0.1:${jsr.addr.port}/`,
  }).output();

  assertEquals(code, 0);
  assertEquals(new TextDecoder().decode(stdout), "ran\n");
  assertEquals(new TextDecoder().decode(stderr), "");
});

/** Prints the source of the standard library that the program was given. */
const TELLS = program(`console.log(Deno.env.get("STANDARD_LIBRARY"));`);

for (const [library, answers] of [["jsr", true], ["npm", false]] as const) {
  Deno.test(`the launcher tells what it starts that the standard library is from ${library}`, async () => {
    await using jsr = startJsr();
    const url = answers ? `http://127.0.0.1:${jsr.addr.port}/` : unreachable();

    const { stdout } = await launch(["run", "-q", "--allow-env", TELLS], {
      JSR_URL: url,
    }).output();

    assertEquals(new TextDecoder().decode(stdout), `${library}\n`);
  });
}

Deno.test("a launcher that got the choice does not look again, and prints nothing", async () => {
  await using jsr = startJsr();

  const { stdout, stderr } = await launch(
    ["run", "-q", "--allow-env", TELLS],
    {
      JSR_URL: `http://127.0.0.1:${jsr.addr.port}/`,
      STANDARD_LIBRARY: "npm",
    },
  ).output();

  assertEquals(new TextDecoder().decode(stdout), "npm\n");
  assertEquals(new TextDecoder().decode(stderr), "");
});

for (
  const [body, exitCode, outcome] of [
    ["", 0, "ok | 1 passed"],
    ["throw new Error()", 1, "FAILED | 0 passed | 1 failed"],
  ] as const
) {
  Deno.test(`deno task test FILE runs that file alone: ${outcome}`, async () => {
    const folder = await Deno.makeTempDir();
    const file = `${folder}/one_test.ts`;
    // Neither formatted nor free of lint.
    await Deno.writeTextFile(file, `Deno.test( 'one', () => {${body}} );`);

    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "-q", "test", "--no-check", file],
      cwd: ROOT,
      env: { NO_COLOR: "1" },
      stderr: "null",
    }).output();
    await Deno.remove(folder, { recursive: true });

    assertEquals(code, exitCode);
    assertStringIncludes(new TextDecoder().decode(stdout), outcome);
  });
}

Deno.test("the launcher fails with a sentence if neither JSR nor npm can be reached", async () => {
  const emptyCache = await Deno.makeTempDir();

  const { code, stdout, stderr } = await launch(["run", "program.ts"], {
    DENO_DIR: emptyCache,
    JSR_URL: unreachable(),
    NPM_CONFIG_REGISTRY: unreachable(),
  }).output();
  await Deno.remove(emptyCache, { recursive: true });

  assertEquals(code, 1);
  assertEquals(stdout.length, 0);
  assertEquals(
    new TextDecoder().decode(stderr),
    "Cannot get the standard library: neither JSR nor npm can be reached; " +
      "connect to either of them once, after that no network is needed\n",
  );
});

Deno.test("the launcher without a subcommand is a usage error", async () => {
  const { code, stderr } = await launch([], {}).output();

  assertEquals(code, 2);
  assertStringIncludes(new TextDecoder().decode(stderr), "SUBCOMMAND");
});

for (
  const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const
) {
  const ignore = Deno.build.os === "windows";

  Deno.test({
    name: `the launcher passes ${signal} on and waits for the child`,
    ignore,
    async fn() {
      const url = program(`
        Deno.addSignalListener("${signal}", () => {
          console.log("caught");
          setTimeout(() => Deno.exit(9), 100);
        });
        setInterval(() => {}, 1000);
        console.log("ready");
      `);
      const child = launch(["run", "-q", url], { JSR_URL: unreachable() });
      const output = child.stdout.pipeThrough(new TextDecoderStream())
        .getReader();

      assertEquals((await output.read()).value, "ready\n");
      child.kill(signal);
      assertEquals((await output.read()).value, "caught\n");
      assertEquals((await output.read()).done, true);
      assertEquals((await child.status).code, 9);
      await child.stdin.close();
      await child.stderr.cancel();
    },
  });

  Deno.test({
    name: `the launcher exits with ${code} if ${signal} ends the child`,
    ignore,
    async fn() {
      const url = program(`
        setInterval(() => {}, 1000);
        console.log("ready");
      `);
      const child = launch(["run", "-q", url], { JSR_URL: unreachable() });
      const output = child.stdout.getReader();

      await output.read();
      child.kill(signal);
      assertEquals((await output.read()).done, true);
      assertEquals((await child.status).code, code);
      await child.stdin.close();
      await child.stderr.cancel();
    },
  });
}
