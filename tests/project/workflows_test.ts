import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { pinDeno, PINNED_DENO } from "../../tools/pins.ts";
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

Deno.test("every action is pinned by one commit, and the comment tells its version", () => {
  const pins = new Map<string, string>();
  for (const text of Object.values(workflows)) {
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
  for (const [name, text] of Object.entries(workflows)) {
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
