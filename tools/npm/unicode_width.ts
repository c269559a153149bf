// `deno-std` leaves out the tables of the standard library's own.
import { eastAsianWidth } from "get-east-asian-width";

/** How many columns of a terminal a text takes. */
export function unicodeWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/^[\p{Cc}\p{Cf}\p{Me}\p{Mn}]$/u.test(character)) continue;
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
