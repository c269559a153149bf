/**
 * Runs the tests, with the permissions that they need.
 *
 *     deno task test             checks format, lint and types, runs all tests
 *     deno task test FILE...     runs the tests of these files or folders alone
 *
 * Options such as `--filter` go to `deno test`. Without files, nothing is tested
 * unless the checks pass. Only what fails is shown, and a summary; `--verbose`
 * shows every test. The exit code is that of the first step that
 * failed, else 0.
 *
 * @module
 */
import { chosenLibrary, runDeno, sameFlags } from "./deno.ts";

const SOURCES = { jsr: "JSR", npm: "npm" };

/** The subcommands that come before all tests. With `-q`, they print only errors. */
const CHECKS = [
  ["fmt", "--check", "-q"],
  ["lint", "-q"],
  ["check", "-q", ...sameFlags],
];

/** Tests that change the environment or the folder of their process. */
const IN_TURN = [
  "tests/lib/gateway/failure/connection_failure_test.ts",
  "tests/lib/settings/",
  "tests/lib/settings_test.ts",
];

/** All other tests: the longest file begins first, and those that only compute last. */
const IN_PARALLEL = [
  "tests/program/real_services_test.ts",
  ...["tests/terminal/", "tests/program/", "tests/project/", "tests/lib/"],
];

const args = Deno.args.filter((argument) => argument !== "--verbose");
const isVerbose = args.length < Deno.args.length;
const reporter = isVerbose ? [] : ["--reporter=dot"];

/** The dot reporter's lines: a dot for each test, in colour on a terminal. */
// deno-lint-ignore no-control-regex -- SGR sequences
const DOT = /^(?:\x1b\[[0-9;]*m)*[.,!]?(?:\x1b\[[0-9;]*m)*$/;
const options = {
  ...!isVerbose && { shows: (line: string) => !DOT.test(line) },
  // Most tests wait for another process: three times as many as there are cores.
  env: {
    DENO_JOBS: Deno.env.get("DENO_JOBS") ??
      `${3 * navigator.hardwareConcurrency}`,
  },
};
const test = [
  "test",
  "-q",
  ...sameFlags,
  "-P=test",
  "--no-prompt",
  ...reporter,
];
const all = args.length === 0;
const steps = all
  ? [
    ...CHECKS,
    [...test, ...IN_TURN],
    // Files that run in parallel share one process.
    [...test, "--parallel", ...inOrder(testFiles("tests"))],
  ]
  : [[...test, ...args]];

function testFiles(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) return testFiles(path);
    return path.endsWith("_test.ts") ? path : [];
  });
}

function inOrder(files: readonly string[]): string[] {
  const others = files.filter((file) =>
    !IN_TURN.some((path) => file.startsWith(path))
  );
  const ordered = IN_PARALLEL.flatMap((path) =>
    others.filter((file) => file.startsWith(path)).sort()
  );
  return [...new Set([...ordered, ...others])];
}

let exitCode = 0;
for (const args of steps) {
  const code = await runDeno(args, args[0] === "test" ? options : {});
  exitCode ||= code;
  if (code === 0 || args[0] === "test") continue;
  // With `-q`, it does not say which files.
  if (args[0] === "fmt") await runDeno(["fmt", "--check"]);
  break;
}
if (all && exitCode === 0) {
  const source = SOURCES[chosenLibrary() ?? "jsr"];
  console.log(`Tested with the standard library from ${source}`);
}
Deno.exit(exitCode);
