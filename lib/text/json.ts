/**
 * JSON from outside the program, and for a terminal.
 *
 * @module
 */

/** Parses JSON; returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. */
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
