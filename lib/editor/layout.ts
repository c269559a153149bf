import { shorten } from "../text.ts";
import {
  boundaryAfter,
  graphemeWidth,
  isPlainAscii,
  isSimple,
} from "./graphemes.ts";

/** A grapheme as it is drawn in one or more columns of a row. */
export interface Cell {
  /** Printable characters, and sequences that style them or place the cursor. */
  readonly text: string;
  readonly width: number;
  /**
   * Whether every terminal draws it with this width. If not, the cursor is placed after
   * it.
   */
  readonly isCertain: boolean;
}

const TAB = 8;

/** The most UTF-16 code units of a grapheme that are drawn. */
const MAX_DRAWN = 64;

/** Characters that are invisible, reorder text, or would join with the one before. */
const NOT_DRAWN =
  /^[\p{Cc}\p{Bidi_Control}\p{Join_Control}\p{M}\p{Emoji_Modifier}]/u;

/** The columns that each line is indented by; very narrow terminals have no indent. */
const INDENT = 2;

/** The columns of the sign or space at the start of each line. */
export function indentOf(columns: number): number {
  // A wide character has to fit next to it.
  return columns < INDENT + 2 ? 0 : INDENT;
}

/** A row of a text: the part of a line that fits into a terminal's row. */
export interface TextRow {
  /** Where it begins and ends, in UTF-16 code units, without a line end. */
  readonly start: number;
  readonly end: number;
  /** The columns before it: only a line's first row has them. */
  readonly indent: number;
}

export function rowsOfLines(
  text: string,
  { start, end, columns }: {
    readonly start: number;
    readonly end: number;
    readonly columns: number;
  },
): TextRow[] {
  const rows: TextRow[] = [];
  let first = start;
  let indent = indentOf(columns);
  let column = indent;
  const endRow = (at: number, next: number, nextIndent: number) => {
    rows.push({ start: first, end: at, indent });
    first = next;
    indent = nextIndent;
    column = nextIndent;
  };
  for (let at = start; at < end;) {
    const unit = text.charCodeAt(at);
    let next = at + 1;
    let width = 1;
    if (unit === 0x0a) {
      endRow(at, next, indentOf(columns));
      at = next;
      continue;
    }
    // Most text is ASCII, and there may be megabytes of it.
    if (!isPlainAscii(unit) || !isSimple(text.charCodeAt(next))) {
      next = boundaryAfter(text, at);
      width = cellOf(text.slice(at, next), column, columns).width;
    }
    if (column + width > columns) {
      endRow(at, at, 0);
    } else {
      column += width;
      at = next;
    }
  }
  endRow(end, end, 0);
  return rows;
}

/** The cells of a text that begins in a column, up to the first one beyond a limit. */
export function cellsOf(
  text: string,
  column: number,
  columns: number,
  limit = Infinity,
): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at < text.length && column <= limit;) {
    const next = boundaryAfter(text, at);
    const cell = cellOf(text.slice(at, next), column, columns);
    cells.push(cell);
    column += cell.width;
    at = next;
  }
  return cells;
}

export function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((columns, { width }) => columns + width, 0);
}

/** The cells of a text in one row; if they do not fit, the last one is an ellipsis. */
export function cellsOfLine(text: string, columns: number): Cell[] {
  const cells = cellsOf(text, 0, columns, columns);
  if (widthOf(cells) <= columns) return cells;
  if (columns < 1) return [];
  while (widthOf(cells) > columns - 1) cells.pop(); // room for the ellipsis
  return [...cells, sure("…")];
}

/**
 * The cells of a row as they are written: after each grapheme of uncertain width, the
 * cursor is placed and the rest of the row is erased.
 */
export function placed(cells: readonly Cell[], columns: number): Cell[] {
  let column = 0;
  return cells.map((cell) => {
    column += cell.width;
    // The cursor cannot be placed beyond the last column, and need not be.
    if (cell.isCertain || column >= columns) return cell;
    return { ...cell, text: `${cell.text}\x1b[${column + 1}G\x1b[K` };
  });
}

/** A text in one row; if it does not fit, it ends with an ellipsis. */
export function cutToWidth<Text extends string>(
  text: Text,
  columns: number,
): Text {
  const cells = cellsOfLine(text, columns);
  return cells.map((cell) => cell.text).join("") as Text;
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
  const drawn = shorten(grapheme, MAX_DRAWN);
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
