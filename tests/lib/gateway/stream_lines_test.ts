import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isTooLong, readLines } from "../../../lib/gateway/stream_lines.ts";

const encoder = new TextEncoder();

/** The lines of bytes, ended or not; `undefined` where one was over the limit. */
async function read(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options?: { readonly maxBytes: number },
): Promise<readonly (string | undefined)[]> {
  const batches = readLines(ReadableStream.from(chunks), options);
  const lines: string[] = [];
  for (;;) {
    const { done, value } = await batches.next();
    if (!done) lines.push(...value);
    else if (value !== undefined) lines.push(value);
    if (done) return lines.map((line) => isTooLong(line) ? undefined : line);
  }
}

const TEXTS: readonly (readonly [text: string, lines: readonly string[]])[] = [
  ["", []],
  ["\n", [""]],
  ["a", ["a"]],
  ["a\n", ["a"]],
  ["a\nb", ["a", "b"]],
  ["a\r\nb\r\n", ["a", "b"]],
  ["a\n\n\nb\n", ["a", "", "", "b"]],
  ["a\rb\n", ["a\rb"]],
  ["a\u2028b\u0085c\n", ["a\u2028b\u0085c"]],
  ["\ufeffa\n\ufeffb\n", ["a", "\ufeffb"]],
  ["é😀\n", ["é😀"]],
];
for (const [text, lines] of TEXTS) {
  Deno.test(`readLines() splits ${JSON.stringify(text)}`, async () => {
    assertEquals(await read([encoder.encode(text)]), lines);
    // Byte by byte
    assertEquals(
      await read(
        Array.from(encoder.encode(text), (byte) => Uint8Array.of(byte)),
      ),
      lines,
    );
  });
}

const INVALID: readonly (readonly [bytes: readonly number[], text: string])[] =
  [
    [[0xff], "\ufffd"],
    [[0x61, 0xc3], "a\ufffd"],
    [[0xe2, 0x82, 0x62], "\ufffdb"],
    [[0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"], // a lone surrogate
  ];
for (const [bytes, text] of INVALID) {
  Deno.test(`readLines() reads invalid UTF-8 as ${JSON.stringify(text)}`, async () => {
    const chunk = Uint8Array.of(...bytes, 0x0a, 0x62);

    assertEquals(await read([chunk]), [text, "b"]);
  });
}

Deno.test("readLines() reads a character that is cut at the end as U+FFFD", async () => {
  assertEquals(await read([Uint8Array.of(0x61, 0x0a, 0x62, 0xc3)]), [
    "a",
    "b\ufffd",
  ]);
});

Deno.test("readLines() counts bytes, and the limit itself is allowed", async () => {
  const text = encoder.encode("éé\nééé\naaaa\naaaaa\n");

  assertEquals(await read([text], { maxBytes: 4 }), [
    "éé",
    undefined,
    "aaaa",
    undefined,
  ]);
});

Deno.test("readLines() reads like a plain split with a limit, however the bytes are cut", async () => {
  const line = fc.string({
    unit: fc.constantFrom("a", "é", "😀"),
    maxLength: 12,
  });
  const lines = fc.array(line, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 30 }),
      async (lines, maxBytes, size) => {
        const bytes = encoder.encode(`${lines.join("\n")}\n`);
        const chunks = Array.from(
          { length: Math.ceil(bytes.length / size) },
          (_, i) => bytes.slice(i * size, (i + 1) * size),
        );

        assertEquals(
          await read(chunks, { maxBytes }),
          lines.map((line) =>
            encoder.encode(line).length > maxBytes ? undefined : line
          ),
        );
      },
    ),
  );
});

Deno.test("readLines() takes no more from its source than its reader asks for", async () => {
  let taken = 0;
  async function* endless() {
    for (;;) {
      taken++;
      yield encoder.encode("line\n");
      await undefined;
    }
  }
  const lines = readLines(endless());

  await lines.next();
  await lines.next();
  await lines.return(undefined);

  assertEquals(taken, 2);
});

Deno.test("readLines() holds no more of an endless line than the limit", async () => {
  const chunk = encoder.encode("x".repeat(1024 * 1024));
  function* huge() {
    for (let i = 0; i < 2048; i++) yield chunk; // 2 GiB, more than a string holds
    yield encoder.encode("\nnext\n");
  }

  assertEquals(await read(huge(), { maxBytes: 1024 }), [undefined, "next"]);
});

Deno.test("readLines() yields no line that has no end, and returns it", async () => {
  const batches = readLines(ReadableStream.from([encoder.encode("a\nb")]));

  assertEquals(await batches.next(), { done: false, value: ["a"] });
  assertEquals(await batches.next(), { done: true, value: "b" });
});

Deno.test("readLines() takes a mark after a line over the limit for text", async () => {
  const text = encoder.encode("aaaaaaa\n\ufeffb\n");

  assertEquals(await read([text], { maxBytes: 6 }), [undefined, "\ufeffb"]);
});

Deno.test("readLines() keeps its input, although each chunk is overwritten after it was read", async () => {
  async function* source() {
    const chunk = new Uint8Array(2);
    for (const text of ["ab", "c\n", "de", "\nf"]) {
      encoder.encodeInto(text, chunk);
      yield chunk;
      await undefined;
    }
  }

  assertEquals(await read(source()), ["abc", "de", "f"]);
});

// Old splitters scan an unfinished line again for each chunk.
Deno.test("readLines() gives the splitter whole lines alone", async () => {
  const { write } = WritableStreamDefaultWriter.prototype;
  const written: string[] = [];
  WritableStreamDefaultWriter.prototype.write = function (text: string) {
    written.push(text);
    return write.call(this, text);
  };
  try {
    const text = encoder.encode("aaaa\nbb\nccccc\nd\n\neee");
    for (const size of [1, 3, 7, 100]) {
      const chunks = Array.from(
        { length: Math.ceil(text.length / size) },
        (_, i) => text.slice(i * size, (i + 1) * size),
      );
      assertEquals(await read(chunks), ["aaaa", "bb", "ccccc", "d", "", "eee"]);
    }
  } finally {
    WritableStreamDefaultWriter.prototype.write = write;
  }
  assertEquals(written.filter((part) => !part.endsWith("\n")), []);
  assertEquals(written.join(""), "aaaa\nbb\nccccc\nd\n\n".repeat(4));
});
