import { assertEquals, assertMatch } from "@std/assert";
import { sameFlags } from "../../tools/deno.ts";
import { PROGRAM } from "../support/client_process.ts";
import { programOutput } from "../support/program_output.ts";

Deno.test({
  name: "deno task soak ends well, and says so in one line",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stdout, stderr } = await programOutput([
      ...[Deno.execPath(), "run", "-q", ...sameFlags, "-P=demo", "--no-prompt"],
      ...[`${import.meta.dirname}/../../tools/soak.ts`, "2"],
    ], { env: { AGENT_GATEWAY: PROGRAM } });

    assertEquals(code, 0, stdout + stderr);
    assertMatch(
      stdout,
      /^50 sessions for 2 s\n\d+ prompts: [1-9]\d* completed, [1-9]\d* were cancelled, [1-9]\d* failed; .*\n$/,
    );
  },
});
