import { withWholeCharacters } from "./foreign_text.ts";

/** Shorter JSON is parsed whatever it holds, in UTF-16 code units. */
export const SHORT_JSON = 64 * 1024;

/** The most brackets, braces, commas and colons outside of strings. */
export const MAX_SIGNS = 250_000;

/**
 * Whether JSON holds so many values that parsing it would take a hundred times its
 * size: more than {@linkcode MAX_SIGNS} brackets, braces, commas and colons outside
 * of strings.
 */
export function holdsTooMuch(json: string): boolean {
  if (json.length <= SHORT_JSON) return false;
  let signs = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case '"':
        index = endOfString(json, index);
        break;
      case "{":
      case "}":
      case "[":
      case "]":
      case ",":
      case ":":
        if (++signs > MAX_SIGNS) return true;
    }
  }
  return false;
}

function endOfString(json: string, start: number): number {
  for (let end = start;;) {
    end = json.indexOf('"', end + 1);
    if (end < 0) return json.length;
    let backslashes = 0;
    while (json[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

/** The value of foreign JSON; `undefined` if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(withWholeCharacters(text));
  } catch {
    return undefined;
  }
}

export function isJsonObject(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Escapes the control characters that JSON leaves as they are (DEL, C1, line
 * separators and the characters that reorder others), so that it can be shown on
 * a terminal. The value stays the same.
 *
 * @param json JSON.
 */
export function escapeControls(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
