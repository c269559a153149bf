/**
 * Masks the API key in text from outside.
 *
 * A service may echo the key escaped for JSON, HTML or a URL, partly or wholly,
 * and escaped several times. All escapes in the text and in the key are decoded
 * until none is left. Every spelling of the key then has the same characters, and
 * one linear search (Knuth-Morris-Pratt) finds them.
 *
 * @module
 */

import { maskKey } from "../key_mask.ts";

const BACKSLASH = "\\";

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/** The length of the longest escape: `&#x00027;`. */
const MAX_ESCAPE_LENGTH = 9;

/** Options of {@linkcode redactKey}. */
export interface RedactKeyOptions {
  /**
   * Whether the text was cut at its end. If so, an end that may be the beginning
   * of the key is removed.
   */
  readonly isCut?: boolean;
}

/**
 * Replaces the key by its mask wherever it occurs in a text: in plain, or partly
 * or wholly escaped for JSON, HTML or a URL. Takes linear time in the length of
 * the text and of the key, whatever they hold.
 *
 * @param text Any text.
 * @param key Printable ASCII, not empty.
 */
export function redactKey(
  text: string,
  key: string,
  options: RedactKeyOptions = {},
): string {
  // The plain text is searched too: characters around the key can look like an escape.
  const found = [literal, decoded].map((read) =>
    search(text, read(text), { key, pattern: read(key) })
  );
  const end = options.isCut === true
    ? Math.min(...found.map(({ begun }) => begun))
    : text.length;
  const spans = found.flatMap(({ spans }) => spans)
    .toSorted((a, b) => a.start - b.start);
  const mask = maskKey(key);
  let redacted = "";
  let position = 0;
  for (const span of spans) {
    if (span.start > end) break;
    if (span.start >= position) {
      redacted += text.slice(position, span.start) + mask;
    }
    position = Math.max(position, span.end);
  }
  return redacted + text.slice(position, Math.max(position, end));
}

/** A character and its position in the source text: offsets in UTF-16 code units. */
interface Character {
  readonly value: string;
  /** The end of the character before it: backslashes in between were dropped. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** The characters of a text, without decoding. */
function literal(text: string): readonly Character[] {
  return text.split("").map((value, index) => ({
    value,
    from: index,
    start: index,
    end: index + 1,
  }));
}

/**
 * The characters of a text without backslashes and with every escape of printable
 * ASCII decoded, including escapes that appear by decoding. The order of decoding
 * does not matter, because no two escapes overlap.
 */
function decoded(text: string): readonly Character[] {
  const characters: Character[] = [];
  for (let index = 0; index < text.length; index++) {
    let next: Character | undefined = {
      value: text.charAt(index),
      from: characters.at(-1)?.end ?? 0,
      start: index,
      end: index + 1,
    };
    while (next !== undefined && next.value !== BACKSLASH) {
      characters.push(next);
      next = takeEscape(characters);
    }
  }
  return characters;
}

/** Removes an escape from the end of the characters and returns the decoded character. */
function takeEscape(characters: Character[]): Character | undefined {
  if (!/[\da-f;]/i.test(characters.at(-1)?.value ?? "")) return undefined;
  const tail = characters.slice(-MAX_ESCAPE_LENGTH);
  const escape = escapeAtEnd(tail.map(({ value }) => value).join(""));
  if (escape === undefined) return undefined;
  const [first] = tail.slice(-escape.length);
  const end = tail.at(-1)?.end;
  if (first === undefined || end === undefined) return undefined;
  characters.length -= escape.length;
  return { ...first, value: escape.character, end };
}

/** A part of a text that holds the key. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the key occurs in a text, and where a possible beginning of it starts at the end. */
interface Findings {
  readonly spans: readonly Span[];
  readonly begun: number;
}

/** Searches the characters of a text for those of a pattern. */
function search(
  text: string,
  characters: readonly Character[],
  { key, pattern }: {
    readonly key: string;
    readonly pattern: readonly Character[];
  },
): Findings {
  const last = pattern.at(-1);
  if (last === undefined) return { spans: [], begun: text.length };
  const borders = bordersOf(pattern);
  const spans: Span[] = [];
  let begun = text.length;
  let matched = 0;
  for (const [index, { value, end }] of characters.entries()) {
    matched = advance(pattern, borders, matched, value);
    if (matched === pattern.length) {
      const start = characters[index - matched + 1]?.from ?? 0;
      // Backslashes at the end of the key.
      const stop = last.end < key.length
        ? characters[index + 1]?.start ?? text.length
        : end;
      // A match shorter than the key is other text: no spelling is shorter than the key.
      if (stop - start >= key.length) spans.push({ start, end: stop });
      matched = borders[matched] ?? 0;
    }
    // The last characters may be the beginning of an escape.
    if (index >= characters.length - MAX_ESCAPE_LENGTH && matched > 0) {
      begun = Math.min(begun, characters[index - matched + 1]?.from ?? 0);
    }
  }
  return { spans, begun };
}

/**
 * The failure function of Knuth-Morris-Pratt: for each prefix of the pattern, the
 * length of its longest proper prefix that is also its suffix.
 */
function bordersOf(pattern: readonly Character[]): readonly number[] {
  const borders = [0, 0];
  for (let length = 2; length <= pattern.length; length++) {
    const value = pattern[length - 1]?.value;
    borders.push(advance(pattern, borders, borders[length - 1] ?? 0, value));
  }
  return borders;
}

/** The number of matched characters after a character, given the number before it. */
function advance(
  pattern: readonly Character[],
  borders: readonly number[],
  matched: number,
  value: string | undefined,
): number {
  let length = matched;
  while (length > 0 && pattern[length]?.value !== value) {
    length = borders[length] ?? 0;
  }
  return pattern[length]?.value === value ? length + 1 : 0;
}

/** An escape and the character that it encodes. */
interface Escape {
  readonly length: number;
  readonly character: string;
}

const ESCAPE_AT_END =
  /(?:%([\da-f]{2})|u00([\da-f]{2})|&#x([\da-f]{1,5});|&#(\d{1,6});|(&[a-z]{2,4};))$/i;

/** The escape at the end of a text of at most {@linkcode MAX_ESCAPE_LENGTH}, if any. */
function escapeAtEnd(text: string): Escape | undefined {
  const match = ESCAPE_AT_END.exec(text);
  if (match === null) return undefined;
  const [{ length }, url, json, hex, decimal, entity] = match;
  const digits = url ?? json ?? hex;
  const code = digits === undefined
    ? Number(decimal)
    : Number.parseInt(digits, 16);
  const character = entity === undefined ? printable(code) : ENTITIES[entity];
  return character === undefined ? undefined : { length, character };
}

/** The character with this code, if it can occur in a key. */
function printable(code: number): string | undefined {
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : undefined;
}
