import { assertEquals } from "@std/assert";
import graphemes from "@xterm/addon-unicode-graphemes";
import xterm from "@xterm/headless";
import { Editor, type KeyModeOptions, type Size } from "../../lib/editor.ts";
import type { TerminalOutput } from "../../lib/io.ts";
import { PLAIN } from "../../lib/text.ts";
import { FakeClock } from "./clocks.ts";
import { fromCarets, stepsOf } from "./scripts.ts";
import { setImmediate } from "node:timers/promises";

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

  /** The text of each column of a row; that of a wide character is in its first one. */
  cells(row: number): string[] {
    const line = this.#terminal.buffer.active.getLine(row);
    return Array.from(
      { length: this.#terminal.cols },
      (_, column) => line?.getCell(column)?.getChars() || " ",
    );
  }

  /** The text of each row, without spaces at its end, with those that scrolled out. */
  get rows(): string[] {
    const { buffer: { active }, cols } = this.#terminal;
    return Array.from(
      { length: active.length },
      (_, row) =>
        active.getLine(row)?.translateToString(true, 0, cols).trimEnd() ?? "",
    );
  }

  /** The rows, without empty ones at the end, joined by `\n`. */
  get allText(): string {
    return this.rows.join("\n").trimEnd();
  }
}

/** The output to a terminal that takes everything at once. */
export function takenAtOnce(write: (text: string) => void): TerminalOutput {
  return { write, isWritten: true, settle: () => Promise.resolve(true) };
}

/** A person at an editor on an emulator, and a clock that only the test advances. */
export class Person implements Disposable {
  readonly emulator: Emulator;
  readonly editor: Editor;
  readonly clock = new FakeClock();
  /** How long each write to the terminal takes, in milliseconds. */
  writing = 0;
  /** The callbacks that were called, by name. */
  readonly #calls: string[] = [];
  /** All output, including escape codes. */
  written = "";
  size: Size;
  readonly #typed: Uint8Array[] = [];
  #hasLeft: Error | boolean = false;
  #wake = () => {};
  #read = Promise.withResolvers<void>();
  #asked: ReturnType<Editor["read"]> | undefined;
  #events: KeyModeOptions | undefined;

  constructor(
    columns = 40,
    { isWindowsConsole = false, isPlain = false } = {},
  ) {
    this.size = { columns, rows: 100 };
    this.emulator = new Emulator(columns, 100);
    const count = (call: string) => () => void this.#calls.push(call);
    const stop = count("stop");
    this.editor = new Editor({
      output: takenAtOnce((text) => this.write(text)),
      isPlain,
      size: () => this.size,
      style: PLAIN,
      sign: "> ",
      keyboard: {
        input: () => this.#keys(),
        keyMode: (events) => {
          this.#events = events;
          const [renew, leave] = [count("renew"), async () => {}];
          return { renew, leave, stop: () => Promise.resolve(stop()) };
        },
        onInterrupt: count("interrupt"),
        onQuit: count("quit"),
        onTyping: count("typing"),
        onQueued: () => {},
        isWindowsConsole,
      },
    });
  }

  /** What is typed, until the terminal goes away. */
  async *#keys(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const bytes = this.#typed.shift();
        if (bytes !== undefined) {
          yield bytes;
        } else {
          if (this.#hasLeft instanceof Error) throw this.#hasLeft;
          if (this.#hasLeft) return;
          this.#read.resolve();
          await new Promise<void>((resolve) => this.#wake = resolve);
        }
      }
    } finally {
      this.#read.resolve();
    }
  }

  /** Writes to the terminal. */
  write(text: string): void {
    this.clock.time += this.writing;
    this.written += text;
    this.emulator.write(text);
  }

  /** Types in one read. Resolves when the editor has read it. */
  async type(input: string | Uint8Array): Promise<void> {
    const bytes = typeof input === "string"
      ? new TextEncoder().encode(input)
      : input;
    this.#typed.push(bytes);
    this.#read = Promise.withResolvers();
    this.#wake();
    await this.#read.promise;
  }

  /** The terminal goes away, or cannot be read any more. */
  leave(error?: Error): void {
    this.#hasLeft = error ?? true;
    this.#wake();
  }

  /** The emulator shows these rows alone, or after `...` as its last ones. */
  async sees(...rows: readonly string[]): Promise<void> {
    const isLast = rows[0] === "...";
    const wanted = isLast ? rows.slice(1) : rows;
    const shown = () =>
      this.emulator.allText.split("\n").slice(isLast ? -wanted.length : 0);
    for (let turn = 1; shown().join("\n") !== wanted.join("\n"); turn++) {
      if (turn > 200) break;
      await setImmediate();
      if (turn % 20 === 0) this.clock.elapse(10); // until the next frame
      await this.emulator.settled();
    }
    await this.emulator.settled();
    assertEquals(shown(), wanted);
  }

  /**
   * Plays a script. Its rows are what {@linkcode sees} waits for, and `type` is followed by
   * keys as {@linkcode fromCarets} reads them.
   */
  async play(script: string): Promise<void> {
    for (const [verb, text] of stepsOf(script)) await this.act(verb, text);
  }

  /** Does a step of a script. */
  async act(verb: string, text: string): Promise<void> {
    const [name = "", number] = text.split(" ");
    switch (verb) {
      case "|":
        await this.sees(...text.split("\n"));
        break;
      case "type":
        await this.type(fromCarets(text));
        break;
      case "later":
        this.clock.elapse(Number(text));
        break;
      case "status":
        this.editor.setStatus(() => text);
        break;
      case "read":
        this.#asked = this.editor.read();
        break;
      case "gets": {
        const input = await (this.#asked ?? this.editor.read());
        this.#asked = undefined;
        const got = input.kind === "text" ? input.text : input.kind;
        assertEquals(got, fromCarets(text));
        break;
      }
      case "drops":
        assertEquals(this.editor.dropWaiting(), Number(text));
        break;
      case "clears":
        assertEquals(`${this.editor.clear()}`, text);
        break;
      case "called":
        assertEquals(
          this.#calls.filter((call) => call === name).length,
          Number(number),
          name,
        );
        break;
      default:
        throw new Error(`No step: ${verb}`);
    }
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
    this.clock[Symbol.dispose]();
  }
}
