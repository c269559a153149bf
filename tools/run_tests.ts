/**
 * Runs the tests, with the permissions that they need.
 *
 *     deno task test             checks format, lint and types, runs all tests
 *     deno task test FILE...     runs the tests of these files or folders alone
 *
 * Options such as `--filter` go to `deno test`. Without files, nothing is tested
 * unless the checks pass. It shows how far it is, what fails, which tests were ignored,
 * and a summary; `--verbose` shows every test, and `--slowest` the 20 files that took
 * longest. The exit code is that of the first step that failed, 1 if no test matches
 * `--filter`, else 0.
 *
 * @module
 */
import { TextLineStream } from "jsr:@std/streams@^1.1.1/text-line-stream";
import { globSync } from "node:fs";
import { parseArgs, stripVTControlCharacters } from "node:util";
import type { FileReport } from "../tests/support/test_file.ts";
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

/** Limits and reports each file, and is named as the place of each of its tests. */
const PRELOAD = "tests/support/test_file.ts";
const LIMITED = new RegExp(` \\S*=> \\S*${PRELOAD}\\S*`);

/** The most that is shown of one failure: its first difference is near the top. */
const MAX_LINES = 100;
const MAX_LENGTH = 1_000;

/** The heading of a failure, such as "adds => ./tests/a_test.ts:1:6". */
const HEADING = / => \S+$/;

/** Shows what is not a dot (with `--verbose`, everything), and sets `hasMatch`. */
async function showFailures(
  stdout: ReadableStream<Uint8Array>,
): Promise<void> {
  const lines = stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  let shown = 0;
  for await (const line of lines) {
    const text = stripVTControlCharacters(line);
    if (isVerbose) console.log(line);
    else if (!DOT.test(text)) {
      if (HEADING.test(text) || /^(ok|FAILED) \|/.test(text)) shown = 0;
      if (shown < MAX_LINES) console.log(cut(line.replace(LIMITED, "")));
      else if (shown === MAX_LINES) {
        console.log("... (--verbose shows the rest)");
      }
      shown++;
    }
    if (filter === undefined || !NO_MATCH.test(text)) continue;
    hasMatch = false;
    console.error(`No test matches ${filter}`);
  }
}

function cut(line: string): string {
  return line.length <= MAX_LENGTH
    ? line
    : `${line.slice(0, MAX_LENGTH)}... (${line.length} characters)`;
}

const isVerbose = Deno.args.includes("--verbose");
const isTimed = Deno.args.includes("--slowest");
const args = Deno.args.filter((arg) => !/^--(verbose|slowest)$/.test(arg));
const all = args.length === 0;
const { values: { filter } } = parseArgs({
  args,
  options: { filter: { type: "string" } },
  strict: false,
});
const reports = Deno.makeTempFileSync();
const options = {
  ...(!isVerbose || filter !== undefined) && { read: showFailures },
  // Most tests wait for another process: three times as many as there are cores.
  env: {
    TEST_REPORTS: reports,
    DENO_JOBS: Deno.env.get("DENO_JOBS") ??
      `${3 * navigator.hardwareConcurrency}`,
  },
};

/** The reports of the files that are over. */
function readReports(): readonly FileReport[] {
  const lines = Deno.readTextFileSync(reports).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** How long nothing is said about the progress at most, in milliseconds. */
const QUIET = 20_000;

/** Tells which folders of files are done, and how many files are left. */
class Progress implements Disposable {
  readonly #left: ReadonlyMap<string, Set<string>>;
  readonly #started = performance.now();
  readonly #timer = setInterval(() => this.#look(), 1_000);
  #saidAt = performance.now();

  constructor(files: readonly string[]) {
    const folders = Map.groupBy(files, folderOf);
    this.#left = new Map(
      folders.entries().map(([name, files]) => [name, new Set(files)]),
    );
    const counts = folders.entries()
      .map(([name, { length }]) => `${name} ${length}`).toArray();
    console.log(`${files.length} files: ${counts.join(", ")}`);
  }

  [Symbol.dispose](): void {
    this.#look();
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const { file } of readReports()) {
      const folder = this.#left.get(folderOf(file));
      const wasLast = folder?.delete(file) && folder.size === 0;
      if (wasLast) this.#say(`${folderOf(file)} is done`);
    }
    if (performance.now() - this.#saidAt > QUIET) this.#say("still running");
  }

  #say(what: string): void {
    this.#saidAt = performance.now();
    const left = this.#left.values().reduce((sum, { size }) => sum + size, 0);
    const seconds = Math.round((this.#saidAt - this.#started) / 1000);
    console.log(`${what}; files left: ${left} (${seconds} s)`);
  }
}

/** The group of a file: `tests/program`, `tests/lib`. */
function folderOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

function test(...args: readonly string[]): Promise<number> {
  const reporter = isVerbose ? [] : ["--reporter=dot"];
  const flags = ["-q", ...sameFlags, "-P=test", "--no-prompt", ...reporter];
  flags.push(`--preload=${PRELOAD}`);
  return runDeno(["test", ...flags, ...args], options);
}

async function testAll(): Promise<number> {
  console.log("Format, lint, types");
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
  using _ = new Progress([...IN_TURN, ...parallel]);
  const codes = [await test(...IN_TURN), await test("--parallel", ...parallel)];
  const code = codes.find((code) => code !== 0) ?? 0;
  if (code === 0) {
    const source = chosenLibrary() === "npm" ? "npm" : "JSR";
    console.log(`Tested with the standard library from ${source}`);
  }
  return code;
}

/** Names the tests that were ignored, and what this machine lacks for them. */
function showIgnored(all: readonly FileReport[]): void {
  for (const { file, ignored, missing } of all) {
    const reason = missing.length === 0
      ? ""
      : `, without ${missing.join(", ")}`;
    for (const name of ignored) {
      console.log(`Ignored in ${file}${reason}: ${name}`);
    }
  }
}

const code = await (all ? testAll() : test(...args));
const files = readReports();
await Deno.remove(reports);
if (filter === undefined) showIgnored(files);
if (isTimed) {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 20);
  for (const { file, seconds } of slowest) {
    console.log(`${seconds.toFixed(1)} s ${file}`);
  }
}
Deno.exit(code === 0 && !hasMatch ? 1 : code);
