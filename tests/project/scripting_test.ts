/** The recipes of `docs/scripting.md`, each run in a home folder of its own. */
import { assertEquals, assertMatch } from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { runRecipe } from "../support/recipes.ts";
import { rowsOf } from "../support/tables.ts";

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

/**
 * By the heading and the number of each recipe: what goes wrong at the service, the exit
 * code, how many prompts reach the service, and what is printed and made, as expressions.
 */
const EXPECTED = rowsOf<
  "recipe" | "trouble" | "code" | "prompts" | "stdout" | "stderr" | "made"
>(String.raw`
recipe                 | trouble | code | prompts | stdout | stderr | made
Run a prompt 1         |         | 0 | 1 | You said: Review .*\n\ndiff --git a/code\.txt [^]*\n-old line\n\+new line\n | |
Retry safely 1         |         | 0 | 1 |  |                      | You said: What changed.*\n
Retry safely 1         | busy    | 0 | 2 |  | [^]*The prompt did not run[^]* | You said: What changed.*\n
Retry safely 1         | cut     | 5 | 1 |  | [^]*may still continue[^]* |
Continue a thread 1    |         | 0 | 2 | Earlier on this thread you said:\n1\. hello\n | |
Several prompts 1      |         | 0 | 4 | Hello!.*\nEarlier .*\n1\. hello\nHello!.*\nYou said: - 6 \* 7\n | |
Time limit 1           |         | 0 | 1 | You said: What changed.*\n | |
Loop over files 1      |         | 0 | 2 |  |  | (You said: Summarise this in one sentence\.\n\n\w+ note\n){2}
Loop over files 2      |         | 0 | 2 | Hello!.*\nYou said: - 6 \* 7\n | |
Loop over files 3      |         | 0 | 2 |  |  | (You said: Summarise this in one sentence\.\n\n\w+ note\n){2}
Use jq on JSON Lines 1 |         | 1 | 1 |  | failed: The service answered 500.*\n |
Use jq on JSON Lines 2 |         | 0 | 2 | \[\s+"Hello!.*",\s+"You said: .*"\s+\]\n | |
Run it from cron 1     |         | 0 | 1 |  |  | You said: What is unusual in this log\?\n\nGET /\n
`);

const RECIPES = new Map(
  PAGE.split(/^## /m).flatMap((section) =>
    Array.from(
      section.matchAll(/^```sh\n(.*?)^```$/gms),
      ([, script = ""], i) => [`${section.split("\n", 1)} ${i + 1}`, script],
    )
  ) as [string, string][],
);

Deno.test("docs/scripting.md: every recipe is tried", () => {
  const tried = new Set(EXPECTED.map(({ recipe }) => recipe));
  assertEquals([...RECIPES.keys()], [...tried]);
});

for (const { recipe, trouble, code, prompts, ...texts } of EXPECTED) {
  Deno.test({
    name: `docs/scripting.md: ${recipe} works (${trouble})`,
    ignore: !["sh", "git", "jq", "xargs"].every(isInstalled),
    async fn() {
      const output = await runRecipe(PREPARATION + RECIPES.get(recipe), {
        files: FILES,
        env: recipe.includes("cron")
          ? CRON
          : { GIT_CONFIG_GLOBAL: "/dev/null" },
        trouble,
      });
      for (const name of ["stderr", "stdout", "made"] as const) {
        assertMatch(output[name], RegExp(`^${texts[name]}$`));
      }
      assertEquals([output.code, output.prompts], [
        Number(code),
        Number(prompts),
      ]);
    },
  });
}
