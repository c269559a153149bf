/**
 * Markdown for a terminal: adds styles and keeps the text unchanged.
 *
 * The block structure follows CommonMark 0.31.2 (https://spec.commonmark.org),
 * one line at a time. Of the constructs that depend on later lines, headings of one
 * line that are underlined are supported, outside of quotes and lists.
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
  StyledLine,
  UNDERLINE,
} from "./markdown/styled_line.ts";

/**
 * The deepest nesting of quotes and list items; markers of deeper ones are text.
 * Limits the state between lines and the work for a line of markers.
 */
const MAX_DEPTH = 32;

const TAB_WIDTH = 4;

/** The indent at which text is code, in columns. */
const CODE_INDENT = 4;

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
    const underline = underlineAt(text, end + 1);
    yield styler.line(text.slice(start, end), underline) + "\n";
    start = end + 1;
  }
  if (start < text.length) yield styler.line(text.slice(start), undefined);
}

/** The underline of a heading: `=` for the first level, `-` for the second. */
type Underline = "=" | "-" | undefined;

const UNDERLINED = / {0,3}(?:(=)+|-+)[ \t]*$/my;

/** The underline that is the line at an index, if it is one. */
function underlineAt(text: string, start: number): Underline {
  UNDERLINED.lastIndex = start;
  const match = UNDERLINED.exec(text);
  if (match === null) return undefined;
  return match[1] === undefined ? "-" : "=";
}

/** A quote, or a list item whose content is indented by `width` columns. */
type Container =
  | { readonly kind: "quote" }
  | { readonly kind: "item"; readonly width: number };

/** The opening fence of a code block: backticks or tildes, and their number. */
interface Fence {
  readonly character: string;
  readonly length: number;
  /** Whether the code is a diff. */
  readonly isDiff: boolean;
}

/** The content of a line after the markers of its containers. */
type Leaf =
  | { readonly kind: "blank" }
  | { readonly kind: "text" }
  | { readonly kind: "code" }
  | { readonly kind: "break" }
  | { readonly kind: "heading"; readonly level: number }
  | { readonly kind: "underlined heading"; readonly level: number }
  | { readonly kind: "underline" }
  | { readonly kind: "fence"; readonly fence: Fence };

/** Styles the lines of one text, in their order. */
class MarkdownStyler {
  /** The quotes and list items that are open, from the outermost to the innermost. */
  readonly #containers: Container[] = [];
  /** The fenced code block that is open in the innermost container. */
  #fence: Fence | undefined;
  /** Whether the previous line was part of a paragraph. */
  #isParagraph = false;
  /** Whether the previous line was a heading that this line underlines. */
  #isUnderline = false;

  /** @param next The next line, if it is an underline. */
  line(source: string, next: Underline): string {
    const line = new StyledLine(source);
    const cursor = new Cursor(source);
    const depth = this.#enter(line, cursor);
    if (depth < this.#containers.length) this.#fence = undefined;
    if (this.#fence === undefined) this.#block(line, cursor, { depth, next });
    else this.#fenced(line, cursor, this.#fence);
    return line.finish();
  }

  /** Moves past the markers and indents of the open containers. Returns how many were there. */
  #enter(line: StyledLine, cursor: Cursor): number {
    let depth = 0;
    for (const container of this.#containers) {
      if (container.kind === "quote") {
        if (!isQuoteMarker(cursor)) break;
        takeQuoteMarker(line, cursor);
      } else if (!cursor.isAtEnd) {
        if (cursor.indent < container.width) break;
        cursor.outdent(container.width);
      }
      depth++;
    }
    return depth;
  }

  /** A line of a fenced code block, or its end. */
  #fenced(line: StyledLine, cursor: Cursor, fence: Fence): void {
    const length = cursor.runOf(fence.character);
    const isEnd = cursor.indent < CODE_INDENT && length >= fence.length &&
      isBlank(cursor.source, cursor.position + length);
    if (isEnd) this.#fence = undefined;
    line.to(cursor.position, 0);
    const code = fence.isDiff ? diffColour(cursor) : CYAN;
    line.to(cursor.source.length, isEnd ? DIM : this.#base | code);
  }

  /** A line outside of fenced code blocks that continues `depth` containers. */
  #block(
    line: StyledLine,
    cursor: Cursor,
    { depth, next }: { readonly depth: number; readonly next: Underline },
  ): void {
    const begun: Container[] = [];
    while (depth + begun.length < MAX_DEPTH) {
      const interrupts = this.#isParagraph && begun.length === 0 &&
        depth === this.#containers.length;
      const container = takeContainer(line, cursor, interrupts);
      if (container === undefined) break;
      begun.push(container);
    }
    const continues = this.#isParagraph && begun.length === 0;
    let leaf = leafAt(cursor, continues);
    const isOutside = depth + begun.length === 0;
    if (this.#isUnderline) {
      leaf = { kind: "underline" };
    } else if (isOutside && next && !continues && leaf.kind === "text") {
      leaf = { kind: "underlined heading", level: next === "=" ? 1 : 2 };
    }
    this.#isUnderline = leaf.kind === "underlined heading";
    // A paragraph may continue without the markers of its containers (lazy continuation).
    if (!continues || leaf.kind !== "text") {
      this.#containers.length = depth;
      this.#containers.push(...begun);
    }
    this.#isParagraph = leaf.kind === "text";
    this.#leaf(line, cursor, leaf);
  }

