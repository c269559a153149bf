import { plainLine, shorten } from "../text.ts";

/** The longest title of a session, in characters. */
export const MAX_TITLE_LENGTH = 80;

/** How much of a line is looked at, in UTF-16 code units. */
const MAX_LINE_LENGTH = 4096;

/** Lines that say nothing: a code fence, a lone tag, the marks of a heading. */
const SAYS_NOTHING =
  /^(?:(?:`{3,}|~{3,})[^`]*|<\/?[a-z][\w.-]*(?:\s[^<>]*)?\/?>|#+)$/i;

/**
 * The title of a session, from its first prompt: the first meaningful line, cleaned and
 * cut to 80 characters. `undefined` if no line is meaningful.
 */
export function titleIn(prompt: string): string | undefined {
  for (const [line] of prompt.matchAll(/\S.*/g)) {
    const words = plainLine(shorten(line, MAX_LINE_LENGTH)).trim();
    if (words === "" || SAYS_NOTHING.test(words)) continue;
    return Array.from(words).slice(0, MAX_TITLE_LENGTH).join("");
  }
  return undefined;
}
