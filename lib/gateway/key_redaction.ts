/**
 * The API key in text that comes from outside.
 *
 * @module
 */

import { maskKey } from "../key_mask.ts";

/** The most characters that one character of the key takes when it is escaped. */
export const MAX_ESCAPE_LENGTH = 6; // &quot;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/**
 * Puts the mask in the place of the key, wherever it stands in a text: as it is,
 * or escaped for JSON, HTML or a URL, in part or as a whole.
 */
export function redactKey(text: string, key: string): string {
  const mask = maskKey(key);
  const spellings = new RegExp(Array.from(key, spellingsOf).join(""), "g");
  return text.replace(spellings, () => mask); // "$&" in a mask is text
}

/** A pattern for one printable ASCII character of the key. */
function spellingsOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16)
    .replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const spellings = [
    `\\\\?\\x${code.toString(16)}`, // plain, or behind a backslash
    `\\\\u00${hex}`,
    `%${hex}`,
    `&#${code};`,
    `&#[xX]${hex};`,
  ];
  const entity = ENTITIES[character];
  if (entity !== undefined) spellings.push(entity);
  return `(?:${spellings.join("|")})`;
}
