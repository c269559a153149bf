import { assertEquals } from "@std/assert";
import { withoutCommands } from "../../../lib/text/runner_commands.ts";
import { blocksOf } from "../../support/blocks.ts";

const LINES = blocksOf(String.raw`
::error file=a::owned
  : :error file=a::owned
\u0020\t\u00a0::stop-commands::x
  \u0020\t\u00a0: :stop-commands::x
\u200b:\u200b:debug::x
  \u200b: \u200b:debug::x
plan: ##[error]x ##vso[task.complete]
  plan: # #[error]x # #vso[task.complete]
a::b: c
  a::b: c
one\n::two\n
  one\n: :two\n
`);

Deno.test("withoutCommands() leaves no line that a runner takes for a command", () => {
  for (const [line, [shown]] of LINES) {
    assertEquals(withoutCommands(line), shown);
  }
});
