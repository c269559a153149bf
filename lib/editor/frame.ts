import { byteLength, counted, shorten, type Style } from "../text.ts";
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

/** The most queued texts that are shown. */
const MAX_QUEUED = 5;

/** The most UTF-16 code units of a queued text that are used. */
const QUEUED_LENGTH = 1_000;

/** The prefix of a text that was sent during a run, and waits. */
export const QUEUED = "queued: ";

/** A text with more lines is shown only in part when it was sent. */
const MAX_SENT_LINES = 20;

/** So is one with more UTF-16 code units. */
const MAX_SENT_LENGTH = 16 * 1024;

/** What is shown of it, in lines and in UTF-16 code units. */
const SHOWN_LINES = 5;
const SHOWN_LENGTH = 1_000;

/** What is drawn at the bottom of the terminal. */
interface FrameContent {
  /** Rows above the text that is typed; without room, the last ones are left out. */
  readonly above: readonly string[];
  /** The text that is typed; `undefined` if it is not shown. */
  readonly editor: EditorState | undefined;
}

export interface FrameLook {
  /** The prompt sign before each text, two columns wide. */
  readonly sign: string;
  readonly style: Style;
}

export function frameOf(
  { above, editor }: FrameContent,
  size: Size,
  look: FrameLook,
): Frame {
  const { columns } = size;
  const withPlaces = (cells: readonly Cell[]) => placed(cells, columns);
  const search = editor?.search;
  // One row is kept for the cursor, even if other rows then do not fit.
  let room = size.rows - (editor === undefined ? 0 : 1);
  const searchRows = search === undefined || room < 1
    ? []
    : [searchRow(search, columns)];
  room -= searchRows.length;
  const rows = above.slice(0, room).map((text) => cellsOfLine(text, columns));
  room -= rows.length;
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

/** Rows for the texts that were sent and wait, the next one first. */
export function queuedRows(queued: readonly string[]): string[] {
  const rows = queued.slice(0, MAX_QUEUED).map((text) =>
    QUEUED + shorten(text, QUEUED_LENGTH).replace(/\s+/g, " ")
  );
  const more = queued.length - rows.length;
  return more > 0 ? [...rows, `${more} more queued`] : rows;
}

function searchRow({ query, isFound }: Search, columns: number): Cell[] {
  const label = cellsOfLine(isFound ? "search: " : "not found: ", columns);
  return [...label, ...cellsOfLine(query, columns - widthOf(label))];
}

/**
 * The output for a text that was sent and stays on the terminal. The terminal wraps its
 * lines, and wraps them again when it is resized. Of a long text the beginning is shown.
 */
export function sentText(
  text: string,
  columns: number,
  { sign, style }: FrameLook,
): string {
  const indent = " ".repeat(indentOf(columns));
  const lines = shownLines(text).map((line) =>
    special().test(line)
      ? cellsOf(line, indent.length, Infinity).map((cell) => cell.text).join("")
      : line
  );
  return `${indent === "" ? "" : style.bold(sign)}${
    lines.join(`\n${indent}`)
  }\n`;
}

/** The lines of a text, or the first ones and its size: "[120 lines, 5.9 MB]". */
function shownLines(text: string): string[] {
  const lines = text.split("\n");
  const isShort = lines.length <= MAX_SENT_LINES &&
    text.length <= MAX_SENT_LENGTH;
  if (isShort) return lines;

  const first = shorten(lines.slice(0, SHOWN_LINES).join("\n"), SHOWN_LENGTH);
  const megabytes = byteLength(text) / 1_000_000;
  const size = `${counted(lines.length, "line")}, ${megabytes.toFixed(1)} MB`;
  return [...first.split("\n"), `[${size}]`];
}

/** Characters that are not drawn as they are. V8 takes 0.1 ms to make these classes. */
const special = () => /[\p{Cc}\p{Cf}\p{M}\p{Emoji_Modifier}]/u;
