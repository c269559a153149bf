import { assert, assertEquals, assertRejects } from "@std/assert";
import { addInput } from "../../../lib/interactive/prompt_input.ts";
import { InputError } from "../../../lib/standard_streams.ts";

/** Chunks as standard input yields them: each is overwritten by the next one. */
async function* reused(
  bytes: Uint8Array,
  length: number,
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(length);
  for (let start = 0; start < bytes.length; start += length) {
    const part = bytes.subarray(start, start + length);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
  }
}

Deno.test("addInput() reads characters wherever they are cut", async () => {
  const text = "ä€😀\r\n\nx";
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let length = 1; length <= bytes.length; length++) {
    assertEquals(await addInput([], reused(bytes, length)), [text]);
    assertEquals(
      await addInput(["one", "two"], reused(bytes, length)),
      ["one", `two\n\n${text}`],
    );
  }
});

Deno.test("addInput() stops reading at the limit", async () => {
  const mebibyte = new Uint8Array(1024 * 1024).fill(0x61);
  let chunks = 0;
  async function* endless() {
    for (;; chunks++) yield mebibyte;
  }
  await assertRejects(
    () => addInput([], endless()),
    InputError,
    "holds more than 67108864 bytes",
  );
  assert(chunks <= 64);
});
