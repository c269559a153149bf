import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { parse, stringify } from "yaml";
import { sha256 } from "../../tools/checksums.ts";
import { PINNED_DENO } from "../../tools/pins.ts";
import { Folder } from "../support/environment.ts";
import { namesIn, writeFiles } from "../support/files.ts";
import { lint } from "../support/lint_workflows.ts";
import { programOutput } from "../support/program_output.ts";
import { rowsOf } from "../support/tables.ts";

const ROOT = `${import.meta.dirname}/../..`;

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly steps?: readonly Step[];
}

/** The action that installs the Deno that makes releases. */
const ACTION = "actions/deno/action.yml";

/** The texts of the workflows and the action, by their names. */
const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...namesIn(`${ROOT}/.github/workflows`), ACTION].map((name) => {
    const folder = name === ACTION ? "" : "workflows/";
    return [name, Deno.readTextFileSync(`${ROOT}/.github/${folder}${name}`)];
  }),
);

/** A workflow as GitHub reads it, and its jobs; those of the action are its steps. */
function workflow(name: string) {
  const { jobs, runs, ...fields } = parse(TEXTS[name] ?? "");
  const all: Readonly<Record<string, Job>> = jobs ?? { runs };
  return { fields, jobs: Object.entries(all) };
}

const STEPS: readonly Step[] = Object.keys(TEXTS).flatMap((name) =>
  workflow(name).jobs.flatMap(([, { steps = [] }]) => steps)
);

