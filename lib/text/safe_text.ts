/**
 * The types of texts that may be shown, sent or kept. A text that somebody else wrote is
 * a `string` at first, which is not assignable to any of them: a function that checks or
 * cleans it returns the type. Only the modules of this folder do.
 *
 * @module
 */

import { byteLength, wholeCharacters } from "./foreign_text.ts";

declare const kinds: unique symbol;
export type Branded<Kinds extends string> = string & {
  readonly [kinds]: Readonly<Record<Kinds, true>>;
};

/**
 * Of whole characters, bounded, and without pieces of the key: what a `Redactor` makes of
 * a foreign text, and {@linkcode safe} of this program's own words.
 */
export type Redacted = Branded<"redacted"> | "";

/** The text of a prompt or a reply: of whole characters, and otherwise unchanged. */
export type Unchanged = Branded<"unchanged">;

/** The id of a thread or a run: bounded, unchanged, and not the key. It may be shown. */
export type ServiceId = Branded<"redacted" | "id">;

export function unchanged(text: string): Unchanged {
  return wholeCharacters(text) as Unchanged;
}

/**
 * Whether a text can be the id of a thread or a run: 1 to 1,024 bytes of UTF-8.
 * `.` and `..` cannot, because no encoding protects them in a path. Nor can a text with
 * U+FFFD, which replaces invalid bytes, or with half of a surrogate pair.
 */
export function isServiceId(id: string): id is ServiceId {
  return id.length <= 1024 && byteLength(id) <= 1024 &&
    !/^\.{0,2}$/.test(id) && !wholeCharacters(id).includes("\ufffd");
}

/** What a text in own words may contain: a number, a safe text or a literal. */
export type Part<T, Safe = Redacted> = T extends number | Safe ? T
  : T extends Branded<never> ? never
  : string extends T ? never
  : T;

/** The parts of a text in own words. */
export type Parts<All extends readonly unknown[], Safe> = {
  readonly [Index in keyof All]: Part<All[Index], Safe>;
};

/**
 * A sentence in this program's own words. Foreign words in it must be safe themselves.
 *
 * @example
 * ```ts
 * safe`The service answered ${status}: ${redactor.show(words)}`;
 * ```
 */
export function safe<const All extends readonly (string | number)[]>(
  own: TemplateStringsArray,
  ...parts: Parts<All, Redacted>
): Redacted {
  return String.raw({ raw: own }, ...parts) as Redacted;
}

/** Safe texts in a row, but for those that are empty or missing. */
export function joinSafe<const All extends readonly (string | undefined)[]>(
  texts: All & Parts<All, Redacted | undefined>,
  separator: ", " | "; " | ": " | " " | "",
): Redacted {
  return texts.filter(Boolean).join(separator) as Redacted;
}
