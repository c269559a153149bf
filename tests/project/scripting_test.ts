/** The recipes of `docs/scripting.md`, each run in a home folder of its own. */
import { assertEquals, assertMatch } from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { type RecipeOptions, runRecipe } from "../support/recipes.ts";

const TEXT = Deno.readTextFileSync(
  `${import.meta.dirname}/../../docs/scripting.md`,
);

/** The scripts by their heading. */
const RECIPES = new Map(
  TEXT.split(/^## /m).slice(1).map((section) => {
    const [heading = ""] = section.split("\n", 1);
    const blocks = section.matchAll(/^```(?:sh|make)\n(.*?)^```$/gms);
    const scripts = Array.from(blocks, ([, script = ""]) => script);
    return [heading, scripts] as const;
  }).filter(([, scripts]) => scripts.length > 0),
);

const FILES = {
  "code.txt": "old line\n",
  "notes/a.txt": "first note\n",
  "notes/b c.txt": "second note\n",
  "questions": "hello\n\n- 6 * 7\n",
  "app.log": "GET /\n",
};

/**
 * Makes a change that `git diff` shows. At the end, waits for what goes on in the
 * background, and keeps what was made.
 */
const PREPARATION = `
  git init -q . && git add code.txt && echo 'new line' > code.txt; sleep() { :; }
  trap 'status=$?; wait; cat re*.txt *.prom notes/*.summary > made 2>&-; exit $status' EXIT`;

/** Runs a recipe. */
function run(
  heading: string,
  script: string,
  trouble: RecipeOptions["trouble"] = [],
) {
  // cron's environment: what is missing comes from the file.
  const cron = { PATH: "/usr/bin:/bin", APP_API_KEY: "", APP_BASE_URL: "" };
  return runRecipe(`${PREPARATION}\nset +e\n${script}`, {
    files: { ...FILES, recipe: script },
    env: heading === "Run it from cron"
      ? cron
      : { GIT_CONFIG_GLOBAL: "/dev/null" },
    trouble,
  });
}

/** What a recipe prints and writes, which is nothing by default. */
interface Expected {
  readonly code?: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
  /** The files that it creates, joined. */
  readonly files?: RegExp;
  /** How many prompts reach the service. */
  readonly prompts?: number;
}

const SUMMARIES =
  /^(?:You said: Summarise this in one sentence\.\n\n(?:first|second) note\n){2}$/;
const QUESTIONS = {
  stdout: /^Hello!.*\nYou said: - 6 \* 7\n$/,
  prompts: 2,
};

/** Every recipe is listed, by its heading. */
const EXPECTED: Readonly<Record<string, readonly Expected[]>> = {
  "Run a prompt": [
    {
      stdout:
        /^You said: Review this diff, the worst first\.\n\ndiff --git a\/code\.txt [^]*\n-old line\n\+new line\n$/,
    },
  ],
  "Retry safely": [{ files: /^You said: What changed/ }],
  "Continue a thread": [
    { stdout: /^Earlier on this thread you said:\n1\. hello\n$/, prompts: 2 },
  ],
  "Loop over files": [
    { files: SUMMARIES, prompts: 2 },
    QUESTIONS,
    { files: SUMMARIES, prompts: 2 },
  ],
  "Use jq on JSON Lines": [
    { code: 1, stderr: /^failed: The service answered 500.*\n$/ },
    { stdout: /^\[\s+"Hello!.*",\s+"You said: .*"\s+\]\n$/, prompts: 2 },
  ],
  "Run it from cron": [
    { files: /^You said: What is unusual in this log\?\n\nGET \/\n$/ },
  ],
};

Deno.test("documentation: every recipe for scripts is tried", () => {
  assertEquals(
    Array.from(RECIPES, ([heading, scripts]) => [heading, scripts.length]),
    Object.entries(EXPECTED).map(([heading, { length }]) => [heading, length]),
  );
});

/** A test that is ignored where a program that a recipe uses is missing. */
function test(
  heading: string,
  script: string,
  what: string,
  fn: () => Promise<void>,
) {
  const programs = ["jq", "xargs"]
    .filter((program) => script.includes(`${program} `));
  const missing = ["sh", "git", ...programs].filter((p) => !isInstalled(p));
  Deno.test({
    name: `documentation: "${heading}" ${what}`,
    ignore: missing.length > 0,
    fn,
  });
}

for (const [heading, recipes] of Object.entries(EXPECTED)) {
  for (const [index, expected] of recipes.entries()) {
    const script = RECIPES.get(heading)?.[index] ?? "";
    test(heading, script, `works (recipe ${index + 1})`, async () => {
      const outcome = await run(heading, script);
      assertMatch(outcome.stderr, expected.stderr ?? /^$/);
      const { code = 0, prompts = 1 } = expected;
      assertEquals([outcome.code, outcome.prompts], [code, prompts]);
      assertMatch(outcome.stdout, expected.stdout ?? /^$/);
      assertMatch(outcome.made, expected.files ?? /^$/);
    });
  }
}

const [RETRY = ""] = RECIPES.get("Retry safely") ?? [];

test("Retry safely", RETRY, "retries only what was not started", async () => {
  const busy = await run("Retry safely", RETRY, ["busy"]);
  assertEquals([busy.code, busy.prompts], [0, 2]);
  const cut = await run("Retry safely", RETRY, ["cut"]);
  assertEquals([cut.code, cut.prompts], [5, 1]);
});
