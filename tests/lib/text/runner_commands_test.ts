import { assertEquals } from "@std/assert";
import { withoutCommands } from "../../../lib/text/runner_commands.ts";

const LINES = {
  "::error file=a::owned": ": :error file=a::owned",
  " \t\u00a0::stop-commands::x": " \t\u00a0: :stop-commands::x",
  "\u200b:\u200b:debug::x": "\u200b: \u200b:debug::x",
  "plan: ##[error]x ##vso[task.complete]":
    "plan: # #[error]x # #vso[task.complete]",
  "a::b: c": "a::b: c",
  "one\n::two\n": "one\n: :two\n",
};

Deno.test("withoutCommands() leaves no line that a runner takes for a command", () => {
  for (const [line, shown] of Object.entries(LINES)) {
    assertEquals(withoutCommands(line), shown);
  }
});
