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
import { killGroup } from "../tests/support/process_groups.ts";
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
  "tests/program/services_test.ts",
  ...["terminal", "program", "project", "runtime", "simulation", "lib"]
    .map((folder) => `tests/${folder}/**/*_test.ts`),
].flatMap((pattern) => globSync(pattern).sort());

/** The dot reporter's lines: a dot for each test. */
const DOT = /^[.,!]?$/;

/** Deno's summary if no test matches the filter, which is no failure to Deno. */
const NO_MATCH = /^ok \| 0 passed \| 0 failed (?:\| \d+ filtered out )?\(/;
let hasMatch = true;

/** Limits and reports each file. */
const PRELOAD = "tests/support/test_file.ts";

/** The most that is shown of one failure: its first difference is near the top. */
const MAX_LINES = 100;
const MAX_LENGTH = 1_000;

/** A line of a stack that is about how every test is run. */
const FRAME = /^ {4}at .*\/tests\/support\/(test_file|waits)\.ts/;

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
    else if (!DOT.test(text) && !FRAME.test(text)) {
      if (HEADING.test(text) || /^(ok|FAILED) \|/.test(text)) shown = 0;
      if (shown < MAX_LINES) console.log(cut(line));
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
const folder = Deno.makeTempDirSync({ prefix: "tests-" });
const reports = `${folder}/reports`;
Deno.writeTextFileSync(reports, "");
const options = {
  ...(!isVerbose || filter !== undefined) && { read: showFailures },
  // Most tests wait for another process: three times as many as there are cores.
  env: {
    TEST_REPORTS: reports,
    DENO_DIR: ownCache(),
    DENO_JOBS: Deno.env.get("DENO_JOBS") ??
      `${3 * navigator.hardwareConcurrency}`,
  },
};

/**
 * Makes a cache for this run, so that what is wrong with the contributor's fails no test
 * and no test harms it. They share what was downloaded.
 */
function ownCache(): string {
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-config"],
  }).outputSync();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  Deno.mkdirSync(`${folder}/deno`);
  for (const name of ["npm", "remote", "dl"]) {
    Deno.mkdirSync(`${denoDir}/${name}`, { recursive: true });
    // A junction needs no permission on Windows.
    const type = "junction";
    Deno.symlinkSync(`${denoDir}/${name}`, `${folder}/deno/${name}`, { type });
  }
  // Deno takes its esbuild from npm, and fails if two tests have it do so at once.
  const downloads = Array.from(Deno.readDirSync(`${denoDir}/dl`));
  if (!downloads.some(({ name }) => name.startsWith("esbuild-"))) {
    new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        "--no-config",
        `${import.meta.dirname}/tool_error.ts`,
      ],
      stdout: "null",
    }).outputSync();
  }
  return `${folder}/deno`;
}

/** What the files have reported so far. */
function readReports(): readonly FileReport[] {
  const lines = Deno.readTextFileSync(reports).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** How long nothing is said about the progress at most, in milliseconds. */
const QUIET = 20_000;

/**
 * Says which files are running, and how many have not begun if that is known; and at once
 * which tests have failed, because Deno says it at the end.
 */
class Progress implements Disposable {
  readonly #count: number | undefined;
  readonly #started = performance.now();
  readonly #timer = setInterval(() => this.#say(), QUIET);
  readonly #failures = setInterval(() => this.#sayFailures(), 500);
  #failed = 0;

  constructor(count?: number) {
    this.#count = count;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearInterval(this.#failures);
  }

  #sayFailures(): void {
    const failed = readReports().filter(({ failed }) => failed !== undefined);
    for (const { file, failed: what } of failed.slice(this.#failed)) {
      console.log(`FAILED ${file}: ${what}`);
    }
    this.#failed = failed.length;
  }

  #say(): void {
    const running = new Set<string>();
    let begun = 0;
    for (const { file, ...about } of readReports()) {
      if (about.over !== undefined) running.delete(file);
      else if (Object.keys(about).length === 0) {
        running.add(file);
        begun++;
      }
    }
    const seconds = Math.round((performance.now() - this.#started) / 1000);
    const waiting = this.#count === undefined
      ? ""
      : `; ${this.#count - begun} of ${this.#count} files have not begun`;
    const names = [...running].join(", ") || "none (their types are checked)";
    console.log(`Running after ${seconds} s: ${names}${waiting}`);
  }
}

/** Ends the processes of tests that could not do it: Deno was killed. */
function endProcesses(): void {
  const left = new Set<number>();
  for (const { start, end } of readReports()) {
    if (start !== undefined) left.add(start);
    if (end !== undefined) left.delete(end);
  }
  left.forEach(killGroup);
}

function test(...args: readonly string[]): Promise<number> {
  const reporter = isVerbose ? [] : ["--reporter=dot"];
  const flags = ["-q", ...sameFlags, "-P=test", "--no-prompt", ...reporter];
  flags.push(`--preload=${PRELOAD}`);
  return runDeno(["test", ...flags, ...args], options);
}

async function testAll(): Promise<number> {
  console.log(
    "One file: deno task test FILE; one test: deno task test FILE --filter NAME",
  );
  console.log("Format, lint, types");
  // With -q, lint and check print only errors; fmt would not name the files.
  for (
    const check of [
      ["fmt", "--check"],
      ["lint", "-q"],
      ["check", "-q", ...sameFlags],
    ]
  ) {
    const code = await runDeno(check, { env: options.env });
    if (code !== 0 && check[0] === "fmt") console.error("Run: deno task fmt");
    if (code !== 0) return code;
  }
  // Files that run in parallel share one process.
  const parallel = new Set(ALL).difference(new Set(IN_TURN));
  using _ = new Progress(IN_TURN.length + parallel.size);
  const codes = [
    await test("--no-check", ...IN_TURN),
    await test("--no-check", "--parallel", ...parallel),
  ];
  const code = codes.find((code) => code !== 0) ?? 0;
  if (code === 0) {
    const source = chosenLibrary() === "npm" ? "npm" : "JSR";
    console.log(`Tested with the standard library from ${source}`);
  }
  return code;
}

/** Names the tests that were ignored, and what this machine lacks for them. */
function showIgnored(all: readonly FileReport[]): void {
  for (const { file, over: { ignored = [], missing = [] } = {} } of all) {
    const reason = missing.length === 0
      ? ""
      : `, without ${missing.join(", ")}`;
    for (const name of ignored) {
      console.log(`Ignored in ${file}${reason}: ${name}`);
    }
  }
}

async function testSome(): Promise<number> {
  using _ = new Progress();
  return await test(...args);
}

const code = await (all ? testAll() : testSome());
endProcesses();
const files = readReports().filter(({ over }) => over !== undefined);
await Deno.remove(folder, { recursive: true });
if (filter === undefined) showIgnored(files);
if (isTimed) {
  const times = files.map(({ file, over }) => ({ file, ...over }));
  times.sort((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0));
  for (const { file, seconds } of times.slice(0, 20)) {
    console.log(`${seconds?.toFixed(1)} s ${file}`);
  }
}
Deno.exit(code === 0 && !hasMatch ? 1 : code);