  #leaf(line: StyledLine, cursor: Cursor, leaf: Leaf): void {
    const { source, position } = cursor;
    const base = this.#base;
    line.to(position, 0);
    switch (leaf.kind) {
      case "blank":
        return;
      case "text":
        return styleInline(line, source, position, base);
      case "code":
        return line.to(source.length, base | CYAN);
      case "break":
      case "underline":
        return line.to(source.length, DIM);
      case "underlined heading":
        return styleInline(
          line,
          source,
          position,
          base | headingOf(leaf.level),
        );
      case "heading": {
        const text = position + leaf.level;
        line.to(text, DIM);
        const start = text + cursor.spaceAfter(leaf.level);
        line.to(start, 0);
        return styleInline(line, source, start, base | headingOf(leaf.level));
      }
      case "fence":
        this.#fence = leaf.fence;
        return line.to(source.length, DIM);
    }
  }

  /** The SGR attributes that the open containers (quotes, lists) give to their text. */
  get #base(): number {
    return this.#containers.some(({ kind }) => kind === "quote") ? GREEN : 0;
  }
}

/** The attributes of a heading. */
function headingOf(level: number): number {
  return level === 1 ? BOLD | UNDERLINE : BOLD;
}

/** The colour of a line of a diff. */
function diffColour({ indent, next }: Cursor): number {
  if (indent > 0) return CYAN;
  return next === "+" ? GREEN : next === "-" ? RED : CYAN;
}

/** The parser's position in a line: always before a non-blank character, or at the end. */
class Cursor {
  readonly source: string;
  /** The index of the next character, in UTF-16 code units. */
  position = 0;
  #column = 0; // the column of the next character
  #taken = 0; // the column at which the containers' part of the line ends

  constructor(source: string) {
    this.source = source;
    this.#skipSpace();
  }

  get isAtEnd(): boolean {
    return this.position === this.source.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.source.charAt(this.position);
  }

  /** The white space before the next character, in columns. */
  get indent(): number {
    return this.#column - this.#taken;
  }

  /** Assigns columns of white space to a container. */
  outdent(columns: number): void {
    this.#taken += columns;
  }

  /** Moves past a marker and the white space after it. */
  take(length: number): void {
    this.position += length;
    this.#column += length;
    this.#taken = this.#column;
    this.#skipSpace();
  }

  /** The number of times that a character is repeated here. */
  runOf(character: string): number {
    let end = this.position;
    while (this.source.charAt(end) === character) end++;
    return end - this.position;
  }

  /** The white space after a number of characters, in columns. */
  spaceAfter(length: number): number {
    const start = this.position + length;
    let end = start;
    while (isSpace(this.source.charAt(end))) end++;
    return end - start;
  }

