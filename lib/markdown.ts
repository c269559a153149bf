/**
 * Markdown for a terminal: adds styles, line by line, and keeps the text unchanged.
 * Nothing is coloured, because everything has to be read: the markers of code, quotes
 * and lists are bold, and so are changed lines of diffs.
 *
 * @module
 */

import { COLOURED } from "./text.ts";

/** Longer lines are data rather than prose, in UTF-16 code units. */
const MAX_LENGTH = 4 * 1024;

/** A fence, within quotes and lists, too. With backticks after it, it is a code span. */
const FENCE = /^([ \t>]*)(?:(`{3,})(?=[^`]*$)|(~{3,}))(.*)$/;
const DIFF = /^[ \t]*(?:diff|patch)\b/i;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** The markers of quotes and lists at the start of a line. */
const MARKERS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+/;

/** Code, bold text or italics. Linear: the text of a span has no marker of its kind. */
const INLINE =
  /(?<!`)(`+)[^`]+\1(?!`)|(?<![*\\])\*\*[^\s*](?:[^*]*[^\s*])?\*\*(?!\*)|(?<![\w*\\])\*[^\s*`](?:[^*`]*[^\s*`])?\*(?![\w*])/g;

/**
 * Styles the Markdown of a text, in linear time.
 *
 * @param text Text without escape sequences.
 * @returns Its lines, with their newlines. They differ from the text only by SGR
 * sequences, whose effect ends on the same line.
 */
export function* styleMarkdown(text: string): Generator<string> {
  let fence: Fence | undefined; // the block that is open
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    start = end + 1;
    let styled = line;
    if (line.length <= MAX_LENGTH) {
      const found = fenceOf(line);
      if (fence === undefined) {
        fence = found;
        styled = found === undefined ? styleLine(line) : COLOURED.bold(line);
      } else if (
        found?.words.trim() === "" && found.marker.startsWith(fence.marker)
      ) {
        fence = undefined;
        styled = COLOURED.bold(line);
      } else if (
        DIFF.test(fence.words) && /[-+]/.test(line.charAt(fence.indent))
      ) {
        styled = COLOURED.bold(line);
      }
    }
    yield newline < 0 ? styled : `${styled}\n`;
  }
}

/** The line that begins or ends a fenced block. */
interface Fence {
  /** How many characters come before each line of its code. */
  readonly indent: number;
  readonly marker: string;
  /** What comes after the marker: the language. */
  readonly words: string;
}

function fenceOf(line: string): Fence | undefined {
  const [, before = "", ticks, tildes, words = ""] = FENCE.exec(line) ?? [];
  const marker = ticks ?? tildes;
  if (marker === undefined) return undefined;
  return { indent: before.length, marker, words };
}

/** Styles a line outside of fenced code blocks. */
function styleLine(line: string): string {
  if (HEADING.test(line)) return COLOURED.bold(line);
  const [markers = ""] = MARKERS.exec(line) ?? [];
  const styled = styleInline(line.slice(markers.length));
  return markers === "" ? styled : COLOURED.bold(markers) + styled;
}

/** Styles code spans and emphasis that hold no further marker of their kind. */
function styleInline(text: string): string {
  return text.replace(INLINE, (span: string, ticks = "") => {
    if (ticks !== "") {
      const code = span.slice(ticks.length, -ticks.length);
      return COLOURED.bold(ticks) + code + COLOURED.bold(ticks);
    }
    return span.startsWith("**") ? COLOURED.bold(span) : italic(span);
  });
}

function italic(text: string): string {
  return `\x1b[3m${text}\x1b[23m`;
}
