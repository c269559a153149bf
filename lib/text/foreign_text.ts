/**
 * The gate for foreign text: what a user, an editor or the service wrote.
 *
 * Text enters the program as UTF-8 or as JSON. A decoder of UTF-8 yields whole
 * characters, but the escapes of JSON can spell half of a surrogate pair, such as
 * `\ud83d` of an emoji that was cut. Strict readers of JSON (Python, Rust) refuse such a
 * half, so none is passed on, and no text is cut within a character.
 *
 * A line can have 16 MiB. Only native functions process all of it at once, because a
 * function that is called for each match takes seconds; the rest is done in parts.
 *
 * @module
 */

/** The same text, with U+FFFD in place of each half of a surrogate pair. */
export function wholeCharacters(text: string): string {
  return text.toWellFormed();
}

/** At most `maxLength` UTF-16 code units of a text, which is cut between characters. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? maxLength - 1 : maxLength);
}

/** A text in parts of at most `maxLength` code units, cut between characters. */
export function* inParts(text: string, maxLength: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    const part = shorten(text.slice(start, start + maxLength + 1), maxLength);
    yield part;
    start += part.length;
  }
}

/** Whether a text contains NUL. No prompt may: many programs end a text there. */
export function containsNul(text: string): boolean {
  return text.includes("\0");
}

/** The length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
