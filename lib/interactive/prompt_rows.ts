/**
 * A text as rows of a terminal: where each grapheme is drawn.
 *
 * @module
 */

import {
  boundaryAfter,
  boundaryAt,
  graphemeWidth,
  isSimple,
} from "./graphemes.ts";

/** What is drawn in one column or more of a row. */
export interface Cell {
  /** Printable characters. */
  readonly text: string;
  /** At least 1. */
  readonly width: number;
  /**
   * Whether every terminal takes it to be so wide. After others the cursor has to
   * be placed.
   */
  readonly isCertain: boolean;
}

/** Tab stops, in columns. */
const TAB = 8;

/** A grapheme of more UTF-16 code units is drawn without the rest. */
const MAX_DRAWN = 64;

/** What is not seen, changes the order of text, or would join what is before it. */
const NOT_DRAWN =
  /^[\p{Cc}\p{Bidi_Control}\p{Join_Control}\p{M}\p{Emoji_Modifier}]/u;

/** How far the lines of a prompt are indented, if the terminal is wide enough. */
const INDENT = 2;

/** How many columns the sign, or the space, at the start of each line takes. */
export function indentOf(columns: number): number {
  // A wide character has to fit beside it.
  return columns < INDENT + 2 ? 0 : INDENT;
}

/**
 * The rows that a text takes. Rows are found when they are asked for, and kept for
 * the next text as far as it begins the same: what a key costs depends on what is
 * to be seen, and not on how long the text is.
 */
export class PromptRows {
  #text = "";
  #columns = 80;
  /** Where the rows begin that have been found so far. */
  #starts: number[] = [0];

  /** The text that these are the rows of. */
  get text(): string {
    return this.#text;
  }

  /**
   * Changes the text or the width.
   *
   * @param changedFrom An offset before which the text is likely the same.
   */
  update(text: string, columns: number, changedFrom: number): void {
    const isResized = columns !== this.#columns;
    if (text === this.#text && !isResized) return;
    // The row that is changed, and the one before it, may end elsewhere now.
    const kept = isResized ? 0 : Math.max(this.#find(changedFrom) - 2, 0);
    const start = this.#starts[kept] ?? 0;
    const isSame = text.slice(0, start) === this.#text.slice(0, start);
    this.#starts.length = isSame ? kept + 1 : 1;
    this.#text = text;
    this.#columns = columns;
  }

  /** The offset where a row begins; `undefined` if there are fewer rows. */
  start(row: number): number | undefined {
    while (this.#starts.length <= row && this.#findNext()) { /* go on */ }
    return this.#starts[row];
  }

  /** The row in which the grapheme at an offset stands. */
  rowOf(offset: number): number {
    while ((this.#starts.at(-1) ?? 0) < offset && this.#findNext()) {
      // go on
    }
    return this.#find(offset);
  }

  /** The cells of a row, without the indent of a line's first row. */
  cells(row: number): Cell[] {
    const start = this.start(row) ?? this.#text.length;
    const end = this.start(row + 1) ?? this.#text.length;
    const cells: Cell[] = [];
    let column = this.indent(row);
    for (let at = start; at < end && this.#text[at] !== "\n";) {
      const next = boundaryAfter(this.#text, at);
      const cell = cellOf(this.#text.slice(at, next), column, this.#columns);
      cells.push(cell);
      column += cell.width;
      at = next;
    }
    return cells;
  }

  /** How many columns of a row are free at its start. */
  indent(row: number): number {
    const start = this.start(row) ?? 0;
    const isFirst = start === 0 || this.#text[start - 1] === "\n";
    return isFirst ? indentOf(this.#columns) : 0;
  }

  /**
   * The column of an offset. It is the number of columns, and so outside of the
   * terminal, after a row that is full.
   */
  columnOf(offset: number): number {
    const row = this.rowOf(offset);
    let at = this.start(row) ?? 0;
    let column = this.indent(row);
    while (at < offset) {
      const next = boundaryAfter(this.#text, at);
      const cell = cellOf(this.#text.slice(at, next), column, this.#columns);
      column += cell.width;
      at = next;
    }
    return column;
  }

  /** The last of the rows found so far that begins at or before an offset. */
  #find(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Finds one row more. Returns whether there is one. */
  #findNext(): boolean {
    const text = this.#text;
    let at = this.#starts.at(-1) ?? 0;
    let column = this.indent(this.#starts.length - 1);
    while (at < text.length) {
      const unit = text.charCodeAt(at);
      if (unit === 0x0a) {
        this.#starts.push(at + 1);
        return true;
      }
      let next = at + 1;
      let width = 1;
      // Most text is ASCII, and there may be megabytes of it.
      if (!isPlainAscii(unit) || !isSimple(text.charCodeAt(next))) {
        next = boundaryAfter(text, at);
        width = cellOf(text.slice(at, next), column, this.#columns).width;
      }
      if (column + width > this.#columns) {
        this.#starts.push(at);
        return true;
      }
      column += width;
      at = next;
    }
    return false;
  }
}

/** A text in one row of at most so many columns, with an ellipsis where it is cut. */
export function cellsOfLine(text: string, columns: number): Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  for (let at = 0; at < text.length;) {
    const next = boundaryAfter(text, at);
    const cell = cellOf(text.slice(at, next), column, columns);
    if (column + cell.width > columns) {
      while (column > columns - 1 && cells.length > 0) {
        column -= cells.pop()?.width ?? 0;
      }
      if (columns > 0) cells.push(sure("…"));
      break;
    }
    cells.push(cell);
    column += cell.width;
    at = next;
  }
  return cells;
}

/** The end of a text in as many columns as there are. */
export function endOfLine(text: string, columns: number): string {
  let at = text.length;
  let width = 0;
  while (at > 0) {
    const before = boundaryAt(text, at - 1);
    width += cellOf(text.slice(before, at), 0, columns).width;
    if (width > columns) break;
    at = before;
  }
  return text.slice(at);
}

/**
 * How a grapheme is drawn at a column: as itself; a tab as spaces; and what would
 * not be seen, or would do something else than to be seen, as its code.
 */
function cellOf(grapheme: string, column: number, columns: number): Cell {
  const unit = grapheme.charCodeAt(0);
  if (grapheme.length === 1 && isPlainAscii(unit)) return sure(grapheme);
  if (grapheme === "\t") {
    const width = TAB - column % TAB;
    return sure(" ".repeat(Math.max(Math.min(width, columns - column), 1)));
  }
  // Where a line begins, too: else its first row would be found again and again.
  const room = columns - indentOf(columns);
  const drawn = grapheme.slice(0, MAX_DRAWN);
  const width = graphemeWidth(drawn);
  if (width < 1 || NOT_DRAWN.test(drawn)) {
    const code = codeOf(grapheme);
    return sure(code.length > room ? "?" : code);
  }
  if (width > room) return sure("?");
  const isCertain = grapheme.length === 1 && isSimple(unit);
  return { text: drawn, width, isCertain };
}

/** A cell that every terminal takes to be as wide as its text is long. */
function sure(text: string): Cell {
  return { text, width: text.length, isCertain: true };
}

/** `^A` for a control character of ASCII, `<200b>` for others. */
function codeOf(grapheme: string): string {
  const code = grapheme.codePointAt(0) ?? 0;
  return code < 0x20 || code === 0x7f
    ? `^${String.fromCharCode(code ^ 0x40)}`
    : `<${code.toString(16)}>`;
}

function isPlainAscii(unit: number): boolean {
  return unit >= 0x20 && unit < 0x7f;
}
