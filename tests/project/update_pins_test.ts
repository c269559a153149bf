import { assertEquals } from "@std/assert";
import { actionsIn, pinActions, pinDeno } from "../../tools/update_pins.ts";

const OLD = "0".repeat(40);
const NEW = "1".repeat(40);
const WORKFLOW = `steps:
  - uses: actions/checkout@${OLD} # v1.2.3
  - uses: denoland/setup-deno@${OLD} # v1.0.0
    with:
      deno-version: "2.9.6"
  - uses: actions/checkout@${OLD} # v1.2.3
`;

Deno.test("actionsIn() names each action once", () => {
  assertEquals(actionsIn(WORKFLOW), [
    "actions/checkout",
    "denoland/setup-deno",
  ]);
});

Deno.test("pinActions() writes commit and tag of the actions that have a release", () => {
  const release = { tag: "v2.0.0", commit: NEW };

  assertEquals(
    pinActions(WORKFLOW, new Map([["actions/checkout", release]])),
    WORKFLOW.replaceAll(
      `checkout@${OLD} # v1.2.3`,
      `checkout@${NEW} # v2.0.0`,
    ),
  );
});

for (
  const [text, pinned] of [
    ["npx --yes deno@2.9.6 task demo", "npx --yes deno@3.0.10 task demo"],
    ['deno-version: "2.9.6"', 'deno-version: "3.0.10"'],
    ["# a\ndeno_version=2.9.6\n", "# a\ndeno_version=3.0.10\n"],
    ["Deno 2.6 or later, std@2.9.6", "Deno 2.6 or later, std@2.9.6"],
  ] as const
) {
  Deno.test(`pinDeno() of ${JSON.stringify(text)} is ${JSON.stringify(pinned)}`, () => {
    assertEquals(pinDeno(text, "3.0.10"), pinned);
  });
}
