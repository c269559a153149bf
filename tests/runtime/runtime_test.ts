import { assert, assertFalse } from "@std/assert";
import { isInstalled } from "../support/fronts.ts";
import { programOutput } from "../support/program_output.ts";
import { isStillNeeded, WORKAROUNDS } from "./workarounds.ts";

/** The Deno in question: this one, or in `.ci/oldest` the oldest that is supported. */
const DENO = Deno.env.get("CLIENT_DENO") ?? Deno.execPath();
const { stdout } = await programOutput([DENO, "--version"]);
const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? "";
const oldest = /^oldest=(.*)$/m
  .exec(await Deno.readTextFile(`${import.meta.dirname}/../../.ci/oldest`))
  ?.[1];

function isAtLeast(version: string, least: string): boolean {
  return version.localeCompare(least, "en", { numeric: true }) >= 0;
}

for (const row of WORKAROUNDS) {
  const { what, since = "0", goneIn = "999", isNeeded } = row;
  if (isNeeded === undefined) continue;
  Deno.test({
    name: `A workaround is still needed: ${what}`,
    ignore: Deno.build.os === "windows" ||
      !["openssl", "perl"].every(isInstalled),
    async fn() {
      assertFalse(
        isAtLeast(oldest ?? "", goneIn),
        `this workaround can go: ${what}`,
      );
      const isKnown = isAtLeast(version, since) && !isAtLeast(version, goneIn);
      assert(
        await isStillNeeded(row, DENO) || !isKnown,
        `this workaround can go: ${what}: Deno ${version} does not need it. ` +
          `If ${oldest}, the oldest that is supported, does, add goneIn`,
      );
    },
  });
}
