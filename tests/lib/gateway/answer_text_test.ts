import { assert, assertEquals } from "@std/assert";
import { readText } from "../../../lib/gateway/answer_text.ts";
import { parseRetryAfter } from "../../../lib/gateway/retry_after.ts";

const RETRY_AFTER: readonly (readonly [string | null, number | undefined])[] = [
  ["0", 0],
  ["2", 2_000],
  [" 120 ", 120_000],
  ["9".repeat(400), Infinity],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  [null, undefined],
  ["", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["1e3", undefined],
  ["0x10", undefined],
  ["soon, at 5", undefined],
  ["Sun, 99 Nov 1994 08:49:37 GMT", undefined],
];

for (const [value, expected] of RETRY_AFTER) {
  const name = JSON.stringify(value)?.slice(0, 40);
  Deno.test(`parseRetryAfter() takes ${name} for ${expected} ms`, () => {
    assertEquals(parseRetryAfter(value), expected);
  });
}

Deno.test("parseRetryAfter() counts from now to a date", () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const milliseconds = parseRetryAfter(inAMinute) ?? 0;
  assert(milliseconds > 30_000 && milliseconds <= 60_000, `${milliseconds}`);
});

const TEXTS:
  readonly (readonly [string, number[][], number, string, boolean])[] = [
    ["all of it", [[0x61, 0x62]], 2, "ab", false],
    ["no more than the limit", [[0x61, 0x62], [0x63]], 2, "ab", true],
    ["a part of a chunk", [[0x61, 0x62, 0x63]], 2, "ab", true],
    ["a character across chunks", [[0xc3], [0xbc]], 2, "ü", false],
    ["a character cut at the limit", [[0x61, 0xc3, 0xbc]], 2, "a\ufffd", true],
    ["a character cut at the end", [[0x61, 0xc3]], 2, "a\ufffd", false],
    ["nothing of an empty body", [], 2, "", false],
  ];

for (const [what, chunks, limit, text, cut] of TEXTS) {
  Deno.test(`readText() reads ${what}`, async () => {
    const source = ReadableStream.from(chunks.map((c) => Uint8Array.from(c)));
    assertEquals(await readText(source, limit), { text, cut });
  });
}
