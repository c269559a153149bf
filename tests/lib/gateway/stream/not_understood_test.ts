import { assertEquals } from "@std/assert";
import { NotUnderstood } from "../../../../lib/gateway/stream/not_understood.ts";
import { Redactor } from "../../../../lib/text.ts";
import { testRows } from "../../../support/tables.ts";

const KEY = "test-key-0123456789abcdef";

Deno.test("NotUnderstood quotes three names, and 80 characters of a line, without the key", () => {
  const record = new NotUnderstood(new Redactor(KEY));
  assertEquals(record.isEmpty, true);
  for (const event of ["b", "a", "b", KEY, "d", "a"]) {
    record.data("{}", { event });
  }
  record.data(`{"key":"${KEY}","text":"${"x".repeat(100)}"}`, {});
  record.data("first", undefined);
  record.data("second", undefined);
  const texts = ['"b", "a", "..."', '{"key":"...","text":"x', "first"];
  assertEquals(
    record.words.replace(/x{59}/, "x"),
    `6 events were not known: ${texts[0]}; 1 JSON object had no "event": ${
      texts[1]
    }; 2 data: lines were no JSON object, the first: ${texts[2]}`,
  );
  assertEquals(
    record.summary,
    '6 events were not known; 1 JSON object had no "event"; 2 data: lines were no JSON object',
  );
});

Deno.test("NotUnderstood quotes nothing of a line that has nothing to show", () => {
  const record = new NotUnderstood(new Redactor(KEY));
  record.add("no data", "\0");
  assertEquals(record.words, '1 line had no "data:" before it');
  record.add("no data", "second");
  assertEquals(record.words, '2 lines had no "data:" before them');
});

/** Blocks, `/` between their lines, and what they are taken for. */
testRows(
  "NotUnderstood takes {lines} for: {words}",
  "lines | words",
  `
{/"a": 1/}                                      | 1 event was split over several data: lines
{/"a": 1                                        | 2 data: lines were no JSON object
x/{/}                                           | 1 data: line was no JSON object; 1 event was split
${
    `{/"a": "${"x".repeat(40_000)}"/}//`.repeat(2)
  } | 2 events were split over several data: lines
{/1/x                                           | 3 data: lines were no JSON object
{/"a": "${"x".repeat(2 ** 16)}"}                | 1 event was split over several
`,
  ({ lines, words }) => {
    const record = new NotUnderstood(new Redactor(KEY));
    for (const line of lines.split("/")) {
      if (line === "") record.endBlock();
      const value = /^\d/.test(line) ? Number(line) : undefined;
      record.data(line, value);
    }
    record.endBlock();
    assertEquals(record.summary.slice(0, words.length), words);
  },
);
