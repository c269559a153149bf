import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { pinDeno, PINNED_DENO } from "../../tools/pins.ts";
import { runCommand } from "../../tools/run_command.ts";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const FOLDER = `${ROOT}/.github/workflows`;

const workflows: Record<string, string> = {};
for (const { name } of Deno.readDirSync(FOLDER)) {
  workflows[name] = Deno.readTextFileSync(`${FOLDER}/${name}`);
}

/** Runners and inputs that actionlint 1.7.7 does not know yet. */
const NEWER =
  /label "(?:macos-15-intel|windows-11-arm)" is unknown|input "package-manager-cache" is not defined in action "actions\/setup-node/;

/** Returns actionlint's findings, line by line. */
async function lint(texts: Record<string, string>): Promise<string[]> {
  const { stdout } = await programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "--no-prompt"],
    ...["--allow-read", "--allow-env"],
    `${import.meta.dirname}/../support/actionlint.ts`,
  ], { input: JSON.stringify(texts) });
  const findings: string[] = JSON.parse(stdout);
  return findings.filter((finding) => !NEWER.test(finding));
}

Deno.test("actionlint finds nothing in the workflows", async () => {
  assertEquals(
    Object.keys(workflows).sort(),
    ["ci.yml", "release.yml", "tests.yml", "update.yml"],
  );
  assertEquals(await lint(workflows), []);
});

