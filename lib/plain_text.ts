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

// Control characters but tab and newline, and what reorders the text around it.
const CONTROLS = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

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
