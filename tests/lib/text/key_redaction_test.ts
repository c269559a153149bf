import { assertEquals } from "@std/assert";
import { characterEntities } from "character-entities";
import fc from "fast-check";
import { holdsKey } from "../../../lib/text/key_redaction.ts";

const hex = (character: string) =>
  character.charCodeAt(0).toString(16).padStart(2, "0");

const code = (character: string) => character.charCodeAt(0);

/** The names of HTML by their characters: those that can occur in a key, or in gaps. */
const NAMES = Object.groupBy(
  Object.keys(characterEntities),
  (name) => characterEntities[name] ?? "",
);

const named = (character: string) => {
  const [name] = NAMES[character] ?? [];
  return name === undefined ? character : `&${name};`;
};

/**
 * The ways in which a service may write one character of the key. However they
 * are mixed, the key is found.
 */
const SPELLINGS: Readonly<Record<string, (character: string) => string>> = {
  "as it is": (character) => character,
  "in capitals": (character) => character.toUpperCase(),
  "with backslashes": (character) => `\\${character}`,
  "escaped for JSON": (character) => `\\u00${hex(character)}`,
  "escaped for JSON in capitals": (character) =>
    `\\u00${hex(character).toUpperCase()}`,
  "escaped for JavaScript": (character) => `\\x${hex(character)}`,
  "escaped for JavaScript in braces": (character) => `\\u{${hex(character)}}`,
  "encoded for a URL": (character) => `%${hex(character)}`,
  "encoded for a URL in capitals": (character) =>
    `%${hex(character).toUpperCase()}`,
  "encoded for a URL twice": (character) => `%25${hex(character)}`,
  "as a decimal reference": (character) => `&#${code(character)};`,
  "as a decimal reference with zeros": (character) =>
    `&#${"0".repeat(50)}${code(character)};`,
  "as a hexadecimal reference": (character) => `&#x${hex(character)};`,
  "as a hexadecimal reference with X": (character) => `&#X${hex(character)};`,
  "as an entity": named,
  "as an entity in JSON": (character) => `\\${named(character)}`,
  "with a space": (character) => ` ${character}`,
  "with a soft hyphen": (character) => `${character}\u00ad`,
  "with a soft hyphen in a URL": (character) => `${character}%C2%AD`,
  "with a variation selector": (character) => `${character}\ufe0f`,
  "with a zero-width space in a URL": (character) =>
    `%25E2%2580%258B${character}`,
  "with an entity for a gap": (character) => `${character}&ZeroWidthSpace;`,
  "with a reference to a gap": (character) => `&#8203;${character}`,
};

/** Further ways, in which the whole key is written alike. */
const WHOLE: typeof SPELLINGS = {
  "escaped for C, octal": (character) =>
    `\\${code(character).toString(8).padStart(3, "0")}`,
  "escaped without backslashes": (character) => `x${hex(character)}`,
  "escaped without backslashes, as in JSON": (character) =>
    `u00${hex(character)}`,
  "escaped without backslashes, in braces": (character) =>
    `u{${hex(character)}}`,
  "escaped for C": (character) => `\\U000000${hex(character)}`,
  "as a decimal reference without a semicolon": (character) =>
    `&#${code(character)}`,
  "as a hexadecimal reference without a semicolon": (character) =>
    `&#x${hex(character)}`,
  "as an entity without a semicolon": (character) =>
    named(character).replace(/(?<=.);$/, ""),
  "encoded three times": (character) => `%26%2338%3B%2523${code(character)}%3B`,
};

/** A key with every character that some encoding escapes. */
const KEY = `$&a"b\\c/d<e>&f'g%h?i=%41&lt;\\u0041$'~!`;

for (const [how, spell] of Object.entries({ ...SPELLINGS, ...WHOLE })) {
  Deno.test(`holdsKey() finds a key written ${how}`, () => {
    const echo = Array.from(KEY, spell);
    assertEquals(holdsKey(`key ${echo.join("")}.`, KEY), true);
    assertEquals(holdsKey(`key ${echo.slice(0, -1).join("")}.`, KEY), false);
    // Nothing else in it has to be decoded.
    assertEquals(
      holdsKey(Array.from("test-key", spell).join(""), "test-key"),
      true,
    );
  });
}

Deno.test("holdsKey() knows each name that HTML has for a character of a key, or a gap", () => {
  const gap = /^[\s\u00ad\u200b-\u200f\u2060\ufeff]+$/;
  let count = 0;
  for (const [characters, names = []] of Object.entries(NAMES)) {
    const isGap = gap.test(characters);
    if (!isGap && !/^[\x21-\x7e]+$/.test(characters)) continue;
    const key = `test${isGap ? "" : characters}key`;
    for (const name of names) {
      count++;
      for (const end of [";", ""]) {
        assertEquals(holdsKey(`a test&${name}${end}key`, key), true, name);
      }
    }
  }
  assertEquals(count > 60, true);
});

Deno.test("holdsKey() finds four characters of the key's beginning at the end of a text that was cut", () => {
  const key = "te&t-key-0123";
  for (
    const end of [
      ...["te&t", "te&amp;t-k", "t e&#38;t", "te%26t%2", "te&t&#4"],
      "te&t&NegativeVeryThinSp",
    ]
  ) {
    assertEquals(holdsKey(`It was ${end}`, key, true), true, end);
    assertEquals(holdsKey(`It was ${end}`, key), false);
  }
  for (const end of ["te&", "te&t!", ""]) {
    assertEquals(holdsKey(`It was ${end}`, key, true), false, end);
  }
});

Deno.test("holdsKey() takes a text that was encoded more than eight times for one with the key", () => {
  const deep = (levels: number) => `%${"25".repeat(levels)}41`;
  assertEquals(holdsKey(deep(5), "test-key"), false);
  assertEquals(holdsKey(deep(9), "test-key"), true);
});

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

Deno.test("holdsKey() finds a key that begins inside of its own beginning", () => {
  assertEquals(holdsKey("abababac-", "ababac-"), true);
});

const OTHERS: readonly (readonly [text: string, key: string])[] = [
  ["test-key-0123", "test-key-01234"],
  ["test%2Dkey%212", "test-key2"],
  ["test&eacute;key", "testkey"],
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
