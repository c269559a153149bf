import { assert, assertEquals } from "@std/assert";
import graphemes from "@xterm/addon-unicode-graphemes";
import xterm from "@xterm/headless";
import { Editor, type KeyModeActions, type Size } from "../../lib/editor.ts";
import type { TerminalOutput } from "../../lib/io.ts";
import { PLAIN } from "../../lib/text.ts";

/** How an {@linkcode Emulator} counts columns. */
export type Widths =
  /** By grapheme, as current terminals do. */
  | "graphemes"
  /** By code point, with the tables of Unicode 6, as many terminals do. */
  | "code points";

/** What an {@linkcode Emulator} does with rows that are too long after a resize. */
export type Resizing = "wraps" | "cuts";

/** A terminal in memory, whose cells can be looked at. */
export class Emulator {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  #written = Promise.resolve();

  readonly #resizing: Resizing;

  constructor(
    columns: number,
    rows: number,
    widths: Widths = "graphemes",
    resizing: Resizing = "wraps",
  ) {
    this.#resizing = resizing;
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 10_000,
      allowProposedApi: true,
      convertEol: true, // as the terminal's driver does
      reflowCursorLine: true,
      // A console of Windows that does not wrap rows anew.
      ...resizing === "cuts" &&
        { windowsPty: { backend: "conpty", buildNumber: 19_000 } as const },
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
   * Resizes it. If rows that have become too long are wrapped, the cursor stays at
   * its character: xterm.js leaves it at the end of the line, tmux and others do not.
   */
  async resize(columns: number, rows: number): Promise<void> {
    await this.settled();
    if (this.#resizing === "cuts") return this.#terminal.resize(columns, rows);
    const { active } = this.#terminal.buffer;
    // Where the cursor is in its line, from the start of the line's first row.
    let { row, column } = this.cursor;
    for (; active.getLine(row)?.isWrapped; row--) column += this.#used(row - 1);
    const start = this.#terminal.registerMarker(row - this.cursor.row);
    this.#terminal.resize(columns, rows);
    row = start?.line ?? 0;
    start?.dispose();
    for (; active.getLine(row + 1)?.isWrapped; row++) {
      const used = this.#used(row);
      if (column < used) break;
      column -= used;
    }
    const y = row - active.baseY + 1;
    this.write(`\x1b[${y};${Math.min(column, columns - 1) + 1}H`);
    await this.settled();
  }

  /** The columns of a wrapped row: a wide character may have left its last one free. */
  #used(row: number): number {
    const { buffer, cols } = this.#terminal;
    const last = buffer.active.getLine(row)?.getCell(cols - 1);
    return last?.getChars() === "" && last.getWidth() === 1 ? cols - 1 : cols;
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

  /** The visible text of a row, without spaces at its end. */
  text(row: number): string {
    return this.#terminal.buffer.active.getLine(row)
      ?.translateToString(true, 0, this.#terminal.cols).trimEnd() ?? "";
  }

  /** The text of all rows, without empty ones at the end, joined by `\n`. */
  get allText(): string {
    return Array.from({ length: this.height }, (_, row) => this.text(row))
      .join("\n").trimEnd();
  }
}

/** The output to a terminal that takes everything at once. */
export function takenAtOnce(write: (text: string) => void): TerminalOutput {
  return { write, isWritten: true, settle: () => Promise.resolve(true) };
}

/** A person at an editor on an emulator, with a clock that only the test advances. */
export class Person implements Disposable {
  readonly emulator: Emulator;
  readonly editor: Editor;
  /** In milliseconds. */
  time = 0;
  /** How long each write to the terminal takes, in milliseconds. */
  writing = 0;
  /** How often Ctrl-C and Ctrl-\ were pressed, and the process asked to stop. */
  interrupts = 0;
  quits = 0;
  /** How many texts were begun. */
  begun = 0;
  stops = 0;
  /** How often the protection of pastes was switched on again. */
  renewals = 0;
  /** All output, including escape codes. */
  written = "";
  size: Size;
  readonly #input: ReadableStreamDefaultController<Uint8Array>;
  #events: KeyModeActions | undefined;
  #wrote = Promise.withResolvers<void>();

  constructor(
    columns = 40,
    rows = 100,
    { isWindowsConsole = false, isPlain = false } = {},
  ) {
    this.size = { columns, rows };
    this.emulator = new Emulator(columns, rows);
    const opened: ReadableStreamDefaultController<Uint8Array>[] = [];
    const keyboard = new ReadableStream<Uint8Array>({
      start: (controller) => void opened.push(controller),
    });
    const [input] = opened;
    assert(input);
    this.#input = input;
    this.editor = new Editor({
      output: takenAtOnce((text) => this.write(text)),
      isPlain,
      size: () => this.size,
      style: PLAIN,
      sign: "> ",
      now: () => this.time,
      keyboard: {
        input: () => keyboard,
        keyMode: (events) => {
          this.#events = events;
          const stop = () => Promise.resolve(void this.stops++);
          const renew = () => void this.renewals++;
          return { renew, stop, leave: () => Promise.resolve() };
        },
        onInterrupt: () => this.interrupts++,
        onQuit: () => this.quits++,
        onTyping: () => this.begun++,
        onQueued: () => {},
        isWindowsConsole,
      },
    });
  }

  /** Writes to the terminal. */
  write(text: string): void {
    this.time += this.writing;
    this.written += text;
    this.emulator.write(text);
    this.#wrote.resolve();
    this.#wrote = Promise.withResolvers();
  }

  type(input: string | Uint8Array): void {
    this.#input.enqueue(
      typeof input === "string" ? new TextEncoder().encode(input) : input,
    );
  }

  /** The terminal goes away, or cannot be read any more. */
  leave(error?: Error): void {
    if (error === undefined) this.#input.close();
    else this.#input.error(error);
  }

  /** Waits until the emulator shows these rows alone; fails after 10 s. */
  async sees(...rows: readonly string[]): Promise<void> {
    await this.#see(rows, 0);
  }

  /** Waits until these are the last rows; fails after 10 s. */
  async seesLast(...rows: readonly string[]): Promise<void> {
    await this.#see(rows, -rows.length);
  }

  async #see(rows: readonly string[], start: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, 10_000);
    const shown = () => this.emulator.allText.split("\n").slice(start);
    for (let isLate = false; !isLate;) {
      const { promise } = this.#wrote;
      await this.emulator.settled();
      if (shown().join("\n") === rows.join("\n")) break;
      isLate = await Promise.race([
        promise.then(() => false),
        late.promise.then(() => true),
      ]);
    }
    clearTimeout(timer);
    assertEquals(shown(), rows);
  }

  async resize(columns: number): Promise<void> {
    await this.emulator.settled();
    this.size = { ...this.size, columns };
    await this.emulator.resize(columns, this.size.rows);
    this.#events?.onResize();
  }

  /** The process goes on (`fg`), or was not stopped at all. */
  goOn(wasStopped = true): void {
    this.#events?.onResume(wasStopped);
  }

  [Symbol.dispose](): void {
    void this.editor.leave();
  }
}
