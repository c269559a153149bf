import { assert, assertEquals } from "@std/assert";
import { programOutput } from "../support/program_output.ts";

const cwd = `${import.meta.dirname}/../..`;
const README = await Deno.readTextFile(`${cwd}/README.md`);

/** Each command of the README's examples in a shell, and what it prints. */
const EXAMPLES = Array.from(README.matchAll(/^```console\n([^]*?)^```/gm))
  .flatMap(([, block = ""]) => block.split(/^\$ /m).slice(1))
  .map((example) => example.split(/\n([^]*)/))
  .filter(([command]) => command !== "agent-gateway"); // a chat needs a terminal

Deno.test({
  name: "deno task demo runs each example of the README, as it stands",
  ignore: Deno.build.os === "windows",
  async fn() {
    assert(EXAMPLES.length > 3);
    for (const [command = "", printed] of EXAMPLES) {
      const script = command.replace("agent-gateway", '"$@"');
      const demo = [Deno.execPath(), "task", "-q", "demo"];
      const shell = ["sh", "-c", script, "sh", ...demo];
      const { code, stdout } = await programOutput(shell, { cwd });
      assertEquals([code, stdout], [0, printed], command);
    }
  },
});
