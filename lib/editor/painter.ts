import { type Cell, widthOf } from "./layout.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Frame {
  /** At most as many rows as the terminal has. */
  readonly rows: readonly (readonly Cell[])[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export const NO_FRAME: Frame = { rows: [], cursor: { row: 0, column: 0 } };

// A grapheme that is wider than it should be must not make a row wrap.
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const ERASE_TO_END_OF_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";
const CLEAR = "\x1b[H\x1b[2J";

/**
 * Draws frames at the bottom of a terminal, each over the one before it. Only the cells
 * that have changed are written: a slow line takes 120 bytes a second.
 *
 * A terminal that is resized moves the drawn rows as it likes: some wrap them anew,
 * some cut them. None of them moves the cursor's row closer to the frame's first
 * row. So drawing begins as many rows above the cursor as were drawn above it: rows
 * of an old frame may stay, and nothing above the frame is erased.
 */
export class Painter {
  readonly #write: (text: string) => void;
  #drawn: Frame = NO_FRAME;
  /** Whether the terminal may have moved the rows since they were drawn. */
  #isMoved = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Draws a frame below lines that stay there, each with its `\n`. */
  draw(frame: Frame, above = ""): void {
    let text = "";
    if (above !== "" || this.#isMoved) {
      const { rows, cursor } = this.#drawn;
      if (rows.length > 0) text = vertical(-cursor.row) + "\r" + ERASE_BELOW;
      text += above;
      this.forget();
    }
    text += this.#difference(frame);
    this.#drawn = frame;
    if (text !== "") this.#write(text);
  }

  /** Draws the next frame as a whole, because the terminal was resized. */
  move(): void {
    this.#isMoved = true;
  }

  /** Leaves the frame on the terminal, and moves the cursor to the row below it. */
  leave(): void {
    this.park();
    this.forget();
  }

  /** Moves the cursor to the row below the frame. The next frame is drawn over it. */
  park(): void {
    const { rows, cursor } = this.#drawn;
    if (rows.length === 0) return;
    this.#write(vertical(rows.length - 1 - cursor.row) + "\r\n");
    this.#drawn = { rows, cursor: { row: rows.length, column: 0 } };
    this.#isMoved = true;
  }

  /** Forgets the frame: the cursor is assumed to be in an empty row. */
  forget(): void {
    this.#drawn = NO_FRAME;
    this.#isMoved = false;
  }

  clear(frame: Frame): void {
    this.forget();
    this.#write(CLEAR);
    this.draw(frame);
  }

  #difference({ rows, cursor }: Frame): string {
    const drawn = this.#drawn;
    let text = "";
    let hasRest = false;
    let at = drawn.cursor;
    const moveTo = (row: number, column: number) => {
      if (row === at.row && column === at.column) return;
      const toColumn = column === 0 ? "\r" : `\x1b[${column + 1}G`;
      text += vertical(row - at.row) + toColumn;
      at = { row, column };
    };
    for (const [i, row] of rows.entries()) {
      const old = drawn.rows[i];
      const kept = keptCells(row, old);
      let column = 0;
      for (const [j, cell] of row.slice(0, kept).entries()) {
        if (cell.text !== old?.[j]?.text) {
          moveTo(i, column);
          text += cell.text;
          at = { row: i, column: column + cell.width };
        }
        column += cell.width;
      }
      if (kept === row.length && kept === old?.length) continue;
      const isNew = old === undefined && i > 0;
      moveTo(isNew ? i - 1 : i, column);
      if (kept === 0) text += isNew ? "\r\n" : "\r";
      const rest = row.slice(kept).map((cell) => cell.text).join("");
      text += ERASE_TO_END_OF_LINE + rest;
      hasRest = true;
      at = { row: i, column: widthOf(row) };
    }
    if (hasRest) text = NO_WRAP + text + WRAP;
    if (drawn.rows.length > rows.length) {
      moveTo(rows.length, 0);
      text += ERASE_BELOW;
    }
    moveTo(cursor.row, cursor.column);
    return text;
  }
}

/** How many cells of a row can be drawn over the old ones, in their columns. */
function keptCells(row: readonly Cell[], old: readonly Cell[] = []): number {
  const isKept = (cell: Cell, before: Cell | undefined) =>
    cell.text === before?.text ||
    cell.width === before?.width && cell.isCertain && before.isCertain;
  const changed = row.findIndex((cell, i) => !isKept(cell, old[i]));
  return changed < 0 ? row.length : changed;
}

/**
 * Moves down, or up if negative. A terminal that became lower may have cut rows below
 * the cursor: a line feed adds them again, and no later movement up goes beyond the
 * frame.
 */
function vertical(rows: number): string {
  return rows < 0 ? `\x1b[${-rows}A` : "\n".repeat(rows);
}
