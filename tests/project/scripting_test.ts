import { assertEquals, assertMatch } from "@std/assert";
import { putProgram, settings } from "../support/client_process.ts";
import { isInstalled } from "../support/fronts.ts";
import { answer, events } from "../support/service/behaviours.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

const TEXT = Deno.readTextFileSync(
  `${import.meta.dirname}/../../docs/scripting.md`,
);

/** The recipes by their heading. */
const RECIPES = new Map(
  TEXT.split(/^## /m).slice(1).map((section) => {
    const [heading = ""] = section.split("\n", 1);
    const blocks = section.matchAll(/^```(?:sh|make)\n(.*?)^```$/gms);
    const scripts = Array.from(blocks, ([, script = ""]) => script);
    return [heading, scripts] as const;
  }).filter(([, scripts]) => scripts.length > 0),
);

/** The outcome of a recipe. */
interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly prompts: readonly unknown[];
  /** The contents of the files that the recipe created, joined. */
  readonly files: string;
}

const FILES = {
  "code.txt": "old line\n",
  "notes/a.txt": "first note\n",
  "notes/b c.txt": "second note\n",
  "questions": "hello\n\n- 6 * 7\n",
  "app.log": "GET /\n",
};

/** The files that recipes write. */
const RESULTS = ["report.txt", "reply.txt"].concat(
  ["a.summary", "a.txt.summary", "b c.txt.summary"].map((n) => `notes/${n}`),
);

/** How a recipe that is no script is used: it is in the file `recipe`. */
const USES: Readonly<Record<string, string>> = {
  "Use it in a makefile":
    "mv recipe notes/Makefile; rm notes/b*txt; make -s -B -C notes",
  "Suggest a commit message":
    `chmod +x recipe; mv recipe .git/hooks/prepare-commit-msg
    git config user.name me; git config user.email me@localhost
    GIT_EDITOR="sed -i '1s/^/mine: /'" git commit -qa && git log --format=%B`,
};

/** The first answer to `create run`, or to the request for the stream. */
const TROUBLE = {
  busy: ["create run", answer(429, "", { "retry-after": "60" })],
  broken: ["stream", events([{ event: "progress", data: "{}" }])],
} as const;

