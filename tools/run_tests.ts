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

/** Tests that change the environment or the folder of their process. */
const IN_TURN = [
  "tests/lib/environment_variable_test.ts",
  "tests/lib/gateway/connection_failure_test.ts",
  "tests/lib/proxies_test.ts",
  "tests/lib/settings",
  "tests/lib/settings_test.ts",
];

const test = ["test", "-q", ...sameFlags, "-P=test", "--no-prompt"];
const all = Deno.args.length === 0;
const steps = all
  ? [
    ...CHECKS,
    [...test, ...IN_TURN],
    // Files that run in parallel share one process.
    [...test, "--parallel", `--ignore=${IN_TURN}`, "tests"],
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
