/** The snippets of `docs/containers.md`, each run as far as it can be run here. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "yaml";
import { Folder } from "../support/environment.ts";
import { namesIn } from "../support/files.ts";
import { lint } from "../support/lint_workflows.ts";
import { programOutput } from "../support/program_output.ts";
import { runRecipe } from "../support/recipes.ts";

const TEXT = Deno.readTextFileSync(
  `${import.meta.dirname}/../../docs/containers.md`,
);

function test(name: string, fn: () => Promise<void>): void {
  const ignore = Deno.build.os !== "linux";
  Deno.test({ name: `docs/containers.md: ${name}`, ignore, fn });
}

/** The block that contains a text. */
function block(part: string): string {
  const blocks = Array.from(TEXT.matchAll(/^```\w+\n(.*?)^```$/gms))
    .map(([, text = ""]) => text).filter((text) => text.includes(part));
  assertEquals(blocks.length, 1, part);
  return blocks[0] ?? "";
}

const UNIT = block("report.service");
const [, STARTED = ""] = /^ExecStart=.*\/(agent.*)$/m.exec(UNIT) ?? [];

const JOB = parse(block("kind: Job")).spec;
const ARGS: readonly string[] = JOB.template.spec.containers[0].args;
const WORKFLOW = block(".github/workflows");
const [, , INSTALL, ASK] = parse(WORKFLOW).jobs.test.steps;
const STEPS = `
  trap 'cat "$GITHUB_PATH" "$GITHUB_OUTPUT" "$GITHUB_STEP_SUMMARY" 2>&- || :' EXIT
  ${INSTALL.run}\nPATH=$(cat "$GITHUB_PATH"):$PATH\n${ASK.run}`;
const GITLAB = parse(block(".gitlab-ci.yml")).explain;
const SCRIPT = [...GITLAB.before_script, ...GITLAB.script, "cat reply.md"];

/** What is not done here is a function. */
const PREPARATION = `
  sleep() { :; }; apt-get() { :; }; curl() { echo :; }
  echo '::error::x' > test.log
`;

const REPLY = /^You said: What changed in HTTP\/3\?\n$/;
const WRITTEN =
  /^::stop-commands::(\w{32})\n(You said: Why did .*\n\n::error::x\n)::\1::\n\S+\/\.local\/bin\nreply<<(\w{32})\n\2\3\n\2$/;

// The script, its exit code, what it prints, the prompts that the service gets.
for (
  const [name, script, code, stdout, prompts, trouble = ""] of [
    ["unit", STARTED, 0, REPLY, 1],
    ["pod", `agent-gateway '${ARGS.join("' '")}'`, 0, REPLY, 1],
    ["job of GitLab", SCRIPT.join("\n"), 0, /\n::error::x\n$/, 1],
    ["workflow", STEPS, 0, WRITTEN, 1],
    ["workflow", STEPS, 0, WRITTEN, 3, "busy busy"],
    ["workflow", STEPS, 3, /^.*bin\n$/, 3, "busy busy busy"],
    ["workflow", STEPS, 5, /^.*bin\n$/, 1, "cut"],
  ] as const
) {
  const expected = `${prompts} prompts and exit code ${code}`;
  test(`the ${name} leads to ${expected} (${trouble})`, async () => {
    const outcome = await runRecipe(PREPARATION + script, {
      trouble,
      env: {
        GITHUB_OUTPUT: "output",
        GITHUB_PATH: "path",
        GITHUB_STEP_SUMMARY: "summary",
      },
    });
    const { stderr } = outcome;
    assertEquals([outcome.code, outcome.prompts], [code, prompts], stderr);
    assertMatch(outcome.stdout, stdout);
  });
}

Deno.test("docs/containers.md: only exit code 3 leads to a retry", () => {
  assertEquals([JOB.backoffLimit, JOB.template.spec.restartPolicy], [
    0,
    "Never",
  ]);
  const onExitCodes = { operator: "In", values: [3] };
  assertEquals(JOB.podFailurePolicy.rules, [{ action: "Ignore", onExitCodes }]);
  assertEquals(GITLAB.retry, { max: 2, exit_codes: 3 });
  assertEquals(UNIT.match(/^Restart.*/gm)?.[0], "RestartForceExitStatus=3");
});

Deno.test("docs/containers.md: actionlint finds nothing", async () => {
  assertEquals(await lint({ "explain.yml": WORKFLOW }), []);
});

test("systemd takes every setting of the unit", async () => {
  using folder = new Folder();
  const file = `${folder.path}/report.service`;
  const unit = UNIT.replace("/usr/local/bin/agent-gateway", Deno.execPath());
  await Deno.writeTextFile(file, unit);
  const verify = ["systemd-analyze", "verify", "--man=no", file];
  const { code, stderr } = await programOutput(verify);
  assertEquals([code, stderr], [0, ""]);
});

test("Deno needs no more files than those of /glibc", async () => {
  using root = new Folder();
  const dockerfile = block("FROM debian").replaceAll("\\\n", "");
  const [, copies] = /^RUN (.*ldd.*)$/m.exec(dockerfile) ?? [];
  const script = `${copies}; cp /usr/local/bin/agent-gateway /glibc/deno
    [ "$(id -u)" != 0 ] || exec chroot /glibc /deno --version
    /glibc/deno --version`.replaceAll("/glibc", root.path)
    .replaceAll("/usr/local/bin/agent-gateway", Deno.execPath());
  const { stdout } = await programOutput(["bash", "-c", script]);
  assertMatch(stdout, /^deno \d/);
  for (const name of namesIn(root.path)) {
    const copy = `# COPY --from=program /glibc/${name}/ /${name}/\n`;
    assert(name === "deno" || dockerfile.includes(copy), name);
  }
});
