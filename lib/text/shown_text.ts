import { withoutKey } from "./key_redaction.ts";
import { plainText } from "./plain_text.ts";

/** The most UTF-16 code units that are shown by default. */
const MAX_LENGTH = 500;

/** How much of a text is looked at, in UTF-16 code units: decoding it takes time. */
const MAX_SEARCHED = 64 * 1024;

export interface ShownTextOptions {
  /** The key, which must not be shown. */
  readonly apiKey: string;
  /** Whether the text was cut at its end, where the key may have begun. */
  readonly isCut?: boolean;
  /** The most UTF-16 code units that are shown. The default is 500. */
  readonly maxLength?: number;
}

/**
 * A text of the service, safe to show: clean, on one line of limited length, and
 * left out as a whole if the key occurs in it.
 */
export function shownText(
  text: string,
  { apiKey, isCut = false, maxLength = MAX_LENGTH }: ShownTextOptions,
): string {
  // Cleaned first: removing characters within a key could restore the key.
  const start = text.slice(0, MAX_SEARCHED);
  const plain = plainText(start.replaceAll(/\s+/g, " ")).trim();
  return withoutKey(plain, apiKey, isCut || start !== text)
    .slice(0, maxLength).toWellFormed();
}
