import { assertEquals, assertNotMatch } from "@std/assert";
import { plainLine, plainText } from "../../../lib/text/plain_text.ts";
import { blocksOf } from "../../support/blocks.ts";
import fc, { anyCodePoint } from "../../support/generated.ts";

/** What is removed, and texts that are removed whole. */
const REMOVED = blocksOf(String.raw`
CSI sequences
  \u001b[31m
  \u001b[0?; /~
  \u009b2J
OSC sequences: a link, a write to the clipboard, a title
  \u001b]8;;https://evil.example\u0007
  \u001b]52;c;aGk=\u001b\\
  \u009d0;title\u009c
DCS, SOS, PM and APC sequences
  \u001bPq#0\u001b\\\u001bXé\t\u009c\u001b^a\u0007\u009fb\u0007
a switch of the character set
  \u001b(0\u001b(~
a terminal reset
  \u001bc
an escape at its end
  \u001b
control characters but tabs and newlines
  \u0000\u0007\u0008\u000b\u000c\u001f\u007f\u0080\u0085\u009f
the characters that embed and isolate others
  \u202a\u202e\u2066\u2069
`);

/** Texts, how they are shown, and how on one line. */
const SHOWN = blocksOf(String.raw`
a\tb\nc é 日本 👩‍💻 عربى
  a\tb\nc é 日本 👩‍💻 عربى
  a b c é 日本 👩‍💻 عربى
a\u200e\u200f\u061cb
  a\u200e\u200f\u061cb
  a\u200e\u200f\u061cb
\u2029\u202f\u2065\u206a\u00a0~
  \u2029\u202f\u2065\u206a\u00a0~
  \u2029\u202f\u2065\u206a\u00a0~
a\rb\r\nc\n\rd
  a\nb\nc\n\nd
  a b c d
a\n\u001b[1m\n\t\u0007\nb
  a\n\n\t\nb
  a b
a\u001b]0;never ended
  a0;never ended
  a0;never ended
a\u001b[3\u007fb
  a3b
  a3b
a\u001b(\u007fb
  a(b
  a(b
a\u001b]0;\u001b[1mb
  a0;b
  a0;b
`);

const ALL = [
  ...REMOVED.flatMap(([, texts]) => texts.map((it) => [`a${it}`, ["a", "a"]])),
  ...SHOWN,
] as const;

for (const [text, shown] of ALL) {
  Deno.test(`plainText() and plainLine() show ${JSON.stringify(text)}`, () => {
    for (const dirt of ["", "\x07"]) { // A clean text is returned as it is.
      const dirty = dirt + text;
      assertEquals([plainText(dirty), plainLine(dirty)], shown);
    }
  });
}

Deno.test("plainText() leaves no control character of any text", () => {
  const controls = fc.constantFrom(...REMOVED.flatMap(([, texts]) => texts));
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
