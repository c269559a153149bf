/**
 * Draws rows at the bottom of a terminal. Only changes are written.
 *
 * @module
 */

import type { Cell } from "./layout.ts";

/** The content of one row. */
export interface Row {
  /** Printable characters, SGR sequences, and sequences that place the cursor in the row. */
  readonly text: string;
  /** The width of each grapheme, in columns. */
  readonly widths: readonly number[];
}

/** The size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** All rows that are drawn. */
export interface Frame {
  /** At most as many rows as the terminal has. */
  readonly rows: readonly Row[];
  /** The cursor's position in the rows, counted from 0. */
  readonly cursor: { readonly row: number; readonly column: number };
  readonly size: Size;
}

// A grapheme that is wider than it should be must not make a row wrap.
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_TO_END_OF_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";
const CLEAR = "\x1b[H\x1b[2J";

/** Some cells of a row, and their style. */
export interface Span {
  readonly cells: readonly Cell[];
  readonly style?: (text: string) => string;
}

/**
 * Formats a row of spans. After each grapheme of uncertain width, the cursor is
 * placed and the rest of the row is erased.
 */
export function rowOf(spans: readonly Span[], columns: number): Row {
  const widths: number[] = [];
  let text = "";
  let column = 0;
  for (const { cells, style } of spans) {
    let part = "";
    for (const cell of cells) {
      part += cell.text;
      column += cell.width;
      // Terminals may wrap between the characters of a cell (spaces of a tab, a code).
      const isWide = cell.text.length < cell.width || !cell.isCertain;
      if (isWide) widths.push(cell.width);
      else for (let i = 0; i < cell.width; i++) widths.push(1);
      // The cursor cannot be placed beyond the last column, and need not be.
      if (!cell.isCertain && column < columns) {
        part += toColumn(column) + ERASE_TO_END_OF_LINE;
      }
    }
    text += style === undefined || part === "" ? part : style(part);
  }
  return { text, widths };
}

/** Draws frames, each over the one before it. */
export class Painter {
  readonly #write: (text: string) => void;
  #drawn: Frame = NOTHING;

  /** @param write Writes a text as a whole. */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /**
   * Draws a frame.
   *
   * @param above Lines that are written above the frame and stay there, each with its `\n`.
   */
  draw(frame: Frame, above = ""): void {
    const { size } = this.#drawn;
    const isResized = size.columns !== frame.size.columns ||
      size.rows !== frame.size.rows;
    let text = "";
    if (above !== "" || isResized) {
      if (this.#drawn.rows.length > 0) {
        text = this.#toTop(frame.size) + ERASE_BELOW;
      }
      text += above;
      this.#drawn = { ...NOTHING, size: frame.size };
    }
    text += this.#difference(frame);
    this.#drawn = frame;
    if (text !== "") this.#write(text);
  }

  /** Erases the frame; lines that stay may be written in its place. */
  erase(size: Size, above = ""): void {
    this.draw({ ...NOTHING, size }, above);
  }

  /** Leaves the frame on the terminal, and moves the cursor to the row below it. */
  leave(): void {
    const { rows, cursor } = this.#drawn;
    if (rows.length === 0) return;
    this.#write(vertical(rows.length - 1 - cursor.row) + "\r\n");
    this.forget();
  }

  /** Forgets the frame: the cursor is assumed to be in an empty row. */
  forget(): void {
    this.#drawn = { ...NOTHING, size: this.#drawn.size };
  }

  /** Clears the terminal's screen, and draws a frame at the top. */
  clear(frame: Frame): void {
    this.forget();
    this.#write(CLEAR);
    this.draw(frame);
  }

  /** The output that changes the drawn frame into another one of the same size. */
  #difference({ rows, cursor }: Frame): string {
    const drawn = this.#drawn;
    let text = "";
    let at = drawn.cursor.row;
    for (const [i, row] of rows.entries()) {
      const old = drawn.rows[i];
      if (old?.text === row.text) continue;
      const isNew = old === undefined && i > 0;
      text += isNew ? vertical(i - 1 - at) + "\r\n" : vertical(i - at) + "\r";
      text += ERASE_TO_END_OF_LINE + row.text;
      at = i;
    }
    if (text !== "") text = NO_WRAP + text + WRAP;
    if (drawn.rows.length > rows.length) {
      text += vertical(rows.length - at) + "\r" + ERASE_BELOW;
      at = rows.length;
    }
    const isThere = text === "" && drawn.cursor.column === cursor.column;
    if (isThere && at === cursor.row) return "";
    return text + vertical(cursor.row - at) + toColumn(cursor.column);
  }

  /**
   * Moves to the first row of the frame. A terminal that became narrower has
   * wrapped rows.
   */
  #toTop({ columns, rows }: Size): string {
    const { cursor, rows: drawn } = this.#drawn;
    let above = 0;
    for (const row of drawn.slice(0, cursor.row)) {
      above += wrapped(row.widths, columns).rows;
    }
    const { widths } = drawn[cursor.row] ?? { widths: [] };
    above += wrapped(widths, columns, cursor.column).row;
    return vertical(-Math.min(above, rows - 1)) + "\r";
  }
}

const NOTHING: Frame = {
  rows: [],
  cursor: { row: 0, column: 0 },
  size: { columns: 0, rows: 0 },
};

/**
 * Where a terminal wraps a row that is wider than the window: the number of rows,
 * and the row in which a column of the unwrapped row ends up.
 */
function wrapped(
  widths: readonly number[],
  columns: number,
  of = 0,
): { readonly rows: number; readonly row: number } {
  let rows = 1;
  let row = 0;
  let column = 0;
  let before = 0;
  for (const width of widths) {
    if (column + width > columns) {
      rows++;
      column = 0;
    }
    if (before <= of) row = rows - 1;
    column += width;
    before += width;
  }
  return { rows, row };
}

/** Moves down, or up if negative, within existing rows. */
function vertical(rows: number): string {
  if (rows === 0) return "";
  return rows > 0 ? `\x1b[${rows}B` : `\x1b[${-rows}A`;
}

/** Moves to a column, counted from 0. */
function toColumn(column: number): string {
  return `\x1b[${column + 1}G`;
}
