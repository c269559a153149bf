import { assertEquals, assertMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** Runs `deno task test` on a file that has one test, named "adds". */
async function runTests(...args: readonly string[]) {
  const file = await Deno.makeTempFile({ suffix: "_test.ts" });
  await Deno.writeTextFile(file, 'Deno.test("adds", () => {});\n');
  const output = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=test", "--no-prompt"],
    ...[`${ROOT}/tools/run_tests.ts`, file, "--no-check", ...args],
  ], { cwd: ROOT });
  await Deno.remove(file);
  return output;
}

Deno.test("deno task test names the slowest files, and fails if no test matches its filter", async () => {
  for (const verbose of [[], ["--verbose"]]) {
    const options = ["--filter", "add", "--slowest", ...verbose];
    const matching = await runTests(...options);
    assertEquals([matching.code, matching.stderr], [0, ""]);
    assertMatch(matching.stdout, /1 passed[^]*\n\d+\.\d s \S+_test\.ts\n$/);

    for (const filter of [["--filter", "subtracts"], ["--filter=subtracts"]]) {
      const { code, stderr } = await runTests(...filter, ...verbose);
      assertEquals([code, stderr], [1, "No test matches subtracts\n"]);
    }
  }
});
