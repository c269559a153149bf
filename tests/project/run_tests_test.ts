import { assertEquals, assertStringIncludes } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;

/** Runs `deno task test` on a file that has one test, named "adds". */
async function runTests(...args: readonly string[]) {
  const file = await Deno.makeTempFile({ suffix: "_test.ts" });
  await Deno.writeTextFile(file, 'Deno.test("adds", () => {});\n');
  const output = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=test", "--no-prompt"],
    ...[`${ROOT}/tools/run_tests.ts`, file, ...args],
  ], { cwd: ROOT });
  await Deno.remove(file);
  return output;
}

Deno.test("deno task test fails if no test matches its filter, and says so", async () => {
  for (const verbose of [[], ["--verbose"]]) {
    const matching = await runTests("--filter", "add", ...verbose);
    assertEquals([matching.code, matching.stderr], [0, ""]);
    assertStringIncludes(matching.stdout, "1 passed");

    for (const filter of [["--filter", "subtracts"], ["--filter=subtracts"]]) {
      const { code, stderr } = await runTests(...filter, ...verbose);
      assertEquals([code, stderr], [1, "No test matches subtracts\n"]);
    }
  }
});
