import { assertEquals, assertNotMatch } from "@std/assert";
import { plainLine, plainText } from "../../../lib/text/plain_text.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";

const REMOVED: Readonly<Record<string, string>> = {
  "a CSI sequence": "\x1b[31m",
  "a CSI sequence with every kind of byte": "\x1b[0?; /~",
  "a CSI sequence in C1": "\x9b2J",
  "an OSC 8 link": "\x1b]8;;https://evil.example\x07",
  "an OSC 52 clipboard write": "\x1b]52;c;aGk=\x1b\\",
  "an OSC sequence in C1": "\x9d0;title\x9c",
  "DCS, SOS, PM and APC sequences":
    "\x1bPq#0\x1b\\\x1bXé\t\x9c\x1b^a\x07\x9fb\x07",
  "a charset switch": "\x1b(0\x1b(~",
  "a terminal reset": "\x1bc",
  "an escape at its end": "\x1b",
  "C0 but tab and line ends": "\x00\x07\x08\x0b\x0c\x1f",
  "DEL": "\x7f",
  "C1": "\x80\x85\x9f",
  "the characters that embed others": "\u202a\u202e",
  "the characters that isolate others": "\u2066\u2069",
};

for (const [name, text] of Object.entries(REMOVED)) {
  Deno.test(`plainText() and plainLine() remove ${name}`, () => {
    const dirty = `a${text}`;
    assertEquals([plainText(dirty), plainLine(dirty)], ["a", "a"]);
  });
}

/** A text, and how it is shown: with line ends, and on one line. */
const SHOWN: readonly (readonly [text: string, plain: string, line: string])[] =
  [
    [
      "a\tb\nc é 日本 👩‍💻 عربى",
      "a\tb\nc é 日本 👩‍💻 عربى",
      "a b c é 日本 👩‍💻 عربى",
    ],
    ["a\u200e\u200f\u061cb", "a\u200e\u200f\u061cb", "a\u200e\u200f\u061cb"],
    [
      "\u2029\u202f\u2065\u206a\xa0~",
      "\u2029\u202f\u2065\u206a\xa0~",
      "\u2029\u202f\u2065\u206a\xa0~",
    ],
    ["a\rb\r\nc\n\rd", "a\nb\nc\n\nd", "a b c d"],
    ["a\n\x1b[1m\n\t\x07\nb", "a\n\n\t\nb", "a b"],
    // What begins like a sequence, and is none
    ["a\x1b]0;never ended", "a0;never ended", "a0;never ended"],
    ["a\x1b[3\x7fb", "a3b", "a3b"],
    ["a\x1b(\x7fb", "a(b", "a(b"],
    ["a\x1b]0;\x1b[1mb", "a0;b", "a0;b"],
  ];

for (const [text, plain, line] of SHOWN) {
  Deno.test(`plainText() and plainLine() show ${JSON.stringify(text)}`, () => {
    for (const dirt of ["", "\x07"]) { // A clean text is returned as it is.
      const dirty = dirt + text;
      assertEquals([plainText(dirty), plainLine(dirty)], [plain, line]);
    }
  });
}

Deno.test("plainText() leaves no control character of any text", () => {
  const controls = fc.constantFrom(...Object.values(REMOVED));
  const characters = fc.string({ unit: anyCodePoint });
  fc.assert(fc.property(
    fc.array(fc.oneof(controls, characters, fc.constantFrom("\x1b", "["))),
    (parts) => {
      const text = plainText(parts.join(""));
      assertNotMatch(text, /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
      assertEquals(plainText(text), text);
      assertEquals(plainLine(text).match(/[\n\t]/), null);
    },
  ));
});
