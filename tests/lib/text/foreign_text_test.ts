import { assert, assertEquals } from "@std/assert";
import { inParts, shorten } from "../../../lib/text/foreign_text.ts";
import { escapeControls, jsonLine } from "../../../lib/text/json.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";

Deno.test("shorten() and inParts() cut a text between its characters, wherever it is cut", () => {
  const whole = "a😀😀é👩‍👩‍👧z";
  for (let length = 0; length <= whole.length + 1; length++) {
    const cut = shorten(whole, length);
    assert(whole.startsWith(cut) && cut.isWellFormed(), `${length}`);
    assert(cut.length <= length);
    assert(cut.length >= Math.min(length, whole.length) - 1);
    if (length < 2) continue;
    const parts = [...inParts(whole, length)];
    assertEquals(parts.join(""), whole);
    assert(parts.every((it) => it.isWellFormed() && it.length <= length));
  }
});

Deno.test("jsonLine() escapes what JSON leaves, a long line in parts of 64 KiB, and the value stays the same", () => {
  const escaped = "\x7f\x80\x85\x9f\u2028\u2029\u202a\u202e\u2066\u2069";
  const value = `${escaped}~\xa0\u200f\u2027\u202f\u2065\u206aé日👩\ud83d\n`;
  for (const text of [value, value.repeat(10_000)]) {
    const line = jsonLine({ text }, { text });
    const parts = typeof line === "string" ? [line] : [...line];
    assert(parts.every((part) => part.length <= 6 * 64 * 1024));
    const json = parts.join("");
    assert(json.endsWith("}\n"));
    assertEquals(JSON.parse(json), { text });
    for (const character of escaped) assert(!json.includes(character));
    const [kept = ""] = /~.*?👩/.exec(json) ?? [];
    assertEquals(kept, "~\xa0\u200f\u2027\u202f\u2065\u206aé日👩");
  }
  assertEquals(escapeControls("\x7f\u2029"), "\\u007f\\u2029");
  fc.assert(fc.property(fc.string({ unit: anyCodePoint }), (text) => {
    assertEquals(JSON.parse(String(jsonLine([text], { text }))), [text]);
  }));
});
