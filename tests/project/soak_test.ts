import { assertEquals, assertMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { PROGRAM } from "../support/client_process.ts";
import { programOutput } from "../support/program_output.ts";

Deno.test({
  name: "deno task soak ends well, says so in one line, and names its seed",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stdout, stderr } = await programOutput([
      ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=demo", "--no-prompt"],
      ...[`${import.meta.dirname}/../../tools/soak.ts`, "2", "7"],
    ], { env: { AGENT_GATEWAY: PROGRAM } });

    assertEquals(code, 0, stdout + stderr);
    assertMatch(
      stdout,
      /^50 sessions for 2 s, seed 7\n\d+ prompts: [1-9]\d* completed, [1-9]\d* were cancelled, [1-9]\d* got the error .*; 0 problems\n$/,
    );
  },
});