  #skipSpace(): void {
    while (isSpace(this.next)) {
      this.#column += this.next === "\t"
        ? TAB_WIDTH - this.#column % TAB_WIDTH
        : 1;
      this.position++;
    }
  }
}

function isSpace(character: string): boolean {
  return character === " " || character === "\t";
}

function isBlank(text: string, start: number): boolean {
  let end = start;
  while (isSpace(text.charAt(end))) end++;
  return end === text.length;
}

function isQuoteMarker(cursor: Cursor): boolean {
  return cursor.indent < CODE_INDENT && cursor.next === ">";
}

function takeQuoteMarker(line: StyledLine, cursor: Cursor): void {
  line.to(cursor.position, 0);
  line.to(cursor.position + 1, GREEN | DIM);
  cursor.take(1);
  if (cursor.indent > 0) cursor.outdent(1);
}

/** Moves past the marker of a container that begins here, if one does. */
function takeContainer(
  line: StyledLine,
  cursor: Cursor,
  interruptsParagraph: boolean,
): Container | undefined {
  if (isQuoteMarker(cursor)) {
    takeQuoteMarker(line, cursor);
    return { kind: "quote" };
  }
  const { indent, position, source } = cursor;
  if (indent >= CODE_INDENT || isThematicBreak(source, position)) return;
  const length = listMarkerLength(source, position, interruptsParagraph);
  if (length === 0) return;
  line.to(position, 0);
  line.to(position + length, BOLD);
  cursor.take(length);
  // White space beyond one column belongs to indented code, or is ignored.
  const padding = cursor.isAtEnd || cursor.indent > CODE_INDENT
    ? 1
    : cursor.indent;
  cursor.outdent(padding);
  return { kind: "item", width: indent + length + padding };
}

/** The length of a list marker; 0 if there is none. */
function listMarkerLength(
  source: string,
  start: number,
  interruptsParagraph: boolean,
): number {
  // At most nine digits, followed by white space or the end of the line.
  const [marker = "", number] = /^(?:[-+*]|(\d{1,9})[.)])(?![^ \t])/.exec(
    source.slice(start, start + 11),
  ) ??
    [];
  // Within a paragraph, a line that begins with another number or a lone sign is
  // usually text.
  const isText = interruptsParagraph &&
    ((number !== undefined && Number(number) !== 1) ||
      isBlank(source, start + marker.length));
  return isText ? 0 : marker.length;
}

/** Three or more of the same `*`, `-` or `_`, with only white space in between. */
function isThematicBreak(source: string, start: number): boolean {
  const character = source.charAt(start);
  if (character !== "*" && character !== "-" && character !== "_") return false;
  let count = 0;
  for (let end = start; end < source.length; end++) {
    const next = source.charAt(end);
    if (next === character) count++;
    else if (!isSpace(next)) return false;
  }
  return count >= 3;
}

/** The block after the containers. `continues`: whether a paragraph may continue. */
function leafAt(cursor: Cursor, continues: boolean): Leaf {
  const { source, position } = cursor;
  if (cursor.isAtEnd) return { kind: "blank" };
  if (cursor.indent >= CODE_INDENT) {
    return { kind: continues ? "text" : "code" };
  }
  if (isThematicBreak(source, position)) return { kind: "break" };
  const level = cursor.runOf("#");
  if (level >= 1 && level <= 6) {
    const isHeading = position + level === source.length ||
      cursor.spaceAfter(level) > 0;
    return isHeading ? { kind: "heading", level } : { kind: "text" };
  }
  const character = cursor.next;
  const length = character === "`" || character === "~"
    ? cursor.runOf(character)
    : 0;
  // A run of backticks with more backticks after it begins a code span.
  const isFence = length >= 3 &&
    (character === "~" || source.indexOf("`", position + length) < 0);
  if (!isFence) return { kind: "text" };
  const isDiff = /^[ \t]*(?:diff|patch)\b/i.test(
    source.slice(position + length, position + length + 20),
  );
  return { kind: "fence", fence: { character, length, isDiff } };
}
