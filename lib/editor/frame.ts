/**
 * What is drawn at the bottom of the terminal: a status, the texts that wait, and
 * the text that is typed.
 *
 * @module
 */

import { plainText, type Style } from "../text.ts";
import type { EditorState } from "./editing.ts";
import { cellsOfLine, endOfLine, indentOf, TextRows } from "./layout.ts";
import { type Frame, rowOf, type Size, type Span } from "./painter.ts";

/** The most waiting texts that are shown. */
const MAX_WAITING = 5;

/** The most UTF-16 code units of a waiting text that are used. */
const WAITING_LENGTH = 1_000;

/** The content of a frame. */
export interface FrameContent {
  /** The row of the status, which may be coloured; empty if there is none. */
  readonly status: string;
  /** The texts that were sent and wait. */
  readonly waiting: readonly string[];
  /** The text that is typed; `undefined` if it is not shown. */
  readonly editor: EditorState | undefined;
}

/** Lays out frames. It remembers how far a tall text was scrolled. */
export class FrameLayout {
  readonly #sign: Span;
  readonly #dim: Style["dim"];
  readonly #rows = new TextRows();
  #cursor = 0;
  #top = 0;

  /** @param sign The prompt sign before each text, two columns wide. */
  constructor(sign: string, { bold, dim }: Style) {
    this.#sign = { cells: cellsOfLine(sign, sign.length), style: bold };
    this.#dim = dim;
  }

  /** The frame for a content on a terminal of a size. */
  frame({ status, waiting, editor }: FrameContent, size: Size): Frame {
    const search = editor?.search;
    // If the rows do not fit, the row with the cursor comes first.
    let room = size.rows - (editor === undefined ? 0 : 1);
    const rows: string[] = [];
    if (status !== "" && room > 0) {
      rows.push(status);
      room--;
    }
    const searchRows = search === undefined || room < 1
      ? []
      : [this.#searchRow(search, size.columns)];
    room -= searchRows.length;
    const count = Math.min(MAX_WAITING, room);
    for (const text of count > 0 ? waiting.slice(-count) : []) {
      rows.push(this.#waitingRow(text, size.columns));
      room--;
    }
    if (editor === undefined) {
      const width = cellsOfLine(plainText(status), size.columns)
        .reduce((columns, cell) => columns + cell.width, 0);
      const column = Math.min(width, size.columns - 1);
      return { rows, cursor: { row: 0, column } };
    }
    const { rows: typed, cursor } = this.#textRows(editor, size, room + 1);
    const row = rows.length + cursor.row;
    return {
      rows: [...rows, ...typed, ...searchRows],
      cursor: { row, column: cursor.column },
    };
  }

  /** The part of the text around the cursor that fits into a number of rows. */
  #textRows(
    editor: EditorState,
    size: Size,
    height: number,
  ): Frame {
    const { text, cursor } = editor.typed;
    this.#rows.update(text, size.columns, Math.min(cursor, this.#cursor));
    this.#cursor = cursor;
    const cursorRow = this.#rows.rowOf(cursor);
    const column = this.#rows.columnOf(cursor);
    // After a full row, the cursor has a row of its own.
    const own = column < size.columns ? Infinity : cursorRow + 1;
    const at = own === Infinity ? cursorRow : own;
    const textRow = (row: number) => row > own ? row - 1 : row;
    const exists = (row: number) =>
      row === own || this.#rows.start(textRow(row)) !== undefined;

    const top = Math.max(Math.min(this.#top, at), at - height + 1);
    let bottom = top;
    while (bottom < top + height && exists(bottom)) bottom++;
    // After a deletion there may be room for earlier rows.
    this.#top = Math.max(Math.min(top, bottom - height), 0);
    const rows: string[] = [];
    for (let row = this.#top; row < bottom; row++) {
      rows.push(
        row === own ? "" : this.#textRow(textRow(row), size.columns),
      );
    }
    return {
      rows,
      cursor: { row: at - this.#top, column: at === own ? 0 : column },
    };
  }

  #textRow(row: number, columns: number): string {
    const spans: Span[] = [{ cells: this.#rows.cells(row) }];
    if (this.#rows.indent(row) > 0) {
      spans.unshift(row === 0 ? this.#sign : { cells: INDENT });
    }
    return rowOf(spans, columns);
  }

  #waitingRow(text: string, columns: number): string {
    const line = text.slice(0, WAITING_LENGTH).replace(/\s+/g, " ");
    const indent = indentOf(columns);
    const cells = cellsOfLine(line, columns - indent);
    const sign = indent > 0 ? [this.#sign] : [];
    return rowOf([...sign, { cells, style: this.#dim }], columns);
  }

  #searchRow(
    { query, isFound }: { readonly query: string; readonly isFound: boolean },
    columns: number,
  ): string {
    const label = cellsOfLine(isFound ? "search: " : "not found: ", columns);
    const room = columns - label.length;
    const cells = cellsOfLine(endOfLine(query, room), room);
    return rowOf(
      [{ cells: label, style: this.#dim }, { cells }],
      columns,
    );
  }
}

/**
 * A text that was sent as it stays on the terminal, with its line end. Its lines are not
 * split into rows: the terminal wraps them, and wraps them again when it is
 * resized.
 */
export function sentText(
  text: string,
  columns: number,
  sign: string,
): string {
  const indent = " ".repeat(indentOf(columns));
  const lines = text.split("\n").map((line) =>
    special().test(line) ? drawnLine(line, columns) : line
  );
  return `${indent === "" ? "" : sign}${lines.join(`\n${indent}`)}\n`;
}

/**
 * Matches characters that are not drawn as they are. A function, because V8 takes
 * 0.1 ms to make these classes.
 */
const special = () => /[\p{Cc}\p{Cf}\p{M}\p{Emoji_Modifier}]/u;

/** A line of a text, with the text of its cells. */
function drawnLine(line: string, columns: number): string {
  const rows = new TextRows();
  rows.update(line, columns, 0);
  const parts: string[] = [];
  for (let row = 0; rows.start(row) !== undefined; row++) {
    for (const cell of rows.cells(row)) parts.push(cell.text);
  }
  return parts.join("");
}

const INDENT = cellsOfLine("  ", 2);
