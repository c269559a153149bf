import { assertEquals } from "@std/assert";
import { unreachable } from "../support/faulty_service/service.ts";
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

Deno.test("the launcher passes arguments, standard streams and the exit code through, from any folder", async () => {
  const url = program(`
    import "${import.meta.resolve("../../tools/standard_library.ts")}";
    console.error(JSON.stringify(Deno.args));
    await Deno.stdin.readable.pipeTo(Deno.stdout.writable);
    Deno.exit(7);
  `);
  const input = "\n".repeat(1000) + "é".repeat(1024 * 1024);
  const env = { JSR_URL: unreachable() };
  const args = ["--bridge", "--", "", "two words"];
  const cwd = `${ROOT}/..`;

  const output = await launch(["run", "-q", url, ...args], { env, input, cwd });

  assertEquals(output.code, 7);
  assertEquals(output.stdout === input, true);
  assertEquals(output.stderr, `${STAND_IN_LINE}${JSON.stringify(args)}\n`);
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

const waits = 'setInterval(() => {}, 1000); console.log("ready");';
const listens = (signal: string) =>
  `Deno.addSignalListener("${signal}", () => Deno.exit(9)); ${waits}`;
for (
  const [signal, source, expected] of [
    ["SIGINT", listens("SIGINT"), 9],
    ["SIGHUP", listens("SIGHUP"), 9],
    ["SIGTERM", waits, 143],
  ] as const
) {
  Deno.test({
    name:
      `the launcher passes ${signal} on, and exits with the child's code ${expected}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      const [deno = "", ...args] = LAUNCHER;
      const child = new Deno.Command(deno, {
        args: [...args, "run", "-q", program(source)],
        env: { STANDARD_LIBRARY: "npm" },
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      await output.read(); // It is ready.
      child.kill(signal);
      assertEquals((await output.read()).done, true);
      assertEquals((await child.status).code, expected);
    },
  });
}
