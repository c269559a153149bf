// Replaces `@std/cli` 1.0.32, whose tables `deno-std` omits. These tables are of
// Unicode 17, those of `@std/cli` of Unicode 15.
import { eastAsianWidth } from "get-east-asian-width";

/** Characters that take no column: marks, and what joins a Hangul syllable. */
const ZERO = /^[\p{Cc}\p{Cf}\p{Me}\p{Mn}\u1160-\u11ff]$/u;
const SOFT_HYPHEN = "\u00ad";

/** How many columns of a terminal a text takes. */
export function unicodeWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (ZERO.test(character) && character !== SOFT_HYPHEN) continue;
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
