import { assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { redactKey } from "../../../lib/gateway/key_redaction.ts";
import { maskKey } from "../../../lib/key_mask.ts";

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, "0");

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** The ways in which a service may write one character of the key. */
const SPELLINGS: Readonly<Record<string, (character: string) => string>> = {
  "as it is": (character) => character,
  "with backslashes": (character) => `\\${character}`,
  "escaped for JSON": (character) => `\\u00${hex(character)}`,
  "escaped for JSON in capitals": (character) =>
    `\\u00${hex(character).toUpperCase()}`,
  "encoded for a URL": (character) => `%${hex(character)}`,
  "encoded for a URL in capitals": (character) =>
    `%${hex(character).toUpperCase()}`,
  "encoded for a URL twice": (character) => `%25${hex(character)}`,
  "as a decimal reference": (character) => `&#${character.charCodeAt(0)};`,
  "as a decimal reference with zeros": (character) =>
    `&#${`${character.charCodeAt(0)}`.padStart(4, "0")};`,
  "as a hexadecimal reference": (character) => `&#x${hex(character)};`,
  "as a hexadecimal reference with X": (character) => `&#X${hex(character)};`,
  "as an entity": (character) => NAMED[character] ?? character,
  "as an entity in JSON": (character) => NAMED[character] ?? `\\${character}`,
};

/** A key with every character that some encoding escapes or that replaceAll() expands. */
const KEY = `$&a"b\\c/d<e>&f'g%h?i=%41&lt;\\u0041$'`;

for (const [how, spell] of Object.entries(SPELLINGS)) {
  Deno.test(`redactKey() masks a key written ${how}`, () => {
    const echo = Array.from(KEY, spell).join("");
    assertEquals(
      redactKey(`key ${echo}, or ${echo}.`, KEY),
      `key ${maskKey(KEY)}, or ${maskKey(KEY)}.`,
    );
  });
}

Deno.test("redactKey() masks every key, however each of its characters is written", () => {
  // The characters of escapes, so that keys look like escapes.
  const key = fc.string({
    unit: fc.constantFrom(...String.raw`\%&#;uxX0124af"<lt`),
    minLength: 9,
    maxLength: 20,
  });
  const spelling = fc.constantFrom(...Object.values(SPELLINGS));
  fc.assert(
    fc.property(
      key,
      fc.array(spelling, { minLength: 20, maxLength: 20 }),
      (key, spellings) => {
        const echo = Array.from(
          key,
          (character, index) => spellings[index]?.(character) ?? "",
        ).join("");
        const redacted = redactKey(`key (${echo}) `, key);
        if (/^\\+$/.test(key)) return; // the rest of the key consists of backslashes
        assertEquals(redacted.replaceAll(maskKey(key), ""), "key () ");
      },
    ),
    { numRuns: 5_000 },
  );
});

for (
  const [what, before, after] of [
    ["a percent sign and digits", "%4", ""],
    ["an open escape", "\\u00", ""],
    ["an open reference", "&#x", ""],
    ["an escape", "%41\\n", "%41"],
    ["digits", "%", "1"],
  ] as const
) {
  Deno.test(`redactKey() masks a key next to ${what}`, () => {
    const key = "1abcdefgh%4";
    assertEquals(
      redactKey(`${before}${key}${after}`, key),
      `${before}1abc...gh%4${after}`,
    );
  });
}

Deno.test("redactKey() masks a key that overlaps itself as a whole", () => {
  assertEquals(redactKey("aaaaaaaaaaaaa", "aaaaaaaaa"), "aaaa...aaaa");
  assertEquals(redactKey("ab".repeat(7), "ab".repeat(5)), "abab...abab");
});

Deno.test("redactKey() keeps text that is not an echo of the key", () => {
  for (
    const [text, key] of [
      ["an apple", "\\".repeat(9) + "a"],
      ["AAAAAAAA", "%41%41%41"],
      ["test-key-0123", "test-key-01234"],
      ["\\\\", "\\".repeat(9)],
      ["", "test-key"],
    ] as const
  ) {
    assertEquals(redactKey(text, key), text);
  }
});

Deno.test("redactKey() shows no part of the key where the text is cut", () => {
  const key = "test/key+0123456789";
  const echo = encodeURIComponent(key);
  for (let length = 1; length < echo.length; length++) {
    const text = `Unknown key: ${echo.slice(0, length)}`;
    const redacted = redactKey(text, key, { isCut: true });
    assertEquals(redacted, "Unknown key: ", text);
    assertEquals(redactKey(text, key), text);
  }
  assertEquals(
    redactKey(`Unknown key: ${echo}`, key, { isCut: true }),
    "Unknown key: test...6789",
  );
});

const KEY_LENGTH = 8_192; // the limit in lib/settings.ts
const TEXT_LENGTH = 128 * 1024;

/**
 * Text that takes 10^9 steps, or an endless loop, if the search moves back in the
 * text.
 */
const HOSTILE: readonly (readonly [text: string, key: string])[] = [
  ["\\", "\\"],
  ["\\", "\\".repeat(KEY_LENGTH - 1) + "b"],
  ["a", "a"],
  ["a", "a".repeat(KEY_LENGTH - 1) + "b"],
  ["a", "b" + "a".repeat(KEY_LENGTH - 1)],
  ["ab", "ab".repeat(KEY_LENGTH / 2 - 1) + "aa"],
  ["%25", "%25"],
  ["%25", "25"],
  ["%2525", "%"],
  ["&amp;", "&amp;"],
  ["&#38;#x26;", "&"],
  ["\\u005c", "\\u005c"],
  ["\\u0075005c", "u"],
  ["&", "&"],
];

for (const [part, unit] of HOSTILE) {
  const key = unit.repeat(Math.max(KEY_LENGTH / unit.length, 1))
    .slice(0, KEY_LENGTH);
  const name = [part, unit].map((text) => JSON.stringify(text.slice(-9)));
  Deno.test(`redactKey() takes linear time for ${name[0]} and a key of 8,192 characters with ${name[1]}`, () => {
    const text = part.repeat(TEXT_LENGTH / part.length);
    const redacted = redactKey(`${text}|${key}`, key, { isCut: true });
    assertFalse(redacted.includes(key));
  });
}
