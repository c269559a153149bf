import { assert, assertEquals } from "@std/assert";
import v8 from "node:v8";
import vm from "node:vm";
import { readInputLines } from "../../lib/input_lines.ts";

const MIB = 1024 * 1024;

v8.setFlagsFromString("--expose-gc");
const collectGarbage: () => void = vm.runInNewContext("gc");

/** The bytes of live array buffers after a garbage collection. */
function heldBytes(): number {
  collectGarbage();
  return Deno.memoryUsage().external;
}

/** Texts as bytes, encoded on request. */
async function* chunks(
  ...texts: readonly string[]
): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(encoder.encode(text));
}

const encoder = new TextEncoder();

Deno.test("readInputLines() splits at LF and CRLF, wherever the input is cut", async () => {
  const bytes = encoder.encode("é\r\n\n\ufeff😀\na\rb\nlast");
  const cut = async function* (size: number) {
    for (let start = 0; start < bytes.length; start += size) {
      yield await Promise.resolve(bytes.subarray(start, start + size));
    }
  };
  for (let size = 1; size <= bytes.length; size++) {
    const lines = await Array.fromAsync(readInputLines(cut(size)));
    assertEquals(lines, ["é", "", "😀", "a\rb", "last"], `${size}`);
  }
});

Deno.test("readInputLines() puts undefined in place of a line over the limit", async () => {
  const lines = readInputLines(chunks("12345\n123456\n", "123", "456", "\n1"), {
    maxBytes: 5,
  });

  assertEquals(await Array.fromAsync(lines), [
    "12345",
    undefined,
    undefined,
    "1",
  ]);
});

Deno.test("readInputLines() frees the memory of a long line with the line", async () => {
  const before = heldBytes();
  const lines = readInputLines(chunks("x".repeat(32 * MIB), "\n", "a\n"));

  assertEquals((await lines.next()).value?.length, 32 * MIB);
  assertEquals((await lines.next()).value, "a");

  const grown = heldBytes() - before;
  assert(grown < 8 * MIB, `${grown} bytes are held`);
  await lines.return(undefined);
});

Deno.test("readInputLines() frees the memory of a line when it is over the limit", async () => {
  const before = heldBytes();
  const rest = Promise.withResolvers<void>();
  const source = async function* () {
    yield* chunks("x".repeat(31 * MIB), "x".repeat(2 * MIB));
    grown = heldBytes() - before;
    await rest.promise;
    yield encoder.encode("\n");
  };
  let grown = Infinity;
  const lines = readInputLines(source(), { maxBytes: 32 * MIB });

  rest.resolve();
  assertEquals(await lines.next(), { done: false, value: undefined });

  assert(grown < 8 * MIB, `${grown} bytes are held`);
  await lines.return(undefined);
});
