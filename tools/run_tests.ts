/**
 * Runs the tests, with the permissions that they need.
 *
 *     deno task test             checks format, lint and types, runs all tests
 *     deno task test FILE...     runs the tests of these files or folders alone
 *
 * Options such as `--filter` go to `deno test`. The exit code is that of the
 * first step that failed, else 0.
 *
 * @module
 */
import { runDeno } from "./run_deno.ts";
import { chosenLibrary, sameFlags } from "./stand_ins.ts";

const SOURCES = { jsr: "JSR", npm: "npm" };

/** The subcommands that come before all tests. */
const CHECKS = [["fmt", "--check"], ["lint"], ["check", ...sameFlags]];

const test = [
  ...["test", "-q", ...sameFlags, "-P=test", "--no-prompt"],
  ...Deno.args,
];
const all = Deno.args.length === 0;
for (const args of all ? [...CHECKS, test] : [test]) {
  const code = await runDeno(args);
  if (code !== 0) Deno.exit(code);
}
if (all) {
  const source = SOURCES[chosenLibrary() ?? "jsr"];
  console.log(`Tested with the standard library from ${source}`);
}
