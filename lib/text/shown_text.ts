import { holdsKey } from "./key_search.ts";
import { plainText } from "./plain_text.ts";

/** How many characters are shown by default. */
const MAX_LENGTH = 500;

/**
 * How many characters of the key's beginning are searched for at the end of a
 * text that was cut.
 */
const KEY_START = 16;

/** What is shown in place of a text that holds the key. */
const LEFT_OUT = "left out, because it holds the API key";

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
  const plain = plainText(text.replaceAll(/\s+/g, " ")).trim();
  const key = isCut ? apiKey.slice(0, KEY_START) : apiKey;
  if (holdsKey(plain, key)) return LEFT_OUT;
  return plain.slice(0, maxLength).toWellFormed();
}
