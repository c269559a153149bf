/** The recipes of `docs/scripting.md`, each run in a home folder of its own. */
import { assertEquals, assertMatch } from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { type RecipeOptions, runRecipe } from "../support/recipes.ts";

const PAGE = await Deno.readTextFile(
  `${import.meta.dirname}/../../docs/scripting.md`,
);

const FILES = {
  "code.txt": "old line\n",
  "notes/a.txt": "first note\n",
  "notes/b c.txt": "second note\n",
  "questions": "hello\n\n- 6 * 7\n",
  "app.log": "GET /\n",
};

/** Makes a change that `git diff` shows. At the end, keeps what was made. */
const PREPARATION = `
  git init -q . && git add code.txt && echo 'new line' > code.txt; sleep() { :; }
  trap 'status=$?; cat re*.txt notes/*.summary > made 2>&-; exit $status' EXIT
  set +e
`;

/** The environment of cron: what is missing comes from the file. */
const CRON = { PATH: "/usr/bin:/bin", APP_API_KEY: "", APP_BASE_URL: "" };

/** What a recipe prints and writes, which is nothing by default. */
interface Expected {
  readonly trouble?: RecipeOptions["trouble"];
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

/** By the heading and the number of each recipe. */
const EXPECTED: Readonly<Record<string, readonly Expected[]>> = {
  "Run a prompt 1": [
    {
      stdout:
        /^You said: Review .*\n\ndiff --git a\/code\.txt [^]*\n-old line\n\+new line\n$/,
    },
  ],
  "Retry safely 1": [
    { files: /^You said: What changed/ },
    {
      trouble: ["busy"],
      stderr: /The prompt did not run/,
      files: /^You said: What changed/,
      prompts: 2,
    },
    { trouble: ["cut"], code: 5, stderr: /may still continue/ },
  ],
  "Continue a thread 1": [
    { stdout: /^Earlier on this thread you said:\n1\. hello\n$/, prompts: 2 },
  ],
  "Several prompts 1": [
    {
      stdout:
        /^Hello!.*\nEarlier .*\n1\. hello\nHello!.*\nYou said: - 6 \* 7\n$/,
      prompts: 4,
    },
  ],
  "Time limit 1": [{ stdout: /^You said: What changed/ }],
  "Loop over files 1": [{ files: SUMMARIES, prompts: 2 }],
  "Loop over files 2": [
    { stdout: /^Hello!.*\nYou said: - 6 \* 7\n$/, prompts: 2 },
  ],
  "Loop over files 3": [{ files: SUMMARIES, prompts: 2 }],
  "Use jq on JSON Lines 1": [
    { code: 1, stderr: /^failed: The service answered 500.*\n$/ },
  ],
  "Use jq on JSON Lines 2": [
    { stdout: /^\[\s+"Hello!.*",\s+"You said: .*"\s+\]\n$/, prompts: 2 },
  ],
  "Run it from cron 1": [
    { files: /^You said: What is unusual in this log\?\n\nGET \/\n$/ },
  ],
};

const RECIPES = new Map(
  PAGE.split(/^## /m).flatMap((section) =>
    Array.from(
      section.matchAll(/^```sh\n(.*?)^```$/gms),
      ([, script = ""], i) => [`${section.split("\n", 1)} ${i + 1}`, script],
    )
  ) as [string, string][],
);

Deno.test("docs/scripting.md: every recipe is tried", () => {
  assertEquals([...RECIPES.keys()], Object.keys(EXPECTED));
});

for (const [name, expected] of Object.entries(EXPECTED)) {
  for (const { trouble = [], ...outcome } of expected) {
    Deno.test({
      name: `docs/scripting.md: ${name} works (${trouble})`,
      ignore: !["sh", "git", "jq", "xargs"].every(isInstalled),
      async fn() {
        const script = RECIPES.get(name) ?? "";
        const { code = 0, stdout, stderr, files, prompts = 1 } = outcome;
        const output = await runRecipe(PREPARATION + script, {
          files: FILES,
          env: name.includes("cron")
            ? CRON
            : { GIT_CONFIG_GLOBAL: "/dev/null" },
          trouble,
        });
        assertMatch(output.stderr, stderr ?? /^$/);
        assertEquals([output.code, output.prompts], [code, prompts]);
        assertMatch(output.stdout, stdout ?? /^$/);
        assertMatch(output.made, files ?? /^$/);
      },
    });
  }
}
