import graphemes from "@xterm/addon-unicode-graphemes";
import xterm from "@xterm/headless";

/** How an {@linkcode Emulator} counts columns. */
export type Widths =
  /** By grapheme, as current terminals do. */
  | "graphemes"
  /** By code point, with the tables of Unicode 6, as many terminals do. */
  | "code points";

/** A terminal in memory, whose cells can be looked at. */
export class Emulator {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  #written = Promise.resolve();

  constructor(columns: number, rows: number, widths: Widths = "graphemes") {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 10_000,
      allowProposedApi: true,
      convertEol: true, // as the terminal's driver does
      reflowCursorLine: true,
    });
    if (widths === "graphemes") {
      this.#terminal.loadAddon(new graphemes.UnicodeGraphemesAddon());
    }
  }

  /** Writes text; it is in the cells when {@linkcode settled} resolves. */
  write(text: string): void {
    this.#written = new Promise((resolve) =>
      this.#terminal.write(text, resolve)
    );
  }

  async settled(): Promise<void> {
    await this.#written;
  }

  /**
   * Resizes it. Rows that have become too long are wrapped, and the cursor stays at
   * its character: xterm.js leaves it at the end of the line, tmux and others do not.
   */
  async resize(columns: number, rows: number): Promise<void> {
    await this.settled();
    const start = this.#terminal.registerMarker();
    let { column } = this.cursor;
    this.#terminal.resize(columns, rows);
    const { active } = this.#terminal.buffer;
    let row = start?.line ?? 0;
    start?.dispose();
    while (active.getLine(row + 1)?.isWrapped) {
      const last = active.getLine(row)?.getCell(columns - 1);
      const isFree = last?.getChars() === "" && last.getWidth() === 1;
      const used = isFree ? columns - 1 : columns;
      if (column < used) break;
      column -= used;
      row++;
    }
    const y = row - active.baseY + 1;
    this.write(`\x1b[${y};${Math.min(column, columns - 1) + 1}H`);
    await this.settled();
  }

  /** Where the cursor is; the row counts from the top of what has scrolled out. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { baseY, cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: baseY + cursorY, column: cursorX };
  }

  /** The number of rows, including the ones that have scrolled out. */
  get height(): number {
    return this.#terminal.buffer.active.length;
  }

  /** The text of each column of a row; that of a wide character is in its first one. */
  cells(row: number): string[] {
    const line = this.#terminal.buffer.active.getLine(row);
    return Array.from(
      { length: this.#terminal.cols },
      (_, column) => line?.getCell(column)?.getChars() || " ",
    );
  }

  /** The text of a row, without spaces at its end. */
  text(row: number): string {
    return this.#terminal.buffer.active.getLine(row)
      ?.translateToString(true).trimEnd() ?? "";
  }

  /** The text of all rows, without empty ones at the end, joined by `\n`. */
  get allText(): string {
    return Array.from({ length: this.height }, (_, row) => this.text(row))
      .join("\n").trimEnd();
  }
}
