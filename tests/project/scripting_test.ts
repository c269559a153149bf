import { assertEquals, assertMatch } from "@std/assert";
import { commandLine, settings } from "../support/client_process.ts";
import { isInstalled } from "../support/fronts.ts";
import { answer } from "../support/service/behaviours.ts";
import { promptsOf, ReferenceService } from "../support/service/service.ts";

const TEXT = Deno.readTextFileSync(
  `${import.meta.dirname}/../../docs/scripting.md`,
);

/** The recipes by their heading. */
const RECIPES = new Map(
  TEXT.split(/^## /m).slice(1).map((section) => {
    const [heading = ""] = section.split("\n", 1);
    const blocks = section.matchAll(/^```sh\n(.*?)^```$/gms);
    return [heading, Array.from(blocks, ([, script = ""]) => script)];
  }),
);

/** The outcome of a recipe. */
interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly prompts: readonly unknown[];
  /** The text of the files that it has created. */
  readonly files: string;
}

const FILES = {
  "code.txt": "old line\n",
  "notes/a.txt": "first note\n",
  "notes/b c.txt": "second note\n",
  "questions": "hello\n\n- 6 * 7\n",
  "app.log": "GET /\n",
};

/** Runs a recipe with `sh` in a home folder of its own, against the reference service. */
async function run(heading: string, script: string): Promise<Outcome> {
  await using service = ReferenceService.start();
  if (heading === "Ask again, but never twice") {
    service.misbehave("create run", answer(429, "", { "retry-after": "60" }));
  }
  const home = await Deno.makeTempDir();
  try {
    for (const folder of ["notes", ".config", ".local/bin"]) {
      await Deno.mkdir(`${home}/${folder}`, { recursive: true });
    }
    for (const [name, text] of Object.entries(FILES)) {
      await Deno.writeTextFile(`${home}/${name}`, text);
    }
    const { APP_API_KEY, APP_BASE_URL } = settings(service);
    const exports =
      `export APP_API_KEY='${APP_API_KEY}' APP_BASE_URL='${APP_BASE_URL}'\n`;
    await Deno.writeTextFile(`${home}/.config/agent-gateway`, exports);
    // Where the install script puts it.
    const bin = `${home}/.local/bin`;
    await Deno.writeTextFile(
      `${bin}/agent-gateway`,
      `#!/bin/sh\nHOME='${Deno.env.get("HOME")}' exec ${
        commandLine().map((word) => `'${word}'`).join(" ")
      } "$@"\n`,
      { mode: 0o755 },
    );
    // Standard input is a pipe that stays open: no recipe may wait for its end.
    const child = new Deno.Command("sh", {
      args: ["-c", `${PREPARATION}\n${script}\n${END}`],
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
    const files = await Deno.readTextFile(`${home}/files`);
    return { code, stdout, stderr, prompts: promptsOf(service), files };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Makes a change that `git diff` shows. */
const PREPARATION =
  "git init -q . && git add code.txt && echo 'new line' > code.txt; sleep() { :; }";

/** Waits for a recipe that goes on in the background, and keeps what it has made. */
const END =
  "status=$?; wait; cat report.txt reply.txt notes/*.summary > files 2>&-; exit $status";

const DIFF = /\n\ndiff --git a\/code\.txt [^]*\n-old line\n\+new line$/;

/** The expected effect of each recipe. Every documented recipe is listed. */
const EXPECTED: Readonly<
  Record<string, readonly ((outcome: Outcome) => void)[]>
> = {
  "Ask again, but never twice": [
    ({ code, stderr, prompts, files }) => {
      assertEquals([code, prompts.length], [0, 2]);
      assertMatch(
        stderr,
        /^Error: .*ask again in 1 min; the run was not started/,
      );
      assertMatch(files, /^You said: What changed/);
    },
  ],
  "Watch a service": [
    ({ code, stdout, prompts }) => {
      assertEquals([code, prompts.length], [0, 0]);
      assertMatch(stdout, /^OK: \d checks\n$/);
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
    ({ code, stdout, stderr, files }) => {
      const said = "You said: Summarise this in one sentence.\n\n";
      assertEquals([code, stdout, stderr], [0, "", ""]);
      assertEquals(files, `${said}first note\n${said}second note\n`);
    },
    ({ code, stderr, prompts }) => {
      assertEquals([code, stderr, prompts], [0, "", ["hello", "- 6 * 7"]]);
    },
    ({ code, stderr, prompts }) => {
      assertEquals([code, stderr, prompts], [0, "", ["hello", "- 6 * 7"]]);
    },
  ],
  "Go on with a thread": [
    ({ code, stdout, stderr }) => {
      assertEquals([code, stderr], [0, ""]);
      assertEquals(stdout, "Earlier on this thread you said:\n1. hello\n");
    },
  ],
  "Limit the time": [
    ({ code, stdout, stderr }) => {
      assertEquals([code, stderr], [0, ""]);
      assertEquals(stdout, "You said: What changed in HTTP/3?\n");
    },
  ],
  "Run it from cron": [
    ({ code, stdout, stderr, files }) => {
      assertEquals([code, stdout, stderr], [0, "", ""]);
      assertEquals(files, "You said: What is unusual in this log?\n\nGET /\n");
    },
  ],
  "Go on after you log out": [
    ({ code, stdout, stderr, files }) => {
      assertEquals([code, stdout, stderr], [0, "", ""]);
      assertEquals(files, "You said: A long task\n");
    },
  ],
  "Use jq on JSON Lines": [
    ({ code, stdout }) => assertEquals([code, stdout], [0, "6 * 7 = 42\n"]),
    ({ code, stdout, stderr }) => {
      assertEquals([code, stdout], [1, ""]);
      assertMatch(stderr, /^failed: Cannot start a run: .* 500.*\n$/);
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

for (const [heading, checks] of Object.entries(EXPECTED)) {
  for (const [index, check] of checks.entries()) {
    const script = RECIPES.get(heading)?.[index] ?? "";
    // Each recipe starts in a repository.
    const missing = ["git", "jq", "setsid"].find((program) =>
      (program === "git" || script.includes(program)) && !isInstalled(program)
    );
    Deno.test({
      name: `documentation: recipe ${index + 1} of "${heading}" works in sh${
        missing === undefined ? "" : ` (skipped: no ${missing})`
      }`,
      ignore: missing !== undefined,
      fn: async () => check(await run(heading, script)),
    });
  }
}
