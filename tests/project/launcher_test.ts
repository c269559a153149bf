import { assertEquals, assertStringIncludes } from "@std/assert";
import { unreachable } from "../support/faulty_service.ts";
import {
  type ProgramOptions,
  programOutput,
} from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const STAND_IN_LINE =
  "Cannot reach jsr.io: using the same standard library from npm instead\n";
const LAUNCHER = [
  ...[Deno.execPath(), "run", "-q", "-P=launcher"],
  `${ROOT}/tools/deno.ts`,
];

/**
 * Runs a launcher that has to choose the source of the standard library itself;
 * `env` is added to the environment of this process.
 */
function launch(
  args: readonly string[],
  { env, ...options }: ProgramOptions = {},
) {
  return programOutput([...LAUNCHER, ...args], {
    env: { STANDARD_LIBRARY: "", ...env },
    cwd: ROOT,
    ...options,
  });
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
  const input = "\n".repeat(1000) + "é".repeat(1024 * 1024);
  const env = { JSR_URL: unreachable() };
  const args = ["--bridge", "--", "", "two words"];

  const output = await launch(["run", "-q", url, ...args], { env, input });

  assertEquals(output.code, 7);
  assertEquals(output.stdout === input, true);
  assertEquals(output.stderr, `${STAND_IN_LINE}${JSON.stringify(args)}\n`);
});

Deno.test("the launcher works from any folder, and the stand-ins with it", async () => {
  const url = program(`
    import "${import.meta.resolve("../../tools/standard_library.ts")}";
    console.log("ran");
  `);
  const { code, stdout } = await launch(["run", "-q", url], {
    env: { JSR_URL: unreachable() },
    cwd: `${ROOT}/..`,
  });

  assertEquals([code, stdout], [0, "ran\n"]);
});

Deno.test("the launcher uses JSR without a word if it answers, and npm if not, and tells what it starts", async () => {
  // A JSR that only answers that it is reachable.
  await using jsr = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) =>
      new Response("{}", {
        status: new URL(url).pathname === "/@std/assert/meta.json" ? 200 : 404,
      }),
  );
  const answering = `http://127.0.0.1:${jsr.addr.port}/`;
  const tells = program(`console.log(Deno.env.get("STANDARD_LIBRARY"));`);
  const choice = async (env: Readonly<Record<string, string>>) => {
    const args = ["run", "-q", "--allow-env", tells];
    const { stdout, stderr } = await launch(args, { env });
    return [stdout, stderr];
  };

  assertEquals(await choice({ JSR_URL: answering }), ["jsr\n", ""]);
  assertEquals(await choice({ JSR_URL: unreachable() }), [
    ...["npm\n", STAND_IN_LINE],
  ]);
  // The launcher that got the choice does not look again.
  const chosen = { JSR_URL: answering, STANDARD_LIBRARY: "npm" };
  assertEquals(await choice(chosen), ["npm\n", ""]);
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

    const { code, stdout } = await programOutput([
      ...[Deno.execPath(), "task", "-q", "test", "--no-check", file],
    ], { cwd: ROOT, env: { NO_COLOR: "1" } });
    await Deno.remove(folder, { recursive: true });

    assertEquals(code, exitCode);
    assertStringIncludes(stdout, outcome);
  });
}

Deno.test("the launcher fails with a sentence if neither JSR nor npm can be reached", async () => {
  const emptyCache = await Deno.makeTempDir();

  const { code, stdout, stderr } = await launch(["run", "program.ts"], {
    env: {
      DENO_DIR: emptyCache,
      JSR_URL: unreachable(),
      NPM_CONFIG_REGISTRY: unreachable(),
    },
  });
  await Deno.remove(emptyCache, { recursive: true });

  assertEquals([code, stdout], [1, ""]);
  assertEquals(
    stderr,
    "Cannot get the standard library: neither JSR nor npm can be reached; " +
      "connect to either of them once, after that no network is needed\n",
  );
});

Deno.test("the launcher without a subcommand is a usage error", async () => {
  const { code, stderr } = await launch([]);

  assertEquals(code, 2);
  assertStringIncludes(stderr, "SUBCOMMAND");
});

for (
  const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const
) {
  const catches =
    `Deno.addSignalListener("${signal}", () => { console.log("caught"); Deno.exit(9); });`;
  for (
    const [title, source, heard, expected] of [
      ["passes it on and waits for the child", catches, "caught\n", 9],
      [`exits with ${code} if it ends the child`, "", "", code],
    ] as const
  ) {
    Deno.test({
      name: `the launcher that gets ${signal} ${title}`,
      ignore: Deno.build.os === "windows",
      async fn() {
        const url = program(
          `${source} setInterval(() => {}, 1000); console.log("ready");`,
        );
        const [deno = "", ...args] = LAUNCHER;
        const child = new Deno.Command(deno, {
          args: [...args, "run", "-q", url],
          env: { STANDARD_LIBRARY: "npm" },
          stdout: "piped",
        }).spawn();
        const output = child.stdout.pipeThrough(new TextDecoderStream())
          .getReader();

        assertEquals((await output.read()).value, "ready\n");
        child.kill(signal);
        if (heard !== "") assertEquals((await output.read()).value, heard);
        assertEquals((await output.read()).done, true);
        assertEquals((await child.status).code, expected);
      },
    });
  }
}
