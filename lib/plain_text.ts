/**
 * Text from outside made safe to show on a terminal.
 *
 * @module
 */

// Each alternative stops at the next control character, so that no input takes
// more than linear time. An unterminated string sequence loses its introducer
// alone: what follows is shown as text.
const ESCAPE_SEQUENCES = new RegExp(
  [
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]", // CSI
    "(?:\\x1b[\\]PX^_]|[\\x9d\\x90\\x98\\x9e\\x9f])" + // OSC, DCS, SOS, PM, APC
    "[^\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)",
    "\\x1b[ -/]*[0-~]", // all others
  ].join("|"),
  "g",
);

// C0 but tab and newline, DEL, C1, and what reorders the text around it.
// deno-lint-ignore no-control-regex -- they are what it is about
const CONTROLS =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/**
 * Removes escape sequences, control characters other than `\n` and `\t`, and
 * bidirectional controls, so that a text cannot recolour, retitle, move the
 * cursor, write to the clipboard, or show in another order than it has.
 */
export function plainText(text: string): string {
  return text.replace(ESCAPE_SEQUENCES, "").replace(CONTROLS, "");
}

/** {@linkcode plainText} on one line: line ends and tabs become spaces. */
export function plainLine(text: string): string {
  return plainText(text).replace(/[\n\t]+/g, " ");
}
