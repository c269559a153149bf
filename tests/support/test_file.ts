/**
 * `tools/run_tests.ts` loads this before each file of tests. It gives each test a time
 * limit: one that never ends fails by its name, and the others go on. It ends the
 * processes that a test has left. It reports that the file runs, and, when it is over,
 * how long it took, and which tests were ignored.
 *
 * @module
 */

import { runInThisContext } from "node:vm";
import { missingTools } from "./missing_tools.ts";
import { killGroup } from "./process_groups.ts";
import { times } from "./repetitions.ts";
import { soon } from "./waits.ts";

/** A line of JSON about a file: first that it runs, then the rest. */
export interface FileReport {
  readonly file: string;
  /** A test that has failed, and why. */
  readonly failed?: string;
  /** Process groups that may have processes: `end` of a group has ended them. */
  readonly start?: number;
  readonly end?: number;
  /** How it came out, when the file is over. */
  readonly over?: FileSummary;
}

/** How the tests of a file came out. */
interface FileSummary {
  readonly seconds: number;
  /** The names of tests that were ignored. */
  readonly ignored: readonly string[];
  /** The programs that they may lack. */
  readonly missing: readonly string[];
}

const file = Deno.mainModule.replace(/.*\/(?=tests\/)/, "");

/**
 * The limit of a test in milliseconds. With processes, it is three times as long as the
 * slowest one took at a load of 12 per core.
 */
const LIMIT = file.startsWith("tests/lib/") ? times(600_000) : 600_000;

const { test, Command } = Deno;

type Part = string | Partial<Deno.TestDefinition> | Deno.TestDefinition["fn"];

const ignored: string[] = [];

/** Where `tools/run_tests.ts` reads the reports. */
const reports = Deno.env.get("TEST_REPORTS") ?? "";
const { now } = performance; // Tests replace it.

function report(about: Omit<FileReport, "file">): void {
  if (reports === "") return;
  const line = `${JSON.stringify({ file, ...about })}\n`;
  Deno.writeTextFileSync(reports, line, { append: true });
}

/** The process groups of the children of the test that runs, by their ids. */
const groups = new Set<number>();

/** Makes each child the leader of a process group, so that its children end with it. */
class GroupCommand extends Command {
  readonly #command: string | URL;
  readonly #options: Deno.CommandOptions;

  constructor(command: string | URL, options: Deno.CommandOptions = {}) {
    super(command, { detached: Deno.build.os !== "windows", ...options });
    this.#command = command;
    this.#options = options;
  }

  override output(): Promise<Deno.CommandOutput> {
    const pipes = { stdin: "null", stdout: "piped", stderr: "piped" } as const;
    const options = { ...pipes, ...this.#options };
    return new GroupCommand(this.#command, options).spawn().output();
  }

  override spawn(): Deno.ChildProcess {
    const child = super.spawn();
    groups.add(child.pid);
    report({ start: child.pid });
    return child;
  }
}

/** Ends all processes that are left of the children so far. */
function endGroups(): void {
  for (const id of groups) {
    killGroup(id);
    report({ end: id });
  }
  groups.clear();
}

/** The first of the errors that `await using` has put together: Deno shows none of them. */
function reasonOf(error: unknown): unknown {
  return error instanceof SuppressedError ? reasonOf(error.suppressed) : error;
}

/** Turns what `Deno.test()` takes into the definition of a test with a limit. */
function limited(...parts: readonly Part[]): Deno.TestDefinition {
  const definition: Partial<Deno.TestDefinition> = {};
  for (const part of parts) {
    if (typeof part === "string") definition.name = part;
    else if (typeof part === "function") definition.fn = part;
    else Object.assign(definition, part);
  }
  if (definition.ignore === true) ignored.push(definition.name ?? "");
  const { fn = () => {} } = definition;
  return {
    ...definition,
    name: definition.name ?? fn.name,
    fn: async (t) => {
      endGroups(); // of a test that Deno has given up
      try {
        await soon((async () => await fn(t))(), () => "the test's end", LIMIT);
      } catch (error) {
        const reason = reasonOf(error);
        const [first] = String(reason).split("\n");
        report({ failed: `${t.name}: ${first?.slice(0, 200)}` });
        throw reason;
      } finally {
        endGroups();
      }
    },
  };
}

// Deno takes the caller of `Deno.test()` as the place of a test, and passes over scripts
// whose names begin so.
const wrap = runInThisContext("(f, g) => (...args) => f(g(...args))", {
  filename: "ext:tests",
});
Object.assign(Deno, {
  test: Object.assign(wrap(test, limited), test),
  Command: GroupCommand,
});
report({});
addEventListener("unload", () => {
  endGroups();
  const seconds = now.call(performance) / 1000;
  report({ over: { seconds, ignored, missing: Array.from(missingTools) } });
});
