/**
 * Markdown for a terminal: adds styles, line by line, and keeps the text unchanged.
 * Prose keeps the terminal's own colour. The markers of code, quotes and lists are cyan,
 * and diffs have the colours of git, which repeat what the first character of each line
 * says.
 *
 * @module
 */

import { COLOURED, type Shown } from "./text.ts";

/** Longer lines are data rather than prose, in UTF-16 code units. */
const MAX_LENGTH = 4 * 1024;

/** A fence, within quotes and lists, too. With backticks after it, it is a code span. */
const FENCE = /^([ \t>]*)(?:(`{3,})(?=[^`]*$)|(~{3,}))(.*)$/;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** The markers of quotes and lists at the start of a line. */
const MARKERS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))+/;

/** The language of a fenced block that is a diff. */
const DIFF = /^[ \t]*(?:diff|patch)\b/i;
/** The lines of a diff that name its files. */
const DIFF_HEADER = /^(?:diff|index|---|\+\+\+) /;
/** The place of a hunk, which the line of its function may follow. */
const HUNK = /^@@(?:.*@@)?/;

/** Code, bold text or italics. Linear: the text of a span has no marker of its kind. */
const INLINE =
  /(?<!`)(`+)[^`]+\1(?!`)|(?<![*\\])\*\*[^\s*](?:[^*]*[^\s*])?\*\*(?!\*)|(?<![\w*\\])\*[^\s*`](?:[^*`]*[^\s*`])?\*(?![\w*])/g;

/**
 * Styles the Markdown of a text, in linear time.
 *
 * @returns Its lines, with their newlines. They differ from the text only by SGR
 * sequences, whose effect ends on the same line.
 */
export function* styleMarkdown(text: Shown): Generator<string> {
  /** The fence of the open block. */
  let block: Fence | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    start = end + 1;

    const fence = fenceOf(line);
    const isEdge = fence !== undefined &&
      (block === undefined || closes(fence, block));
    const styled = isEdge ? styleFence(fence) : styleLine(line, block);
    if (isEdge) block = block === undefined ? fence : undefined;
    yield newline < 0 ? styled : `${styled}\n`;
  }
}

/** The line that begins or ends a fenced block. */
interface Fence {
  readonly before: string;
  readonly marker: string;
  /** What comes after the marker: the language. */
  readonly words: string;
}

function fenceOf(line: string): Fence | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  const [, before = "", ticks, tildes, words = ""] = FENCE.exec(line) ?? [];
  const marker = ticks ?? tildes;
  return marker === undefined ? undefined : { before, marker, words };
}

function closes({ marker, words }: Fence, block: Fence): boolean {
  return words.trim() === "" && marker.startsWith(block.marker);
}

function styleFence({ before, marker, words }: Fence): string {
  return before + COLOURED.cyan(marker) + words;
}

/** Styles a line of a fenced block, or of no block. */
function styleLine(line: string, block: Fence | undefined): string {
  if (line.length > MAX_LENGTH) return line;
  if (block === undefined) return styleProse(line);
  if (!DIFF.test(block.words)) return line;
  const indent = block.before.length;
  return line.slice(0, indent) + styleDiff(line.slice(indent));
}

/** Styles a line of a diff as git does. */
function styleDiff(line: string): string {
  if (DIFF_HEADER.test(line)) return COLOURED.bold(line);
  if (line.startsWith("+")) return COLOURED.green(line);
  if (line.startsWith("-")) return COLOURED.red(line);
  return line.replace(HUNK, COLOURED.cyan);
}

function styleProse(line: string): string {
  if (HEADING.test(line)) return COLOURED.bold(line);
  const [markers = ""] = MARKERS.exec(line) ?? [];
  const styled = styleInline(line.slice(markers.length));
  return markers === "" ? styled : COLOURED.cyan(markers) + styled;
}

/** Styles code spans and emphasis that contain no other marker of their kind. */
function styleInline(text: string): string {
  return text.replace(INLINE, (span: string, ticks = "") => {
    if (ticks !== "") {
      const code = span.slice(ticks.length, -ticks.length);
      return COLOURED.cyan(ticks) + code + COLOURED.cyan(ticks);
    }
    return span.startsWith("**") ? COLOURED.bold(span) : italic(span);
  });
}

function italic(text: string): string {
  return `\x1b[3m${text}\x1b[23m`;
}
