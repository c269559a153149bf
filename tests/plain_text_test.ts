import { assertEquals } from "@std/assert";
import { plainLine, plainText } from "../lib/plain_text.ts";

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

Deno.test("plainText() keeps text, tabs, newlines and what is not Latin", () => {
  const text = "a\tb\nc é 日本 👩‍💻 عربى";
  assertEquals(plainText(text), text);
});

Deno.test("plainText() shows what follows an unterminated sequence", () => {
  assertEquals(plainText("a\x1b]0;never ended"), "a0;never ended");
});

Deno.test("plainLine() turns line ends into spaces", () => {
  assertEquals(plainLine("a\n\tb"), "a b");
});