Deno.test("actionlint finds nothing in what the workflows tell the actions", async () => {
  // actionlint knows the inputs of versions, not of commits.
  const versions = Object.entries(workflows).map(([name, text]) => [
    name,
    text.replaceAll(/@[0-9a-f]{40} # v[\d.]+/g, "@v4"),
  ]);
  assertEquals(await lint(Object.fromEntries(versions)), []);
});

Deno.test("actionlint finds an unknown runner, job and input", async () => {
  const bad = `on: push
jobs:
  test:
    runs-on: ubuntu-1.0
    needs: [nothing]
    steps:
      - uses: actions/checkout@v4
        with: { persist-credential: false }
`;
  const findings = await lint({ "bad.yml": bad });

  assertEquals(findings.length, 3);
  assertMatch(findings.join("\n"), /^bad\.yml:3: .*"nothing"/m);
  assertMatch(findings.join("\n"), /^bad\.yml:4: .*"ubuntu-1\.0"/m);
  assertMatch(findings.join("\n"), /^bad\.yml:8: .*"persist-credential"/m);
});

/** What installs the Deno that makes releases. */
const ACTION = Deno.readTextFileSync(
  `${ROOT}/.github/actions/deno/action.yml`,
);

Deno.test("every action is pinned by one commit, and the comment tells its version", () => {
  const pins = new Map<string, string>();
  for (const text of [...Object.values(workflows), ACTION]) {
    for (const [, use = ""] of text.matchAll(/\buses: (?!\.\/)(.*)/g)) {
      assertMatch(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [action = ""] = use.split("@");
      assertEquals(use, pins.get(action) ?? use);
      pins.set(action, use);
    }
  }
  assert(pins.has("denoland/setup-deno"));
});

Deno.test("every checkout leaves no token behind, and no script holds an expression", () => {
  for (const [name, text] of Object.entries(workflows)) {
    const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
    assertEquals(
      count(/actions\/checkout@/g),
      count(/persist-credentials: false/g),
      name,
    );
    for (
      const [, script = ""] of text.matchAll(/\brun: (.*\n(?: {10,}.*\n)*)/g)
    ) {
      assertNotMatch(script, /\$\{\{/); // it would be part of the code
    }
    assertMatch(text, /^permissions: \{\}$/m);
  }
});

Deno.test("the workflows and the commands of the documents run the Deno of .ci/deno-version", async () => {
  for (const [name, text] of Object.entries({ ...workflows, ACTION })) {
    const [setups, pins] = [
      /denoland\/setup-deno@/g,
      /deno-version-file: \.ci\/deno-version$/gm,
    ]
      .map((pattern) => text.match(pattern)?.length);
    assertEquals(setups, pins, name);
  }
  for (const name of ["README.md", "CONTRIBUTING.md"]) {
    const text = await Deno.readTextFile(`${ROOT}/${name}`);
    const commands = text.match(/\bdeno@[\d.]+/g) ?? [];
    assert(commands.length > 0);
    assertEquals(new Set(commands), new Set([`deno@${PINNED_DENO}`]), name);
  }
});

Deno.test("pinDeno() writes the version into commands, and nowhere else", () => {
  assertEquals(
    pinDeno(
      "npx --yes deno@2.9.6 task; Deno 2.6 or later, std@2.9.6",
      "3.0.10",
    ),
    "npx --yes deno@3.0.10 task; Deno 2.6 or later, std@2.9.6",
  );
});

/** Runs the step of the release workflow that has this name, as GitHub does. */
function runStep(name: string, folder: string, env: Record<string, string>) {
  const step = workflows["release.yml"]?.split(`- name: ${name}\n`)[1] ?? "";
  const [, script = ""] = /run: \|\n((?: {10}.*\n|\n)+)/.exec(step) ?? [];
  assert(script !== "", name);
  return programOutput(["bash", "-eo", "pipefail", "-c", script], {
    cwd: folder,
    env: { GH_REPO: "us/it", TAG: "v1.2.3", ...env },
  });
}

/** Registers a test that gets a temporary folder; only for Linux, as the workflow is. */
function stepTest(name: string, fn: (folder: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: Deno.build.os !== "linux",
    async fn() {
      const folder = await Deno.makeTempDir();
      await fn(folder);
      await Deno.remove(folder, { recursive: true });
    },
  });
}

/** A GitHub CLI whose API answers as a variable says, and which tells its calls. */
const GH = `#!/bin/sh
case "$1 $2" in
  api*) [ "$ANSWER" != fails ] && echo "$ANSWER" ;;
  "release download") echo download >>log && printf %s "$PUBLISHED" >published ;;
  *) echo "$2" >>log ;;
esac
`;

stepTest(
  "a release is made once, asks reviewers, and GitHub's failures are none of its answers",
  async (folder) => {
    await Deno.mkdir(`${folder}/dist`);
    await Deno.writeTextFile(`${folder}/dist/SHA256SUMS`, "sums");
    await Deno.writeTextFile(`${folder}/gh`, GH, { mode: 0o755 });
    const PATH = `${folder}:${Deno.env.get("PATH")}`;
    const run = async (step: string, ANSWER: string, PUBLISHED = "") => {
      await Deno.writeTextFile(`${folder}/log`, "");
      const { code } = await runStep(step, folder, { PATH, ANSWER, PUBLISHED });
      const log = await Deno.readTextFile(`${folder}/log`);
      return `${code} ${log.trim().replaceAll("\n", " ")}`.trim();
    };

    const publish = "Publish the release";
    assertEquals(await run(publish, ""), "0 create upload edit");
    assertEquals(await run(publish, "true"), "0 upload edit");
    assertEquals(await run(publish, "false", "sums"), "0 download");
    assertEquals(await run(publish, "false", "others"), "1 download");
    assertEquals(await run(publish, "fails"), "1");
    const require =
      "Require reviewers in the environment of the jobs that publish";
    assertEquals(await run(require, "1"), "0");
    assertEquals(await run(require, "0"), "1");
    assertEquals(await run(require, "fails"), "1");
  },
);

stepTest("a release needs the Deno of each system on npm", async (folder) => {
  // A registry where the Deno of one system has not been published yet.
  await using registry = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
      const version = name === "@deno/late" ? "1.9.9" : "2.0.0";
      const versions = { [version]: { name, version } };
      return Response.json({
        name,
        "dist-tags": { latest: version },
        versions,
      });
    },
  );
  const npm_config_registry = `http://127.0.0.1:${registry.addr.port}`;
  const manifest = `${folder}/package/package.json`;
  await Deno.mkdir(`${folder}/package`);
  await Deno.mkdir(`${folder}/packages`);
  const check = async (optionalDependencies: Record<string, string>) => {
    const text = JSON.stringify({ optionalDependencies });
    await Deno.writeTextFile(manifest, text);
    const tarball = "packages/agent-gateway-1.2.3.tgz";
    await runCommand(["tar", "-czf", tarball, "package"], { cwd: folder });
    const step = "Require the Deno of each system on npm";
    const env = { npm_config_registry };
    const { code, stdout } = await runStep(step, folder, env);
    return [code, stdout.trim().split("\n").at(-1)];
  };

  const found = { "@deno/one": "2.0.0", "@deno/two": "2.0.0" };
  assertEquals(await check(found), [0, "Missing: none"]);
  const missing = "Missing: @deno/late@2.0.0";
  assertEquals(await check({ ...found, "@deno/late": "2.0.0" }), [1, missing]);
});
