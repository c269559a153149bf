/**
 * `tools/run_tests.ts` loads this before each file of tests. It gives each test a time
 * limit: one that never ends fails by its name, and the others go on. When the file is
 * over, it reports how long it took, and which tests were ignored.
 *
 * @module
 */

import { missingTools } from "./missing_tools.ts";

/** What is reported of a file, as a line of JSON. */
export interface FileReport {
  readonly file: string;
  readonly seconds: number;
  /** The names of tests that were ignored. */
  readonly ignored: readonly string[];
  /** The programs that they may lack. */
  readonly missing: readonly string[];
}

/** Three times as long as the slowest test took at a load of 12 per core, in milliseconds. */
const LIMIT = 600_000;

const { test } = Deno;

type Part = string | Partial<Deno.TestDefinition> | Deno.TestDefinition["fn"];

const ignored: string[] = [];

/** Where `tools/run_tests.ts` reads the reports. */
const reports = Deno.env.get("TEST_REPORTS") ?? "";
const { now } = performance; // Tests replace it.
if (reports !== "") {
  addEventListener("unload", () => {
    const report: FileReport = {
      file: Deno.mainModule.replace(/.*\/(?=tests\/)/, ""),
      seconds: now.call(performance) / 1000,
      ignored,
      missing: Array.from(missingTools),
    };
    const line = `${JSON.stringify(report)}\n`;
    Deno.writeTextFileSync(reports, line, { append: true });
  });
}

/** The forms of `Deno.test()`: a definition, or a name, perhaps options, and a function. */
function limited(...parts: readonly Part[]): void {
  // Deno before 2.9 knows no `timeout`.
  const definition: Partial<Deno.TestDefinition> = { timeout: LIMIT };
  for (const part of parts) {
    if (typeof part === "string") definition.name = part;
    else if (typeof part === "function") definition.fn = part;
    else Object.assign(definition, part);
  }
  if (definition.ignore === true) ignored.push(definition.name ?? "");
  test(definition as Deno.TestDefinition);
}

Object.assign(Deno, { test: Object.assign(limited, test) });
