import { plainLine, plainText } from "./plain_text.ts";
import type { Branded, Parts, Redacted, Unchanged } from "./safe_text.ts";

/** Text for a terminal or a log: it has no control character but those of its styles. */
export type Shown = Branded<"shown"> | "";

/** A text on one line, clean. */
export function shownLine(text: Redacted | Unchanged): Shown {
  return plainLine(text) as Shown;
}

/** A reply, clean, with its lines. */
export function shownReply(text: Unchanged): Shown {
  return plainText(text) as Shown;
}

/** Lines in this program's own words. Foreign words in them must be clean. */
export function shown<const All extends readonly (string | number)[]>(
  own: TemplateStringsArray,
  ...parts: Parts<All, Shown>
): Shown {
  return String.raw({ raw: own }, ...parts) as Shown;
}

/** Quotes a text as one word for a POSIX shell. */
export function quotedForShell(text: Shown): Shown {
  return `'${text.replaceAll("'", "'\\''")}'` as Shown;
}
