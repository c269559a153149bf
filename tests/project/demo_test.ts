import { assert, assertEquals, assertMatch } from "@std/assert";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const README = await Deno.readTextFile(`${ROOT}/README.md`);
const DEMO = [Deno.execPath(), "task", "-q", "demo"];

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
      const shell = ["sh", "-c", script, "sh", ...DEMO];
      const { code, stdout } = await programOutput(shell, { cwd: ROOT });
      assertEquals([code, stdout], [0, printed], command);
    }
  },
});

Deno.test("deno task demo takes options, standard input and requests of an editor", async () => {
  const request = '{"jsonrpc":"2.0","id":1,"method":"agents/list"}\n';
  // On a machine under load, the events of so short a run may seem to come at once.
  const report = /(?:\nok +[a-z].*){6}\n(?:ok|-) +live .*\nok +reply .*\n$/;
  for (
    const [args, input, code, printed] of [
      [[], "6 * 7\n", 0, /^6 \* 7 = 42\n$/],
      [["--colour"], "", 2, /^$/],
      [["--check", "-p", "6 * 7"], "", 0, report],
      [["--bridge"], request, 0, /^\{"jsonrpc":"2.0","id":1,"result":.*\n$/],
    ] as const
  ) {
    const options = { cwd: ROOT, input };
    const output = await programOutput([...DEMO, ...args], options);
    assertEquals(output.code, code, output.stderr);
    assertMatch(output.stdout, printed);
  }
});