Deno.test("actionlint finds nothing in the workflows, nor in what they tell the actions", async () => {
  const { [ACTION]: _, ...workflows } = TEXTS;
  // actionlint knows the inputs of versions, not of commits, and not that artifacts can
  // be named by their ids.
  const versions = Object.entries(workflows).map(([name, text]) => [
    `v4/${name}`,
    text.replaceAll(/@[0-9a-f]{40} # v[\d.]+/g, "@v4")
      .replaceAll("artifact-ids:", "name:"),
  ]);
  const findings = { ...workflows, ...Object.fromEntries(versions) };
  assertEquals(await lint(findings), []);
});

Deno.test("the workflows have the jobs, rights and steps of workflows.txt, and no others", async () => {
  const outlines = await Promise.all(Object.keys(TEXTS).map(outline));
  assertEquals(
    outlines.join("\n"),
    await Deno.readTextFile(`${import.meta.dirname}/workflows.txt`),
  );
});

/** All that a workflow says, but the commits that pin actions. */
async function outline(file: string): Promise<string> {
  const { fields, jobs } = workflow(file);
  let text = `${file} ${flow(fields)}\n`;
  for (const [id, { steps = [], ...job }] of jobs) {
    text += `\n  ${id} ${flow(job)}\n`;
    for (const step of steps) text += `    ${await stepLine(step)}\n`;
  }
  return text;
}

/** A script of several lines is named by its sum: the tests below run most of them. */
async function stepLine({ uses, run, ...rest }: Step): Promise<string> {
  const lines = run?.trim().split("\n") ?? [];
  const sum = await sha256(new TextEncoder().encode(run));
  const script = lines.length > 1 ? `script ${sum.slice(0, 8)}` : lines[0];
  const action = uses?.replace(/@[0-9a-f]{40}$/, "");
  return `${action ?? script} ${flow(rest)}`.replace(/ \{\}$/, "");
}

function flow(value: unknown): string {
  const options = { collectionStyle: "flow", lineWidth: 0 } as const;
  return stringify(value, options).trim().replaceAll(/\s+/g, " ");
}

Deno.test("every action is pinned by one commit, and the comment tells its version", () => {
  const pins = new Map<string, string>();
  for (const text of Object.values(TEXTS)) {
    for (const [, use = ""] of text.matchAll(/\buses: (?!\.\/)(.*)/g)) {
      assertMatch(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [action = ""] = use.split("@");
      assertEquals(use, pins.get(action) ?? use);
      pins.set(action, use);
    }
  }
  assert(pins.has("denoland/setup-deno"));
});

Deno.test("no script of a workflow holds an expression, which would be part of its code", () => {
  for (const { run = "" } of STEPS) assertNotMatch(run, /\$\{\{/);
});

Deno.test("the documents name the Deno of .ci/deno-version, and the oldest one that CI tests", async () => {
  const read = (name: string) => Deno.readTextFile(`${ROOT}/${name}`);
  for (const name of ["README.md", "CONTRIBUTING.md"]) {
    const commands = (await read(name)).match(/\bdeno@[\d.]+/g) ?? [];
    assertEquals(new Set(commands), new Set([`deno@${PINNED_DENO}`]), name);
  }
  const [, tested] = /^oldest=(\d+\.\d+)\.0$/m.exec(await read(".ci/oldest")) ??
    [];
  assert(tested !== undefined);
  assertMatch(
    await read("docs/install.md"),
    RegExp(`^\\| \\[Deno\\].*?\\| Deno ${tested} `, "m"),
  );
});

/** Runs a step of a workflow, by the name of the step, as GitHub does. */
function runStep(
  name: string,
  folder: string,
  env: Readonly<Record<string, string>>,
) {
  const { run = "" } = STEPS.find((step) => step.name === name) ?? {};
  assert(run !== "", name);
  return programOutput(["bash", "-eo", "pipefail", "-c", run], {
    cwd: folder,
    env: { GH_REPO: "us/it", TAG: "v1.2.3", ...env },
  });
}

/** `gh`, whose API answers as a variable says, `npm`, and `tar`: they tell their calls. */
const GH = `#!/bin/sh
case "$1 $2" in
  -xOzf*) echo '{"optionalDependencies": {"@deno/a": "2.9.6", "@deno/b": "2.9.6"}}' ;;
  "view @deno/"*) [ "\${2%@*}" != "$ANSWER" ] ;;
  view*) echo E404 >&2; exit 1 ;;
  publish*) echo "$5" >>log ;;
  api*) [ "$ANSWER" != fails ] && echo "$ANSWER" ;;
  "release download") echo download >>log && printf %s "$PUBLISHED" >published ;;
  *) echo "$2" >>log ;;
esac
`;

/** A step, what the API answers, what is published, and what the step does. */
const STEPS_BY_ANSWER = rowsOf<
  "step" | "ANSWER" | "PUBLISHED" | "code" | "log"
>(`
step                    | ANSWER       | PUBLISHED | code | log
Publish the release     |              |           | 0    | create upload edit
Publish the release     | true         |           | 0    | upload edit
Publish the release     | false        | sums      | 0    | download
Publish the release     | false        | others    | 1    | download
Publish the release     | fails        |           | 1    |
Publish the npm package |              |           | 0    | ./dist/agent-gateway-1.2.3.tgz
Require reviewers in the environment of the jobs that publish | 1     | | 0 |
Require reviewers in the environment of the jobs that publish | 0     | | 1 |
Require reviewers in the environment of the jobs that publish | fails | | 1 |
Require the Deno of each system on npm | none of them | | 0 | Missing: none
Require the Deno of each system on npm | @deno/b      | | 1 | Missing: @deno/b@2.9.6
`);

Deno.test({
  name:
    "a release is made once, asks reviewers, and GitHub's failures are none of its answers",
  ignore: Deno.build.os !== "linux", // as the workflow is
  async fn() {
    using scratch = new Folder();
    const folder = scratch.path;
    await writeFiles(folder, {
      ...{ gh: GH, npm: "-> gh", tar: "-> gh", "dist/SHA256SUMS": "sums" },
      "dist/agent-gateway-1.2.3.tgz": "",
    });
    const PATH = `${folder}:${Deno.env.get("PATH")}`;
    for (const { step, ANSWER, PUBLISHED, code, log } of STEPS_BY_ANSWER) {
      await Deno.writeTextFile(`${folder}/log`, "");
      const env = { PATH, ANSWER, PUBLISHED };
      const output = await runStep(step, folder, env);
      const calls = await Deno.readTextFile(`${folder}/log`);
      const missing = /^Missing: .*/m.exec(output.stdout)?.[0] ?? "";
      const done = `${output.code} ${calls.replaceAll("\n", " ")}${missing}`;
      assertEquals(done.trim(), `${code} ${log}`.trim(), `${step}: ${ANSWER}`);
    }
  },
});

/** A change in a scratch repository, as the job without a right to write would send it. */
const PATCHES = rowsOf<"what" | "change" | "code">(`
what                  | change                                                    | code
modifies a pin        | echo 2 >.ci/deno-version                                  | 0
modifies a test       | echo worse >tests/a_test.ts                               | 1
renames a test        | git mv tests/a_test.ts .ci/deno-commit                    | 1
copies over a pin     | git rm -q deno.lock && cp tests/a_test.ts deno.lock       | 0
deletes a pin         | git rm -q deno.lock                                       | 1
adds a pin            | echo worse >.ci/deno-commit                               | 1
makes a pin a link    | ln -sf /etc/passwd README.md                              | 1
makes a pin a program | chmod +x README.md                                        | 1
renames a test, and modifies a pin | git mv tests/a_test.ts .ci/deno-commit && echo 2 >deno.lock | 1
`);

Deno.test({
  name: "the patch of the workflow Update may modify pins, and do nothing else",
  ignore: Deno.build.os !== "linux", // as the workflow is
  async fn() {
    using scratch = new Folder();
    const tools = scratch.path;
    const config = `${tools}/config`;
    await writeFiles(tools, {
      gh: "#!/bin/sh\n",
      config: "[user]\nname = t\nemail = t\n",
    });
    const env = {
      PATH: `${tools}:${Deno.env.get("PATH")}`,
      GIT_CONFIG_GLOBAL: config,
      GIT_CONFIG_NOSYSTEM: "1",
    };
    const shell = async (script: string, cwd: string) => {
      const output = await programOutput(["bash", "-ec", script], { cwd, env });
      assertEquals(output.code, 0, output.stderr);
      return output.stdout;
    };
    await shell(
      `
      git init -q --bare origin && git init -q -b main work && cd work
      mkdir .ci tests && git remote add origin ../origin
      for file in .ci/deno-version .ci/toolchain-sums deno.lock README.md tests/a_test.ts; do
        seq 1 50 >$file && echo $file >>$file
      done
      git add -A && git commit -qm Start && git push -q origin main`,
      tools,
    );
    for (const { what, change, code } of PATCHES) {
      using place = new Folder();
      const folder = place.path;
      await shell(
        `
        cp -r ${tools}/origin ${tools}/work . && cp -r work changed
        cd changed && ${change}
        git add -A && git diff --cached -M >../pins.patch`,
        folder,
      );
      const step = await runStep("Open a pull request", `${folder}/work`, env);
      const branches = await shell("git branch", `${folder}/origin`);
      const about = `${what}: ${step.stdout}${step.stderr}`;
      assertEquals(`${step.code}`, code, about);
      assertEquals(branches.includes("update-"), code === "0", what);
    }
  },
});
