import { assertEquals } from "@std/assert";
import { ErrorOutput } from "../../lib/error_output.ts";
import type { ByteSink } from "../../lib/standard_streams.ts";

const MIB = 1024 * 1024;

/** A sink that writes nothing before it is released. */
class Held implements ByteSink {
  text = "";
  readonly #released = Promise.withResolvers<void>();
  readonly #decoder = new TextDecoder();

  async write(bytes: Uint8Array): Promise<void> {
    await this.#released.promise;
    this.text += this.#decoder.decode(bytes);
  }

  release(): void {
    this.#released.resolve();
  }
}

Deno.test("ErrorOutput drops progress while more than 1 MiB waits, and nothing else", async () => {
  const sink = new Held();
  const output = new ErrorOutput(sink);

  output.write("x".repeat(MIB));
  output.write("still taken\n", "progress");
  output.write("dropped\n", "progress");
  output.write("error\n");
  sink.release();
  await output.flush(60_000);
  output.write("taken again\n", "progress");
  await output.flush(60_000);

  assertEquals(sink.text.slice(MIB), "still taken\nerror\ntaken again\n");
});

Deno.test("ErrorOutput.flush() gives up after its limit", async () => {
  const sink = new Held();
  const output = new ErrorOutput(sink);
  output.write("text\n");

  await output.flush(1);

  assertEquals(sink.text, "");
  sink.release();
});

Deno.test("ErrorOutput.flush() resolves when the stream has failed", async () => {
  const output = new ErrorOutput({
    write: () => Promise.reject(new Deno.errors.BrokenPipe()),
  });

  output.write("text\n");
  await output.flush(2 ** 30);
  output.write("text\n");
  await output.flush(2 ** 30);
});

Deno.test("ErrorOutput.inOrder() writes to the other stream after the text queued before", async () => {
  const written: string[] = [];
  const decoder = new TextDecoder();
  const record = (name: string): ByteSink => ({
    write(bytes) {
      written.push(`${name} ${decoder.decode(bytes)}`);
      return Promise.resolve();
    },
  });
  const output = new ErrorOutput(record("stderr"));
  const stdout = output.inOrder(record("stdout"));

  output.write("1\n");
  await stdout.write(new TextEncoder().encode("2\n"));
  output.write("3\n");
  await output.flush(60_000);

  assertEquals(written, ["stderr 1\n", "stdout 2\n", "stderr 3\n"]);
});

Deno.test("ErrorOutput.inOrder() waits once for a reader that does not read", async () => {
  const held = new Held();
  const output = new ErrorOutput(held);
  let written = 0;
  const stdout = output.inOrder({
    write: () => Promise.resolve(void written++),
  });
  output.write("text\n");

  await stdout.write(new Uint8Array(1)); // after a second
  const next = stdout.write(new Uint8Array(1)).then(() => "at once");
  const macrotask = new Promise((resolve) => setTimeout(resolve, 0, "late"));

  assertEquals(await Promise.race([next, macrotask]), "at once");
  assertEquals(written, 2);
  held.release();
});
