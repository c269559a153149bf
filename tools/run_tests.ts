/**
 * Runs the tests, with the permissions that they need.
 *
 *     deno task test             checks format, lint and types, runs all tests
 *     deno task test FILE...     runs the tests of these files or folders alone
 *
 * Options such as `--filter` go to `deno test`. Without arguments, nothing is
 * tested unless the checks pass. The exit code is that of the first step that
 * failed, else 0.
 *
 * @module
 */
import { runDeno } from "./run_deno.ts";
import { chosenLibrary, sameFlags } from "./stand_ins.ts";

const SOURCES = { jsr: "JSR", npm: "npm" };

/** The subcommands that come before all tests. */
const CHECKS = [["fmt", "--check"], ["lint"], ["check", ...sameFlags]];

/** The tests that start processes of their own. */
const OTHERS = ["tests/program", "tests/project", "tests/terminal"];

const test = ["test", "-q", ...sameFlags, "-P=test", "--no-prompt"];
const all = Deno.args.length === 0;
const steps = all
  ? [
    ...CHECKS,
    // Not in parallel: some change the environment and the folder of the process.
    [...test, "tests/lib"],
    [...test, "--parallel", ...OTHERS],
  ]
  : [[...test, ...Deno.args]];
let exitCode = 0;
for (const args of steps) {
  const code = await runDeno(args);
  exitCode ||= code;
  if (code !== 0 && args[0] !== "test") break;
}
if (all && exitCode === 0) {
  const source = SOURCES[chosenLibrary() ?? "jsr"];
  console.log(`Tested with the standard library from ${source}`);
}
Deno.exit(exitCode);
