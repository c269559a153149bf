/**
 * Escapes the control characters that JSON leaves as they are (DEL, C1, line
 * separators and bidirectional controls), so that it can be shown on a terminal.
 * The value stays the same.
 *
 * @param json JSON.
 */
export function escapeControls(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u2028\u2029]|\p{Bidi_Control}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
