import { assert, assertEquals, assertMatch } from "@std/assert";
import { sameFlags } from "../../tools/stand_ins.ts";

const ROOT = `${import.meta.dirname}/../..`;
const FOLDER = `${ROOT}/.github/workflows`;

const workflows: Record<string, string> = {};
for (const { name } of Deno.readDirSync(FOLDER)) {
  workflows[name] = Deno.readTextFileSync(`${FOLDER}/${name}`);
}

/** Runners that actionlint 1.7.7 does not know yet. */
const NEW_RUNNERS = /label "(?:macos-15-intel|windows-11-arm)" is unknown/;

/** Returns actionlint's findings, line by line. */
async function lint(texts: Record<string, string>): Promise<string[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", ...sameFlags, "--no-prompt"],
      ...["--allow-read", "--allow-env"],
      `${import.meta.dirname}/../support/actionlint.ts`,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  await new Response(JSON.stringify(texts)).body?.pipeTo(child.stdin);
  const { stdout } = await child.output();
  const findings: string[] = JSON.parse(new TextDecoder().decode(stdout));
  return findings.filter((finding) => !NEW_RUNNERS.test(finding));
}

Deno.test("actionlint finds nothing in the workflows", async () => {
  assertEquals(
    Object.keys(workflows).sort(),
    ["ci.yml", "release.yml", "update.yml"],
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

Deno.test("every action is pinned by one commit, and the comment tells its version", () => {
  const pins = new Map<string, string>();
  for (const text of Object.values(workflows)) {
    for (const [, use = ""] of text.matchAll(/\buses: *(.*)/g)) {
      assertMatch(use, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [action = ""] = use.split("@");
      assertEquals(use, pins.get(action) ?? use);
      pins.set(action, use);
    }
  }
  assert(pins.has("denoland/setup-deno"));
});

Deno.test("the workflows, the scripts of .ci and the README name the same version of Deno", async () => {
  const texts = {
    ...workflows,
    ".ci/common.sh": await Deno.readTextFile(`${ROOT}/.ci/common.sh`),
    "README.md": await Deno.readTextFile(`${ROOT}/README.md`),
  };
  const [, pinned] = texts[".ci/common.sh"]
    .match(/^deno_version=(.*)$/m) ?? [];

  for (const [name, text] of Object.entries(texts)) {
    const versions = Array.from(
      text.matchAll(
        /\b(?:deno@|deno-version: "|^deno_version=)(\d+\.\d+\.\d+)/gm,
      ),
      ([, version]) => version,
    );
    assert(versions.length > 0, `${name} names no version of Deno`);
    for (const version of versions) assertEquals(version, pinned, name);
  }
});
