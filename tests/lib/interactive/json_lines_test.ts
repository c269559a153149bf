import { assertEquals, assertRejects } from "@std/assert";
import { JsonLines } from "../../../lib/interactive/json_lines.ts";
import { parseJsonLines } from "../../support/json_lines.ts";

async function* noInput(): AsyncGenerator<Uint8Array> {}

Deno.test("JsonLines writes each line before it resolves, and shows nothing else", async () => {
  let written = "";
  const terminal = new JsonLines({
    stdin: noInput(),
    stdout: {
      write(bytes) {
        written += new TextDecoder().decode(bytes);
        return Promise.resolve();
      },
    },
  });
  terminal.banner();
  terminal.note();
  terminal.wait();
  await terminal.thread("t");
  assertEquals(written, '{"type":"thread","thread_id":"t"}\n');
  await terminal.run("r");
  await terminal.error("no", { operation: "stream run", status: undefined });
  assertEquals(parseJsonLines(written).slice(1), [
    { type: "run", run_id: "r" },
    { type: "error", message: "no", operation: "stream run" },
  ]);
});

Deno.test("JsonLines rejects when the reader is gone", async () => {
  const terminal = new JsonLines({
    stdin: noInput(),
    stdout: { write: () => Promise.reject(new Deno.errors.BrokenPipe()) },
  });
  await assertRejects(() => terminal.thread("t"), Deno.errors.BrokenPipe);
});