/** Runs a recipe in a home folder of its own, against the reference service. */
async function run(
  shell: string,
  heading: string,
  script: string,
  trouble?: keyof typeof TROUBLE,
): Promise<Outcome> {
  await using service = ReferenceService.start();
  if (trouble !== undefined) {
    const [operation, behaviour] = TROUBLE[trouble];
    service.misbehave(operation, behaviour);
  }
  const home = await Deno.makeTempDir();
  try {
    for (const folder of ["notes", ".config"]) {
      await Deno.mkdir(`${home}/${folder}`);
    }
    const files: Record<string, string> = { ...FILES, recipe: script };
    for (const name of trouble === "broken" ? RESULTS : []) {
      files[name] = "old\n";
    }
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${home}/${name}`, text);
    }
    const { APP_API_KEY, APP_BASE_URL } = settings(service);
    const exports =
      `export APP_API_KEY='${APP_API_KEY}' APP_BASE_URL='${APP_BASE_URL}'\n`;
    await Deno.writeTextFile(`${home}/.config/agent-gateway`, exports);
    // Where the install script puts it.
    const bin = `${home}/.local/bin`;
    await putProgram(bin);
    // Standard input is a pipe that stays open: no recipe may wait for its end.
    const child = new Deno.Command(shell, {
      args: ["-c", `${PREPARATION}\n${USES[heading] ?? script}`],
      cwd: home,
      clearEnv: true,
      // cron's environment: what is missing comes from the file.
      env: heading === "Run it from cron"
        ? { HOME: home, PATH: "/usr/bin:/bin", SHELL: "/bin/sh", LOGNAME: "me" }
        : {
          HOME: home,
          PATH: `${bin}:${Deno.env.get("PATH")}`,
          GIT_CONFIG_GLOBAL: "/dev/null",
          APP_API_KEY,
          APP_BASE_URL,
        },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(60_000),
    }).spawn();
    const input = child.stdin.getWriter();
    const [{ code }, stdout, stderr] = await Promise.all([
      child.status,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await input.abort();
    const made = await Deno.readTextFile(`${home}/files`);
    return { code, stdout, stderr, prompts: promptsOf(service), files: made };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/**
 * Makes a change that `git diff` shows. At the end, waits for what goes on in the
 * background, and keeps what was made.
 */
const PREPARATION = `
  git init -q . && git add code.txt && echo 'new line' > code.txt; sleep() { :; }
  trap 'status=$?; wait; cat re*.txt *.prom notes/*.summary > files 2>&-; exit $status' EXIT`;

const DIFF = /\n\ndiff --git a\/code\.txt [^]*\n-old line\n\+new line$/;

/** What a recipe must have done. */
type Check = (outcome: Outcome) => void;

const prints = (text: string): Check => ({ code, stdout, stderr }) =>
  assertEquals([code, stdout, stderr], [0, text, ""]);

/** Expects files with this text, and no output. */
const writes = (text: string): Check => ({ code, stdout, stderr, files }) =>
  assertEquals([code, stdout, stderr, files], [0, "", "", text]);

const FIRST = "You said: Summarise this in one sentence.\n\nfirst note\n";
const BOTH = FIRST + FIRST.replace("first", "second");

/** The expected effect of each recipe. Every documented recipe is listed. */
const EXPECTED: Readonly<Record<string, readonly Check[]>> = {
  "Retry safely": [
    ({ code, stderr, prompts, files }) => {
      assertEquals([code, prompts.length], [0, 2]);
      assertMatch(
        stderr,
        /^agent-gateway: error: .*The prompt did not run\. Try again in 1 min/,
      );
      assertMatch(files, /^You said: What changed/);
    },
  ],
  "Monitor a service": [
    ({ code, stdout, prompts }) => {
      assertEquals([code, prompts.length], [0, 0]);
      assertMatch(stdout, /^OK: \d checks\n$/);
    },
    ({ code, stdout, stderr, prompts, files }) => {
      assertEquals([code, stderr, prompts], [0, "", ["hello"]]);
      assertMatch(stdout, /^\{"type":"check",.*"name":"reply",.*\}\n$/s);
      assertMatch(files, /^agent_gateway_check\{name="reply",state="ok"\} 1$/m);
      assertMatch(
        files,
        /^agent_gateway_check_seconds\{name="reply"\} [\d.]+$/m,
      );
    },
  ],
  "Review a diff": [
    ({ code, stdout, stderr, prompts }) => {
      assertEquals([code, stderr, prompts.length], [0, "", 1]);
      assertMatch(String(prompts[0]), /^Review this diff, the worst first\./);
      assertMatch(String(prompts[0]), DIFF);
      assertEquals(stdout, `You said: ${prompts[0]}\n`);
    },
    ({ code, stdout, prompts }) => {
      assertEquals([code, prompts.length], [0, 2]);
      assertMatch(String(prompts[0]), /code\.txt \| 2 \+-/);
      assertMatch(stdout, /Earlier on this thread you said:\n1\. What does/);
    },
  ],
  "Loop over files": [
    writes(BOTH),
    ({ code, stderr, prompts }) =>
      assertEquals([code, stderr, prompts], [0, "", ["hello", "- 6 * 7"]]),
    ({ code, stderr, prompts }) =>
      assertEquals([code, stderr, prompts], [0, "", ["hello", "- 6 * 7"]]),
  ],
  "Run several at once": [writes(BOTH)],
  "Use it in a makefile": [writes(FIRST)],
  "Suggest a commit message": [
    ({ code, stdout, stderr }) => {
      assertEquals([code, stderr], [0, ""]);
      assertMatch(stdout, /^mine: You said: Write a commit[^]*\+new line\n/);
    },
  ],
  "Continue a thread": [
    prints("Earlier on this thread you said:\n1. hello\n"),
  ],
  "Run it from cron": [
    writes("You said: What is unusual in this log?\n\nGET /\n"),
  ],
  "Keep running after you log out": [writes("You said: A long task\n")],
  "Use jq on JSON Lines": [
    ({ code, stdout }) => assertEquals([code, stdout], [0, "6 * 7 = 42\n"]),
    ({ code, stdout, stderr }) => {
      assertEquals([code, stdout], [1, ""]);
      assertMatch(stderr, /^failed: The service answered 500.*\n$/);
    },
    ({ code, stdout }) => {
      assertEquals(code, 0);
      assertMatch(JSON.parse(stdout)[0], /^Hello!/);
      assertEquals(JSON.parse(stdout).length, 2);
    },
  ],
};

Deno.test("documentation: every recipe for scripts is tried", () => {
  assertEquals(
    Array.from(RECIPES, ([heading, scripts]) => [heading, scripts.length]),
    Object.entries(EXPECTED).map(([heading, { length }]) => [heading, length]),
  );
});

/** Exit codes where the first run breaks off, and how many files are replaced then. */
const CODES: Readonly<Record<string, readonly [number, number]>> = {
  "Retry safely": [5, 0],
  "Loop over files": [0, 1],
  "Run several at once": [123, 1],
  "Use it in a makefile": [2, 0],
  "Suggest a commit message": [0, 0],
  "Run it from cron": [1, 0],
  "Keep running after you log out": [0, 0],
};

for (const [heading, checks] of Object.entries(EXPECTED)) {
  const trouble = heading === "Retry safely" ? "busy" : undefined;
  for (const [index, check] of checks.entries()) {
    test(heading, index, "works", check, trouble);
  }
}

Deno.test({
  name: "documentation: the recipe for cron asks nothing if the log is missing",
  ignore: Deno.build.os === "windows",
  async fn() {
    const heading = "Run it from cron";
    const script = RECIPES.get(heading)?.[0];
    const outcome = await run("sh", heading, `rm app.log\n${script}`);
    assertEquals([outcome.code, outcome.prompts], [1, []]);
  },
});

for (const [heading, [code, replaced]] of Object.entries(CODES)) {
  test(heading, 0, "leaves no part of a file", (outcome) => {
    assertEquals(outcome.code, code, outcome.stderr);
    const kept = outcome.files.split("old\n").length - 1;
    assertEquals(kept, RESULTS.length - replaced, outcome.files);
  }, "broken");
}

/** Runs a recipe in each shell. */
function test(
  heading: string,
  index: number,
  what: string,
  check: Check,
  trouble?: keyof typeof TROUBLE,
): void {
  const script = RECIPES.get(heading)?.[index] ?? "";
  const words = `${script} ${USES[heading]}`;
  const programs = ["jq", "make", "setsid", "xargs"]
    .filter((program) => words.includes(`${program} `));
  for (const shell of ["dash", "bash"]) {
    if (Deno.build.os === "windows") continue;
    // Each recipe starts in a repository.
    const missing = [shell, "git", ...programs].find((p) => !isInstalled(p));
    const skipped = missing === undefined ? "" : ` (skipped: no ${missing})`;
    const recipe = `recipe ${index + 1} of "${heading}"`;
    Deno.test({
      name: `documentation: ${recipe} ${what} in ${shell}${skipped}`,
      ignore: missing !== undefined,
      fn: async () => check(await run(shell, heading, script, trouble)),
    });
  }
}
