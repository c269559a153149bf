import { assertEquals } from "@std/assert";
import { NotUnderstood } from "../../../../lib/gateway/stream/not_understood.ts";
import { Redactor } from "../../../../lib/text.ts";

const KEY = "test-key-0123456789abcdef";

Deno.test("NotUnderstood quotes three names, 80 characters of a line and three kinds, without the key", () => {
  const record = new NotUnderstood(new Redactor(KEY));
  assertEquals(record.isEmpty, true);
  for (const event of ["b", "a", "b", KEY, "d", "a"]) {
    record.object("", { event });
  }
  record.object(`{"key":"${KEY}","text":"${"x".repeat(100)}"}`, {});
  record.text("first", undefined, false);
  record.text("second", undefined, false);
  record.add("no node", "left out");
  const texts = ['"b", "a", "..."', '{"key":"...","text":"x', "first"];
  assertEquals(
    record.words.replace(/x{59}/, "x"),
    `6 events were not known: ${texts[0]}; 1 JSON object had no "event": ${
      texts[1]
    }; 2 data: lines were not JSON: ${texts[2]}`,
  );
  assertEquals(
    record.summary,
    '6 events were not known; 1 JSON object had no "event"; 2 data: lines were not JSON',
  );
});

/** The lines of a block, and what they are taken for. */
const BLOCKS: readonly (readonly [lines: readonly string[], words: string])[] =
  [
    [["{", '"a": 1', "}"], "1 event was split over several data: lines"],
    [["{", '"a": 1'], "2 data: lines were not JSON"],
    [["x", "{", "}"], "1 event was split over several data: lines"],
    [
      [...Array(2).fill(["{", `"a": "${"x".repeat(40_000)}"`, "}", ""]).flat()],
      "2 events were split over several data: lines",
    ],
    [["{", "1", "x"], "1 data: line was no JSON object"],
    [["{", `"a": "${"x".repeat(2 ** 16)}"}`], "1 event was split over several"],
    [["{", `"a": "${"x".repeat(2 ** 17)}"}`], "2 data: lines were not JSON"],
  ];

for (const [lines, words] of BLOCKS) {
  Deno.test(`NotUnderstood takes ${JSON.stringify(lines).slice(0, 30)} for: ${words}`, () => {
    const record = new NotUnderstood(new Redactor(KEY));
    for (const line of lines) {
      if (line === "") record.endBlock();
      const value = /^\d/.test(line) ? Number(line) : undefined;
      record.text(line, value, false);
    }
    record.endBlock();
    assertEquals(record.summary.slice(0, words.length), words);
  });
}
