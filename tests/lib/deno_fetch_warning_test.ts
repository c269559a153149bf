import { assertEquals } from "@std/assert";
import { fetchWarning } from "../../lib/deno_fetch_warning.ts";

for (
  const [version, warns] of [
    ["1.46.3", false],
    ["2.6.8", false],
    ["2.7.5", false],
    ["2.7.6", true],
    ["2.7.14", true],
    ["2.8.0", true],
    ["2.9.0", true],
    ["2.9.5", true],
    ["2.9.5+abc1234", true],
    ["2.9.6", false],
    ["2.9.10", false],
    ["2.10.0", false],
    ["3.0.0", false],
    ["3.7.6", false],
  ] as const
) {
  Deno.test(`fetchWarning() ${warns ? "warns" : "does not warn"} of Deno ${version}`, () => {
    assertEquals(
      fetchWarning(version),
      warns
        ? [
          `Deno ${version} can send a prompt twice when a connection breaks; use 2.9.6 or later`,
        ]
        : [],
    );
  });
}
