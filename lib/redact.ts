/**
 * The API key in text that comes from outside.
 *
 * @module
 */

import { maskKey } from "./settings.ts";

/** The most characters that one character of the key takes when it is escaped. */
export const MAX_ESCAPE_LENGTH = 6; // &quot;

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Puts the mask in the place of the key, wherever it stands in a text: as it is,
 * or escaped for JSON, HTML or a URL.
 */
export function redactKey(text: string, key: string): string {
  const mask = maskKey(key);
  const inJson = JSON.stringify(key).slice(1, -1);
  const spellings = new Set([
    key,
    inJson,
    inJson.replaceAll("/", "\\/"),
    encodeURIComponent(key),
    key.replaceAll(/[&<>"']/g, (character) => HTML[character] ?? character),
  ]);
  for (const spelling of spellings) {
    text = text.replaceAll(spelling, () => mask); // "$&" in a mask is text
  }
  return text;
}
