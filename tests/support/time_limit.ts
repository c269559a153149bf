/**
 * Gives each test a time limit. `tools/run_tests.ts` loads it before the tests: one
 * that never ends fails by its name, and the others go on.
 *
 * @module
 */

/** Ten times as long as the slowest test takes on a busy machine, in milliseconds. */
const LIMIT = 300_000;

const { test } = Deno;

type Part = string | Partial<Deno.TestDefinition> | Deno.TestDefinition["fn"];

/** Where `tools/run_tests.ts` reads how long each file took, in seconds. */
const times = Deno.env.get("TEST_TIMES") ?? "";
const { now } = performance; // Tests replace it.
if (times !== "") {
  addEventListener("unload", () => {
    const seconds = (now.call(performance) / 1000).toFixed(1);
    const file = Deno.mainModule.replace(/.*\/(?=tests\/)/, "");
    Deno.writeTextFileSync(times, `${seconds} s ${file}\n`, { append: true });
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
  test(definition as Deno.TestDefinition);
}

Object.assign(Deno, { test: Object.assign(limited, test) });
