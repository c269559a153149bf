import { assertEquals } from "@std/assert";
import { runBridge } from "../../lib/bridge.ts";
import { FakeGateway } from "../support/bridge_ends.ts";

const COUNT = 800;

Deno.test("runBridge() returns when the last answer is written, however slow the reader is", async () => {
  const encoder = new TextEncoder();
  async function* stdin() {
    for (let id = 1; id <= COUNT; id++) {
      const line = JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "agents/list",
      });
      yield await Promise.resolve(encoder.encode(`${line}\n`));
    }
  }
  let written = "";
  const decoder = new TextDecoder();
  const stdout = {
    async write(bytes: Uint8Array) {
      await new Promise((resolve) => setTimeout(resolve));
      written += decoder.decode(bytes, { stream: true });
    },
  };

  await runBridge({ stdin: stdin(), stdout, gateway: new FakeGateway() });

  const ids = written.trimEnd().split("\n").map((line) => JSON.parse(line).id);
  assertEquals(ids, Array.from({ length: COUNT }, (_, i) => i + 1));
});
