import { assertEquals, assertNotMatch } from "@std/assert";
import fc from "fast-check";
import { plainLine, plainText } from "../../lib/plain_text.ts";

const REMOVED: readonly (readonly [name: string, text: string])[] = [
  ["a CSI sequence", "\x1b[31m"],
  ["a CSI sequence in C1", "\x9b2J"],
  ["an OSC 8 link", "\x1b]8;;https://evil.example\x07"],
  ["an OSC 52 clipboard write", "\x1b]52;c;aGk=\x1b\\"],
  ["an OSC sequence in C1", "\x9d0;title\x9c"],
  ["a DCS sequence", "\x1bPq#0\x1b\\"],
  ["a charset switch", "\x1b(0"],
  ["a terminal reset", "\x1bc"],
  ["C0 but tab and newline", "\x00\x07\x08\x0b\x0c\r\x1f"],
  ["DEL", "\x7f"],
  ["C1", "\x80\x85\x9f"],
  ["bidirectional controls", "\u202e\u2066\u2069\u200f"],
];

for (const [name, text] of REMOVED) {
  Deno.test(`plainText() removes ${name}`, () => {
    assertEquals(plainText(`a${text}b`), "ab");
  });
}

Deno.test("plainText() keeps text in all scripts, tabs and newlines", () => {
  const text = "a\tb\nc é 日本 👩‍💻 عربى";
  assertEquals(plainText(text), text);
});

Deno.test("plainText() shows what follows an unterminated sequence", () => {
  assertEquals(plainText("a\x1b]0;never ended"), "a0;never ended");
});

Deno.test("plainText() leaves no control character of any text", () => {
  const controls = fc.constantFrom(...REMOVED.map(([, text]) => text));
  const characters = fc.string({ unit: "binary" });
  fc.assert(fc.property(
    fc.array(fc.oneof(controls, characters, fc.constantFrom("\x1b", "["))),
    (parts) => {
      const text = plainText(parts.join(""));
      assertNotMatch(text, /[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
      assertEquals(plainText(text), text);
    },
  ));
});

Deno.test("plainText() takes linear time for unterminated sequences", () => {
  const text = "\x1b]".repeat(1_000_000);
  assertEquals(plainText(text), "");
});

Deno.test("plainLine() turns line ends into spaces", () => {
  assertEquals(plainLine("a\n\tb"), "a b");
});
