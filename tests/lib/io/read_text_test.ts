import { assertEquals } from "@std/assert";
import { readText } from "../../../lib/io/read_text.ts";

const TEXTS:
  readonly (readonly [string, number[][], number, string, boolean])[] = [
    ["all of it", [[0x61, 0x62]], 2, "ab", false],
    ["no more than the limit", [[0x61, 0x62], [0x63]], 2, "ab", true],
    ["a part of a chunk", [[0x61, 0x62, 0x63]], 2, "ab", true],
    ["a character across chunks", [[0xc3], [0xbc]], 2, "ü", false],
    ["a character cut at the limit", [[0x61, 0xc3, 0xbc]], 2, "a", true],
    ["a character cut at the end", [[0x61, 0xc3]], 2, "a\ufffd", false],
    ["nothing of an empty body", [], 2, "", false],
  ];

for (const [what, chunks, maxBytes, text, isCut] of TEXTS) {
  Deno.test(`readText() reads ${what}`, async () => {
    const source = ReadableStream.from(chunks.map((c) => Uint8Array.from(c)));
    assertEquals(await readText(source, { maxBytes }), { text, isCut });
  });
}
