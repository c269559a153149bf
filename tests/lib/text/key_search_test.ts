import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { holdsKey } from "../../../lib/text/key_search.ts";

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, "0");

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "/": "&sol;",
  "\\": "&bsol;",
  "%": "&percnt;",
  "$": "&dollar;",
  "!": "&excl;",
  "=": "&equals;",
};

/** The ways in which a service may write one character of the key. */
const SPELLINGS: Readonly<Record<string, (character: string) => string>> = {
  "as it is": (character) => character,
  "in capitals": (character) => character.toUpperCase(),
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

/** A key with every character that some encoding escapes. */
const KEY = `$&a"b\\c/d<e>&f'g%h?i=%41&lt;\\u0041$'~!`;

for (const [how, spell] of Object.entries(SPELLINGS)) {
  Deno.test(`holdsKey() finds a key written ${how}`, () => {
    const echo = Array.from(KEY, spell).join("");
    assertEquals(holdsKey(`key ${echo}.`, KEY), true);
    assertEquals(holdsKey(`key ${echo.slice(0, -1)}.`, KEY), false);
  });
}

Deno.test("holdsKey() finds every key, however each of its characters is written", () => {
  // The characters of escapes, so that keys look like escapes.
  const key = fc.string({
    unit: fc.constantFrom(...String.raw`\%&#;uxX0124af"<lt`),
    minLength: 9,
    maxLength: 20,
  });
  const spelling = fc.constantFrom(...Object.values(SPELLINGS));
  const spellings = fc.array(spelling, { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(key, spellings, (key, spellings) => {
      if (/^\\+$/.test(key)) return; // Spellings with backslashes are the key itself.
      const echo = Array.from(
        key,
        (character, index) => spellings[index]?.(character) ?? "",
      );
      assertEquals(holdsKey(`key (${echo.join("")}) `, key), true);
    }),
    { numRuns: 5_000 },
  );
});

/** Texts around a key that, with its characters, look like an escape. */
const AROUND = ["%4|", "\\u00|", "&#x|", "%41\\n|%41", "%|1"];

for (const around of AROUND) {
  Deno.test(`holdsKey() finds a key in ${JSON.stringify(around)}`, () => {
    const key = "1abcdefgh%4";
    assertEquals(holdsKey(around.replace("|", key), key), true);
  });
}

const OTHERS: readonly (readonly [text: string, key: string])[] = [
  ["test-key-0123", "test-key-01234"],
  ["test%2Dkey%202", "test-key2"],
  ["\\\\", "\\".repeat(9)],
  ["abababac", "ababac-"],
  ["", "test-key"],
];

for (const [text, key] of OTHERS) {
  Deno.test(`holdsKey() finds no ${JSON.stringify(key)} in ${JSON.stringify(text)}`, () => {
    assertEquals(holdsKey(text, key), false);
  });
}

const KEY_LENGTH = 8_192; // the limit in lib/settings.ts
const TEXT_LENGTH = 128 * 1024;

/**
 * Text that takes 10^9 steps, or an endless loop, if the search moves back in the
 * text.
 */
const HOSTILE: readonly (readonly [text: string, key: string])[] = [
  ["\\", "\\"],
  ["\\", "\\".repeat(KEY_LENGTH - 1) + "b"],
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
  Deno.test(`holdsKey() takes linear time for ${name[0]} and a key of 8,192 characters with ${name[1]}`, () => {
    const text = part.repeat(TEXT_LENGTH / part.length);
    assertEquals(holdsKey(`${text}|${key}`, key), true);
  });
}
