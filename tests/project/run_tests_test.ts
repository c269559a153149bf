import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** Runs `deno task test` on a file with this source. */
async function runTests(source: string, ...args: readonly string[]) {
  const file = await Deno.makeTempFile({ suffix: "_test.ts" });
  await Deno.writeTextFile(file, source);
  const output = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=test", "--no-prompt"],
    ...[`${ROOT}/tools/run_tests.ts`, file, "--no-check", ...args],
  ], { cwd: ROOT, env: { NO_COLOR: "1" } });
  await Deno.remove(file);
  return { ...output, file };
}

Deno.test("deno task test names the slowest files, and fails if no test matches its filter", async () => {
  const adds = 'Deno.test("adds", () => {});\n';
  const matching = await runTests(adds, "--filter", "add", "--slowest");
  assertEquals([matching.code, matching.stderr], [0, ""]);
  assertMatch(matching.stdout, /1 passed[^]*\n\d+\.\d s \S+_test\.ts\n$/);

  const none = await runTests(adds, "--filter", "subtracts", "--verbose");
  assertEquals([none.code, none.stderr], [1, "No test matches subtracts\n"]);
});

Deno.test("deno task test shows why and where a test fails, shortly, and what was ignored", async () => {
  const { code, stdout, file } = await runTests(`
    import { isInstalled } from "${ROOT}/tests/support/fronts.ts";
    import { until } from "${ROOT}/tests/support/waits.ts";
    Deno.test("fails", () => {
      throw new Error("first " + "long ".repeat(500_000) + "line\\n".repeat(500_000));
    });
    Deno.test("fails twice", async () => {
      await using _ = {
        [Symbol.asyncDispose]: () => Promise.reject(new Error("the second")),
      };
      throw new Error("the reason");
    });
    let isThere = false;
    Deno.test("waits", async () => await until(() => isThere, 10));
    Deno.test({
      name: "needs a tool",
      ignore: !isInstalled("no-such-tool"),
      fn: () => {},
    });
  `);
  assertEquals(code, 1);
  assert(stdout.length < 10_000);
  assertMatch(stdout, /first long long/);
  assertMatch(stdout, RegExp(`fails twice.* => \\S*${file.slice(-16)}:7:10`));
  assertMatch(stdout, /Error: the reason\n/);
  assertMatch(stdout, /Not within 0\.01 s: \(\)\s*=>\s*isThere\n/);
  assertMatch(stdout, /without no-such-tool: needs a tool\n/);
});

Deno.test({
  name: "no process outlives its test, and tests have a cache of their own",
  ignore: Deno.build.os === "windows",
  async fn() {
    const { stdout } = await runTests(`
      let id = "";
      Deno.test("fails on purpose", async () => {
        const { stdout } = new Deno.Command("sh", {
          args: ["-c", "sleep 1000 & echo $!; wait"],
          stdout: "piped",
        }).spawn();
        for await (id of stdout.pipeThrough(new TextDecoderStream())) break;
        throw new Error("on purpose");
      });
      Deno.test("after it", async () => {
        const args = ["-o", "stat=", "-p", id.trim()];
        let state = "R";
        for (let i = 0; i < 99 && /^[^Z]/.test(state); i++) {
          const { stdout } = await new Deno.Command("ps", { args }).output();
          state = new TextDecoder().decode(stdout).trim();
        }
        throw new Error(["state:", state, Deno.env.get("DENO_DIR")].join());
      });
    `);
    const [, state, cache] = /state:,(.*),(.*)/.exec(stdout) ?? [];
    assert(state === "" || state?.startsWith("Z"), stdout);
    assertMatch(cache ?? "", /tests-\w+\/deno$/);
    await assertRejects(() => Deno.stat(cache ?? ""), Deno.errors.NotFound);
  },
});
