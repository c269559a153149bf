import { assert, assertEquals, assertMatch } from "@std/assert";
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
  ], { cwd: ROOT });
  await Deno.remove(file);
  return output;
}

const ADDS = 'Deno.test("adds", () => {});\n';

Deno.test("deno task test names the slowest files, and fails if no test matches its filter", async () => {
  for (const verbose of [[], ["--verbose"]]) {
    const options = ["--filter", "add", "--slowest", ...verbose];
    const matching = await runTests(ADDS, ...options);
    assertEquals([matching.code, matching.stderr], [0, ""]);
    assertMatch(matching.stdout, /1 passed[^]*\n\d+\.\d s \S+_test\.ts\n$/);

    for (const filter of [["--filter", "subtracts"], ["--filter=subtracts"]]) {
      const { code, stderr } = await runTests(
        ADDS,
        ...filter,
        ...verbose,
      );
      assertEquals([code, stderr], [1, "No test matches subtracts\n"]);
    }
  }
});

Deno.test("deno task test shows the beginning of a failure of megabytes, and what was ignored", async () => {
  const { code, stdout } = await runTests(`
    import { isInstalled } from "${ROOT}/tests/support/fronts.ts";
    Deno.test("fails", () => {
      throw new Error("first " + "long ".repeat(500_000) + "line\\n".repeat(500_000));
    });
    Deno.test({
      name: "needs a tool",
      ignore: !isInstalled("no-such-tool"),
      fn: () => {},
    });
  `);
  assertEquals(code, 1);
  assert(stdout.length < 10_000);
  assertMatch(stdout, /first long long/);
  assertMatch(stdout, /without no-such-tool: needs a tool\n/);
});
