import { assertEquals, assertMatch } from "@std/assert";
import { programOutput } from "../support/program_output.ts";

/** Runs `deno task demo` without a terminal. */
function demo(...args: readonly string[]) {
  return programOutput([Deno.execPath(), "task", "--quiet", "demo", ...args], {
    cwd: `${import.meta.dirname}/../..`,
  });
}

Deno.test("deno task demo plays two prompts on one thread", async () => {
  const { code, stdout } = await demo();

  assertEquals(code, 0);
  assertEquals(
    stdout,
    "Hello! I am the-brain. Ask me something, or what you said before.\n" +
      "Earlier on this thread you said:\n1. hello\n",
  );
});

Deno.test("deno task demo --bridge shows a session, line by line", async () => {
  const { code, stdout } = await demo("--bridge");

  assertEquals(code, 0);
  assertMatch(stdout, /^--> \{.*"initialize".*\}\n<-- \{.*\}\n/);
  assertMatch(stdout, /\n<-- .*"end_turn".*\n/);
});
