import { assertEquals, assertMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { PROGRAM } from "../support/client_process.ts";
import { programOutput } from "../support/program_output.ts";

const SOAK = `${import.meta.dirname}/../../tools/soak.ts`;

/** Runs `deno task soak` with these arguments. */
function soak(...args: readonly string[]) {
  return programOutput([
    ...[Deno.execPath(), "run", "-q", ...sameFlags, "--allow-net"],
    ...["--allow-env", "--allow-read", "--allow-run", "--no-prompt"],
    ...[SOAK, ...args],
  ], { env: { AGENT_GATEWAY: PROGRAM } });
}

Deno.test({
  name: "deno task soak ends well, says so in one line, and names its seed",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stdout, stderr } = await soak("2", "--seed=7");

    assertEquals(code, 0, stdout + stderr);
    assertMatch(
      stdout,
      /^50 sessions for 2 s, seed 7\n\d+ prompts: [1-9]\d* completed, [1-9]\d* were cancelled, [1-9]\d* got the error .*; 0 problems\n$/,
    );
  },
});

Deno.test("deno task soak refuses what it cannot use", async () => {
  for (const argument of ["ten", "-1", "--sed=1", "--seed=x"]) {
    const { code, stderr } = await soak(argument);
    assertEquals(code, 2);
    assertMatch(stderr, new RegExp(`^Cannot use "${argument}"; usage: soak `));
  }
});
