import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { section } from "../../tools/release_notes.ts";

const CHANGELOG = `# Changes

## 1.10.0

- New

## 1.1.0

One

- Two

## 1.0.0

## 0.9.0

Old
`;

for (
  const [version, notes] of [
    ["1.10.0", "- New"],
    ["1.1.0", "One\n\n- Two"],
    ["1.0.0", undefined],
    ["0.9.0", "Old"],
    ["1.1", undefined],
    ["2.0.0", undefined],
  ] as const
) {
  Deno.test(`section() of ${version} is ${JSON.stringify(notes)}`, () => {
    assertEquals(section(CHANGELOG, version), notes);
  });
}

Deno.test("CHANGELOG.md tells something about the version in deno.json", async () => {
  const changelog = await Deno.readTextFile(
    `${import.meta.dirname}/../../CHANGELOG.md`,
  );
  assert(section(changelog, config.version) !== undefined);
});

Deno.test("the release notes are refused to a tag of another version", async () => {
  const run = async (tag: string) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...[
          "run",
          "-q",
          "--allow-read=CHANGELOG.md,docs/install.md",
          "--no-prompt",
        ],
        ...["tools/release_notes.ts", tag],
      ],
      cwd: `${import.meta.dirname}/../..`,
    }).output();
    return [
      code,
      new TextDecoder().decode(stdout),
      new TextDecoder().decode(stderr),
    ];
  };
  const { version } = config;

  const [code, notes] = await run(`v${version}`);
  assertEquals(code, 0);
  assertStringIncludes(`${notes}`, "\n## Systems\n\n| System ");
  for (const tag of [version, `v${version}.1`, "v"]) {
    assertEquals(await run(tag), [
      1,
      "",
      `The tag is ${tag}, but deno.json has version ${version}\n`,
    ]);
  }
});
