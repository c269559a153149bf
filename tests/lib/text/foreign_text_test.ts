import { assert, assertEquals } from "@std/assert";
import { parseJson, shorten } from "../../../lib/text.ts";
import fc from "../../support/generated.ts";
import { times } from "../../support/repetitions.ts";

/** Any UTF-16 code unit, surrogates often. */
const unit = fc.oneof(
  fc.constantFrom(...'\ud83d\ude00\ud800\udfff\\"u\n\0a'),
  fc.nat(0xffff).map((code) => String.fromCharCode(code)),
);

const text = fc.array(unit, { maxLength: 20 })
  .map((units) => units.join(""));

const escapeUnit = (unit: string) =>
  "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");

/** JSON of a text, as libraries write it: few escapes, or one for each unit. */
const WRITERS: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text),
  (text) => `"${text.split("").map(escapeUnit).join("")}"`,
  (text) =>
    `"${
      text.split("").map((unit) =>
        escapeUnit(unit).toUpperCase().replace("U", "u")
      ).join("")
    }"`,
];

Deno.test("parseJson() lets no half of a surrogate pair in, and changes nothing else", () => {
  const writer = fc.constantFrom(...WRITERS);
  const property = fc.property(text, text, writer, (name, value, write) => {
    const json = `{${write(name)}: [${write(value)}, 1.5e3, {}]}`;
    const expected = {
      [name.toWellFormed()]: [value.toWellFormed(), 1500, {}],
    };
    assertEquals(parseJson(json), expected);
  });
  fc.assert(property, { numRuns: times(20_000) });
});

Deno.test("shorten() cuts a text between its characters, wherever it is cut", () => {
  const whole = "a😀😀é👩‍👩‍👧z";
  for (let length = 0; length <= whole.length + 1; length++) {
    const cut = shorten(whole, length);
    assert(whole.startsWith(cut));
    assert(cut.isWellFormed(), `${length}`);
    assert(
      cut.length <= length && cut.length >= Math.min(length, whole.length) - 1,
    );
  }
  assertEquals(shorten(whole, whole.length), whole);
});
