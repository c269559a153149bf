/**
 * Runs the tests, with the permissions that they need.
 *
 *     deno task test             checks format, lint and types, runs all tests
 *     deno task test FILE...     runs the tests of these files or folders alone
 *
 * Options such as `--filter` go to `deno test`. Without files, nothing is tested
 * unless the checks pass. Only what fails is shown, and a summary; `--verbose`
 * shows every test, and `--slowest` the 20 files that took longest. The exit code is
 * that of the first step that failed, 1 if no test matches `--filter`, else 0.
 *
 * @module
 */
import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { globSync } from "node:fs";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { chosenLibrary, runDeno, sameFlags } from "./deno.ts";

/** Tests that change the environment or the folder of their process. */
const IN_TURN = [
  "tests/lib/gateway/connection/connection_failure_test.ts",
  "tests/lib/settings/**/*_test.ts",
  "tests/lib/settings_test.ts",
].flatMap((pattern) => globSync(pattern));

/** The longest file begins first, and those that only compute last. */
const ALL = [
  "tests/program/real_services_test.ts",
  ...["terminal", "program", "project", "simulation", "lib"]
    .map((folder) => `tests/${folder}/**/*_test.ts`),
].flatMap((pattern) => globSync(pattern).sort());

/** The dot reporter's lines: a dot for each test. */
const DOT = /^[.,!]?$/;

/** Deno's summary if no test matches the filter, which is no failure to Deno. */
const NO_MATCH = /^ok \| 0 passed \| 0 failed (?:\| \d+ filtered out )?\(/;
let hasMatch = true;

/** Sets the time limit of each test, and is named as the place of each of them. */
const PRELOAD = "tests/support/time_limit.ts";
const LIMITED = new RegExp(` \\S*=> \\S*${PRELOAD}\\S*`);

/** Shows what is not a dot (with `--verbose`, everything), and sets `hasMatch`. */
async function showFailures(
  stdout: ReadableStream<Uint8Array>,
): Promise<void> {
  const lines = stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  for await (const line of lines) {
    const text = stripVTControlCharacters(line);
    if (isVerbose || !DOT.test(text)) console.log(line.replace(LIMITED, ""));
    if (filter === undefined || !NO_MATCH.test(text)) continue;
    hasMatch = false;
    console.error(`No test matches ${filter}`);
  }
}

const isVerbose = Deno.args.includes("--verbose");
const times = Deno.args.includes("--slowest") ? Deno.makeTempFileSync() : "";
const args = Deno.args.filter((arg) => !/^--(verbose|slowest)$/.test(arg));
const all = args.length === 0;
const { values: { filter } } = parseArgs({
  args,
  options: { filter: { type: "string" } },
  strict: false,
});
const options = {
  ...(!isVerbose || filter !== undefined) && { read: showFailures },
  // Most tests wait for another process: three times as many as there are cores.
  env: {
    TEST_TIMES: times,
    DENO_JOBS: Deno.env.get("DENO_JOBS") ??
      `${3 * navigator.hardwareConcurrency}`,
  },
};

function test(...args: readonly string[]): Promise<number> {
  const reporter = isVerbose ? [] : ["--reporter=dot"];
  const flags = ["-q", ...sameFlags, "-P=test", "--no-prompt", ...reporter];
  flags.push(`--preload=${PRELOAD}`);
  return runDeno(["test", ...flags, ...args], options);
}

async function testAll(): Promise<number> {
  // With -q, lint and check print only errors; fmt would not name the files.
  for (
    const check of [
      ["fmt", "--check"],
      ["lint", "-q"],
      ["check", "-q", ...sameFlags],
    ]
  ) {
    const code = await runDeno(check);
    if (code !== 0 && check[0] === "fmt") console.error("Run: deno task fmt");
    if (code !== 0) return code;
  }
  // Files that run in parallel share one process.
  const parallel = new Set(ALL).difference(new Set(IN_TURN));
  const codes = [await test(...IN_TURN), await test("--parallel", ...parallel)];
  const code = codes.find((code) => code !== 0) ?? 0;
  if (code === 0) {
    const source = chosenLibrary() === "npm" ? "npm" : "JSR";
    console.log(`Tested with the standard library from ${source}`);
  }
  return code;
}

const code = await (all ? testAll() : test(...args));
if (times !== "") {
  const lines = (await Deno.readTextFile(times)).trimEnd().split("\n");
  lines.sort((a, b) => parseFloat(b) - parseFloat(a));
  console.log(lines.slice(0, 20).join("\n"));
  await Deno.remove(times);
}
Deno.exit(code === 0 && !hasMatch ? 1 : code);
