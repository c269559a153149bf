/**
 * Lays a text out in the rows of a terminal: where each grapheme is drawn.
 *
 * @module
 */

import {
  boundaryAfter,
  boundaryAt,
  graphemeWidth,
  isSimple,
} from "./graphemes.ts";

/** A grapheme as it is drawn in one or more columns of a row. */
export interface Cell {
  /** Printable characters. */
  readonly text: string;
  readonly width: number;
  /**
   * Whether every terminal draws it with this width. After other cells the cursor
   * has to be placed.
   */
  readonly isCertain: boolean;
}

/** The distance of tab stops, in columns. */
const TAB = 8;

/** The most UTF-16 code units of a grapheme that are drawn. */
const MAX_DRAWN = 64;

/** Characters that are invisible, reorder text, or would join with the one before. */
const NOT_DRAWN =
  /^[\p{Cc}\p{Bidi_Control}\p{Join_Control}\p{M}\p{Emoji_Modifier}]/u;

/** What each line of a text is indented by; a very narrow terminal has no indent. */
const INDENT = 2;

/** The columns of the sign or space at the start of each line. */
export function indentOf(columns: number): number {
  // A wide character has to fit next to it.
  return columns < INDENT + 2 ? 0 : INDENT;
}

/**
 * The rows of a text. Rows are computed when they are requested, and kept for the
 * next text as far as both begin alike. So the cost of a key depends on the
 * visible rows, and not on the length of the text.
 */
export class TextRows {
  #text = "";
  #columns = 80;
  /** The offsets of the rows that have been computed so far. */
  #starts: number[] = [0];

  /** The text that is laid out. */
  get text(): string {
    return this.#text;
  }

  /**
   * Changes the text or the width.
   *
   * @param changedFrom An offset before which the text is probably unchanged.
   */
  update(text: string, columns: number, changedFrom: number): void {
    const isResized = columns !== this.#columns;
    if (text === this.#text && !isResized) return;
    // The ends of the changed row and of the one before it may have moved.
    const kept = isResized ? 0 : Math.max(this.#find(changedFrom) - 2, 0);
    const start = this.#starts[kept] ?? 0;
    const isSame = text.slice(0, start) === this.#text.slice(0, start);
    this.#starts.length = isSame ? kept + 1 : 1;
    this.#text = text;
    this.#columns = columns;
  }

  /** The offset at which a row begins; `undefined` if there are fewer rows. */
  start(row: number): number | undefined {
    while (this.#starts.length <= row && this.#findNext()) {
      /* computing rows */
    }
    return this.#starts[row];
  }

  /** The row of the grapheme at an offset. */
  rowOf(offset: number): number {
    while ((this.#starts.at(-1) ?? 0) < offset && this.#findNext()) {
      // computing rows
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

  /** The indent of a row, in columns. */
  indent(row: number): number {
    const start = this.start(row) ?? 0;
    const isFirst = start === 0 || this.#text[start - 1] === "\n";
    return isFirst ? indentOf(this.#columns) : 0;
  }

  /**
   * The column of an offset. At the end of a full row it equals the terminal's
   * number of columns, which is outside of the terminal.
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

  /** The last computed row that begins at or before an offset. */
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

  /** Computes the next row. Returns whether there is one. */
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

/** The cells of a text as {@linkcode cutToWidth} cuts it. */
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

/** A text, cut to a number of columns, with an ellipsis where it is cut. */
export function cutToWidth(text: string, columns: number): string {
  return cellsOfLine(text, columns).map((cell) => cell.text).join("");
}

/** The end of a text, cut to a number of columns. */
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
 * The cell of a grapheme at a column: a tab becomes spaces; an invisible or
 * control character becomes its code; all others are drawn as they are.
 */
function cellOf(grapheme: string, column: number, columns: number): Cell {
  const unit = grapheme.charCodeAt(0);
  if (grapheme.length === 1 && isPlainAscii(unit)) return sure(grapheme);
  if (grapheme === "\t") {
    const width = TAB - column % TAB;
    return sure(" ".repeat(Math.max(Math.min(width, columns - column), 1)));
  }
  // A grapheme has to fit into a row with an indent. Without this limit, the first
  // row of a line would stay empty, because the grapheme does not fit next to the
  // indent.
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

/** A cell whose width is its text's length on every terminal. */
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
