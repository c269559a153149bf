import { shorten, type Style } from "../text.ts";
import { type CursorText, lineEnd, lineStart } from "./cursor_text.ts";
import type { EditorState, Search } from "./editor_state.ts";
import {
  type Cell,
  cellsOf,
  cellsOfLine,
  indentOf,
  placed,
  rowsOfLines,
  type TextRow,
  widthOf,
} from "./layout.ts";
import type { Frame, Size } from "./painter.ts";

const MAX_WAITING = 5;

/** The most UTF-16 code units of a waiting text that are used. */
const WAITING_LENGTH = 1_000;

/** What is drawn at the bottom of the terminal. */
export interface FrameContent {
  readonly status: string;
  readonly waiting: readonly string[];
  /** The text that is typed; `undefined` if it is not shown. */
  readonly editor: EditorState | undefined;
}

export interface FrameLook {
  /** The prompt sign before each text, two columns wide. */
  readonly sign: string;
  readonly style: Style;
}

export function frameOf(
  { status, waiting, editor }: FrameContent,
  size: Size,
  look: FrameLook,
): Frame {
  const { columns } = size;
  const withPlaces = (cells: readonly Cell[]) => placed(cells, columns);
  const search = editor?.search;
  // One row is kept for the cursor, even if other rows then do not fit.
  let room = size.rows - (editor === undefined ? 0 : 1);
  const rows: Cell[][] = [];
  if (status !== "" && room > 0) {
    rows.push(cellsOfLine(status, columns));
    room--;
  }
  const searchRows = search === undefined || room < 1
    ? []
    : [searchRow(search, columns)];
  room -= searchRows.length;
  const count = Math.min(MAX_WAITING, room);
  for (const text of count > 0 ? waiting.slice(-count) : []) {
    rows.push(waitingRow(text, columns, look));
    room--;
  }
  if (editor === undefined) {
    const column = Math.min(widthOf(rows[0] ?? []), columns - 1);
    return { rows: rows.map(withPlaces), cursor: { row: 0, column } };
  }
  const typed = typedRows(editor.typed, { columns, rows: room + 1 }, look);
  const row = rows.length + typed.cursor.row;
  return {
    rows: [...rows, ...typed.rows, ...searchRows].map(withPlaces),
    cursor: { ...typed.cursor, row },
  };
}

/** The part of a text around the cursor that fits into a number of rows. */
function typedRows(typed: CursorText, size: Size, look: FrameLook): Frame {
  const { text, cursor } = typed;
  const { columns, rows: height } = size;
  // No more lines before and after the cursor can be shown than there are rows.
  let start = lineStart(typed);
  let end = lineEnd(typed);
  for (let i = 1; i < height; i++) {
    if (start > 0) start = lineStart({ text, cursor: start - 1 });
    if (end < text.length) end = lineEnd({ text, cursor: end + 1 });
  }
  const rows = rowsOfLines(text, { start, end, columns });
  let at = rows.findLastIndex((row) => row.start <= cursor);
  const { start: from = 0, indent = 0 } = rows[at] ?? {};
  let column = indent +
    widthOf(cellsOf(text.slice(from, cursor), indent, columns));
  if (column >= columns) {
    // After a full row, the cursor has a row of its own.
    rows.splice(++at, 0, { start: cursor, end: cursor, indent: 0 });
    column = 0;
  }
  // If rows are left out, the cursor's row is in the middle, except near the ends.
  const middle = at - Math.floor(height / 2);
  const top = Math.max(Math.min(middle, rows.length - height), 0);
  return {
    rows: rows.slice(top, top + height)
      .map((row) => typedRow(text, row, columns, look)),
    cursor: { row: at - top, column },
  };
}

function typedRow(
  text: string,
  { start, end, indent }: TextRow,
  columns: number,
  { sign, style }: FrameLook,
): Cell[] {
  const isFirst = start === 0 && indent > 0;
  const before = isFirst ? style.bold(sign) : " ".repeat(indent);
  const cells = cellsOf(text.slice(start, end), indent, columns);
  return [{ text: before, width: indent, isCertain: true }, ...cells];
}

function waitingRow(
  text: string,
  columns: number,
  { sign }: FrameLook,
): Cell[] {
  const line = shorten(text, WAITING_LENGTH).replace(/\s+/g, " ");
  const indent = indentOf(columns);
  const before = indent > 0 ? sign : "";
  const cells = cellsOfLine(line, columns - indent);
  return [{ text: before, width: indent, isCertain: true }, ...cells];
}

function searchRow({ query, isFound }: Search, columns: number): Cell[] {
  const label = cellsOfLine(isFound ? "search: " : "not found: ", columns);
  return [...label, ...cellsOfLine(query, columns - widthOf(label))];
}

/**
 * The output for a text that was sent and stays on the terminal. The terminal wraps its
 * lines, and wraps them again when it is resized.
 */
export function sentText(
  text: string,
  columns: number,
  { sign, style }: FrameLook,
): string {
  const indent = " ".repeat(indentOf(columns));
  const lines = text.split("\n").map((line) =>
    special().test(line)
      ? cellsOf(line, indent.length, Infinity).map((cell) => cell.text).join("")
      : line
  );
  return `${indent === "" ? "" : style.bold(sign)}${
    lines.join(`\n${indent}`)
  }\n`;
}

/** Characters that are not drawn as they are. V8 takes 0.1 ms to make these classes. */
const special = () => /[\p{Cc}\p{Cf}\p{M}\p{Emoji_Modifier}]/u;
