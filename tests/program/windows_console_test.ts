import { assert, assertEquals } from "@std/assert";
import { Client, settings } from "../support/client_process.ts";
import { GatedStream } from "../support/service/gated_stream.ts";
import { ReferenceService } from "../support/service/service.ts";

/** Presses Ctrl-C on the console that this process shares with its children. */
async function pressCtrlC(client: Client): Promise<void> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-q", "--no-config", "--no-prompt"],
      "--allow-ffi=kernel32.dll",
      `${import.meta.dirname}/../support/send_ctrl_c.ts`,
      `${client.pid}`,
    ],
    stdin: "null",
  }).output();
  assert(success, new TextDecoder().decode(stdout));
}

/** A test on a Windows console; the other systems have signals instead. */
function consoleTest(name: string, fn: () => Promise<void>): void {
  if (Deno.build.os !== "windows") return;
  Deno.test(name, async () => {
    const ignore = () => {};
    Deno.addSignalListener("SIGINT", ignore);
    try {
      await fn();
    } finally {
      Deno.removeSignalListener("SIGINT", ignore);
    }
  });
}

consoleTest(
  "Ctrl-C on a Windows console ends the prompt loop: exit 130",
  async () => {
    await using service = ReferenceService.start();
    await using client = new Client({ env: settings(service) });
    await client.stderr.waitFor("thread ");

    await pressCtrlC(client);
    const { code, stdout } = await client.output();

    assertEquals([code, stdout], [130, ""]);
  },
);

consoleTest(
  "Ctrl-C on a Windows console drops what the bridge runs: exit 130",
  async () => {
    await using service = ReferenceService.start();
    await using client = new Client({
      args: ["--bridge"],
      env: settings(service),
    });
    const gate = new GatedStream();
    service.misbehave("stream", gate.behaviour);
    const lines = ["initialize", "session/new"].map((method, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params: {} })
    );
    await client.write(`${lines.join("\n")}\n`);
    const answers = await client.stdout.waitFor(/"id":1,.*\n/);
    const [, sessionId] = answers.match(/"sessionId":"([^"]+)"/) ?? [];
    const params = { sessionId, prompt: "hello" };
    const prompt = { jsonrpc: "2.0", id: 2, method: "session/prompt", params };
    await client.write(`${JSON.stringify(prompt)}\n`);
    await gate.opened;

    await pressCtrlC(client);
    const { code, stderr } = await client.output();

    assertEquals([code, stderr], [130, ""]);
    await gate.dropped;
  },
);
