import { assertEquals } from "@std/assert";
import { programOutput } from "../support/program_output.ts";

const ROOT = `${import.meta.dirname}/../..`;
const README = await Deno.readTextFile(`${ROOT}/README.md`);

/** Each command of the README's examples in a shell, and what it prints. */
const EXAMPLES = Array.from(README.matchAll(/^```console\n([^]*?)^```/gm))
  .flatMap(([, block = ""]) => block.split(/^\$ /m).slice(1))
  .map((example) => example.split(/\n([^]*)/))
  .filter(([command]) => command !== "agent-gateway"); // a chat needs a terminal

/** Runs a command in which `agent-gateway` is the demo; returns its code and output. */
async function demo(command: string, input = ""): Promise<string> {
  const demo = `'${Deno.execPath()}' task -q demo`;
  const script = command.replace("agent-gateway", () => demo);
  const { code, stdout } = await programOutput(["sh", "-c", script], {
    cwd: ROOT,
    input,
  });
  return `${code} ${stdout}`;
}

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "deno task demo runs each example of the README, as it stands",
  ignore,
  async fn() {
    assertEquals(EXAMPLES.length > 3, true);
    for (const [command = "", output] of EXAMPLES) {
      assertEquals(await demo(command), `0 ${output}`, command);
    }
  },
});

Deno.test({
  name:
    "deno task demo takes standard input, options and requests of an editor",
  ignore,
  async fn() {
    assertEquals(await demo("agent-gateway", "6 * 7\n"), "0 6 * 7 = 42\n");
    assertEquals(await demo("agent-gateway --colour"), "2 ");
    const checked = await demo('agent-gateway --check -p "6 * 7"');
    assertEquals(
      checked.match(/^ok +\S+/gm)?.map((line) => line.slice(2).trim()),
      [
        "settings",
        "proxy",
        "thread",
        "wrong",
        "run",
        "events",
        "live",
        "reply",
      ],
    );
    const request = '{"jsonrpc":"2.0","id":1,"method":"agents/list"}\n';
    const answered = await demo("agent-gateway --bridge", request);
    assertEquals(answered.slice(0, 26), '0 {"jsonrpc":"2.0","id":1,');
  },
});
