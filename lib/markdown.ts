/**
 * Markdown for a terminal: adds styles and keeps the text unchanged. Of code,
 * quotes, lists and links, only the signs are coloured: their text keeps the
 * terminal's own colour, which is readable.
 *
 * @module
 */

import { styleInline } from "./markdown/inline.ts";
import {
  BOLD,
  CYAN,
  DIM,
  GREEN,
  RED,
  SgrLine,
  UNDERLINE,
} from "./markdown/sgr_line.ts";

/** The most markers of quotes and lists at the start of a line; further ones are text. */
const MAX_DEPTH = 32;

/** The marker of a quote, or of a list item. */
const MARKER = /[ \t]*(>|(?:[-+*]|\d{1,9}[.)])(?![^ \t]))/y;
const QUOTE = /[ \t]*> ?/y;
const BREAK = /[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}$/y;
const HEADING = /[ \t]*(#{1,6})(?:[ \t]+|$)/y;
/** A fence and its language. If backticks follow, the line holds a code span. */
const FENCE = /[ \t]*(?:(`{3,})([^`]*)|(~{3,})([^]*))$/y;
const FENCE_END = /[ \t]*(`{3,}|~{3,})[ \t]*$/y;
const DIFF = /^[ \t]*(?:diff|patch)\b/i;
/** A line that makes the line before it a heading: `=` of level 1, `-` of level 2. */
const UNDERLINES = / {0,3}(?:(=)+|-+)[ \t]*$/my;
const INDENTED = /^(?: {4}| {0,3}\t)/;

/**
 * Styles the Markdown of a text, in linear time.
 *
 * @param text Text without escape sequences.
 * @returns Its lines, with their line ends. They differ from the text only by SGR
 * sequences, whose effect ends on the same line.
 */
export function* styleMarkdown(text: string): Generator<string> {
  const styler = new MarkdownStyler();
  let start = 0;
  for (;;) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    const underline = matchAt(UNDERLINES, text, end + 1);
    const level = underline === null ? 0 : underline[1] === "=" ? 1 : 2;
    yield styler.line(text.slice(start, end), level) + "\n";
    start = end + 1;
  }
  if (start < text.length) yield styler.line(text.slice(start), 0);
}

/** The opening fence of a code block. */
interface Fence {
  /** Backticks or tildes. */
  readonly sign: string;
  /** How many markers of quotes are before it. */
  readonly quotes: number;
  /** How far the code is indented after them, in characters. */
  readonly indent: number;
  readonly isDiff: boolean;
}

/** Styles the lines of one text, in their order. */
class MarkdownStyler {
  /** The fenced code block that is open. */
  #fence: Fence | undefined;

  /** Whether the line before is a heading that this line underlines. */
  #isUnderline = false;

  /** @param underlined The level of the heading that the next line makes it, or 0. */
  line(source: string, underlined: number): string {
    const line = new SgrLine(source);
    const isCode = this.#fence !== undefined &&
      this.#fenced(line, source, this.#fence);
    if (!isCode) this.#block(line, source, underlined);
    return line.finish();
  }

  /** Styles a line of a fenced code block. Returns `false` if the quote around it has ended. */
  #fenced(line: SgrLine, source: string, fence: Fence): boolean {
    let at = 0;
    for (let i = 0; i < fence.quotes; i++) {
      const quote = matchAt(QUOTE, source, at);
      if (quote === null) {
        this.#fence = undefined;
        return false;
      }
      const sign = at + quote[0].indexOf(">");
      line.to(sign, 0);
      line.to(sign + 1, GREEN);
      at += quote[0].length;
    }
    const end = matchAt(FENCE_END, source, at)?.[1];
    if (end?.startsWith(fence.sign)) {
      this.#fence = undefined;
      line.to(source.length, CYAN);
    } else if (fence.isDiff) {
      const first = source.charAt(at + fence.indent);
      line.to(at, 0);
      line.to(source.length, first === "+" ? GREEN : first === "-" ? RED : 0);
    }
    return true;
  }

  /** Styles a line outside of fenced code blocks. */
  #block(line: SgrLine, source: string, underlined: number): void {
    const isUnderline = this.#isUnderline;
    this.#isUnderline = false;
    if (isUnderline) return line.to(source.length, DIM);
    let at = 0;
    let quotes = 0;
    let quoted = 0; // where the content of the innermost quote begins
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const isBreak = matchAt(BREAK, source, at) !== null;
      const marker = isBreak ? null : matchAt(MARKER, source, at);
      if (marker === null) break;
      const [{ length }, sign = ""] = marker;
      at += length;
      line.to(at - sign.length, 0);
      line.to(at, sign === ">" ? GREEN : CYAN);
      if (sign === ">") {
        quotes++;
        quoted = source.charAt(at) === " " ? at + 1 : at;
      }
    }
    const heading = matchAt(HEADING, source, at);
    const fence = matchAt(FENCE, source, at);
    if (fence !== null) {
      const sign = fence[1] ?? fence[3] ?? "";
      const isDiff = DIFF.test(fence[2] ?? fence[4] ?? "");
      const start = source.indexOf(sign, at);
      this.#fence = { sign, quotes, indent: start - quoted, isDiff };
      line.to(start, 0);
      line.to(start + sign.length, CYAN);
    } else if (at === 0 && INDENTED.test(source)) {
      // Probably code. If it is a paragraph of a list, it only lacks its styles.
    } else if (matchAt(BREAK, source, at) !== null) {
      line.to(source.length, DIM);
    } else if (heading !== null) {
      const [{ length }, { length: level } = ""] = heading;
      line.to(source.indexOf("#", at), 0);
      line.to(source.indexOf("#", at) + level, DIM);
      line.to(at + length, 0);
      styleInline(line, source, at + length, headingStyle(level));
    } else if (underlined > 0 && at === 0 && source.trim() !== "") {
      this.#isUnderline = true;
      styleInline(line, source, at, headingStyle(underlined));
    } else {
      styleInline(line, source, at, 0);
    }
  }
}

function headingStyle(level: number): number {
  return level === 1 ? BOLD | UNDERLINE : BOLD;
}

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
