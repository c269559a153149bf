/**
 * A real terminal: line editing and history, a status line, colour.
 *
 * @module
 */

import type { Interface } from "node:readline";
import { plainLine, plainText } from "../plain_text.ts";
import type { ProgressEvent } from "../gateway.ts";
import { Screen } from "./screen.ts";
import { StatusLine } from "./status_line.ts";
import { COLOURED, PLAIN, type Style } from "./style.ts";
import {
  type Input,
  PROMPT_SIGN,
  type Terminal,
  type TerminalOptions,
  writeReply,
} from "./terminal.ts";

const HISTORY_LINES = 1000;

/** From how many bytes at once on something is pasted, and not typed. */
const PASTE_BYTES = 16;

/** Options of a {@linkcode ReadlineTerminal}. */
export interface ReadlineTerminalOptions extends
  Pick<
    TerminalOptions,
    "stdout" | "stderr" | "stdoutIsTerminal" | "quiet"
  > {
  readonly colour: boolean;
  /** Called on a Ctrl-C that does not reach the process as a signal. */
  readonly onInterrupt: () => void;
}

/**
 * The terminal of this process: standard input and standard error are one.
 *
 * What is typed while nobody asks for a line is not shown. Lines of it are kept,
 * and shown when they are asked for; the beginning of one stands ready at the
 * next prompt.
 */
export class ReadlineTerminal implements Terminal {
  readonly #options: ReadlineTerminalOptions;
  readonly #style: Style;
  readonly #status: StatusLine;
  readonly #readline: Interface;
  readonly #screen: Screen;
  readonly #typedAhead: string[] = [];
  readonly #onContinue = () => this.#resume();
  readonly #onResize = () => this.#resize();
  #hasGap = false;
  /** How many rows the cursor is below the prompt, while a paste is not drawn yet. */
  #hiddenAt: number | undefined;
  #asked: PromiseWithResolvers<Input> | undefined;
  #onInterrupt: (() => void) | undefined;
  #closed = false;

  /** Opens the terminal; it is restored when this is disposed of. */
  static async open(
    options: ReadlineTerminalOptions,
  ): Promise<ReadlineTerminal> {
    // Here, because a bundle loads what stands at the top of a file at every
    // start, and these take longer than all the rest.
    const [{ default: process }, { createInterface }, { Writable }] =
      await Promise.all([
        import("node:process"),
        import("node:readline"),
        import("node:stream"),
      ]);
    const screen = new Screen(options.stderr);
    const output = new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        screen.write(text);
        done();
      },
    });
    Object.defineProperty(output, "columns", { get: () => screen.columns });
    const readline = createInterface({
      input: process.stdin,
      output,
      terminal: true,
      prompt: styleOf(options).bold(PROMPT_SIGN),
      historySize: HISTORY_LINES,
    });
    const terminal = new ReadlineTerminal(options, screen, readline);
    // Before and after readline has taken in what was typed.
    process.stdin.prependListener("data", (bytes) => terminal.#hide(bytes));
    process.stdin.on("data", () => terminal.#reveal());
    return terminal;
  }

  private constructor(
    options: ReadlineTerminalOptions,
    screen: Screen,
    readline: Interface,
  ) {
    this.#options = options;
    this.#style = styleOf(options);
    this.#screen = screen;
    this.#readline = readline;
    this.#status = new StatusLine({
      write: options.stderr,
      columns: () => screen.columns,
      style: this.#style,
    });
    this.#readline.on("line", (text) => this.#line(text));
    this.#readline.on("close", () => this.#close());
    // Where keys cannot be made signals, they arrive here.
    this.#readline.on("SIGINT", options.onInterrupt);
    this.#readline.on("SIGTSTP", () => {});
    if (Deno.build.os !== "windows") {
      keysMakeSignals();
      Deno.addSignalListener("SIGCONT", this.#onContinue);
      Deno.addSignalListener("SIGWINCH", this.#onResize);
    }
  }

  readPrompt(): Promise<Input> {
    const typed = this.#typedAhead.shift();
    if (typed !== undefined) {
      this.#gap();
      this.#print(this.#style.bold(PROMPT_SIGN) + plainLine(typed));
      return Promise.resolve({ kind: "prompt", text: typed });
    }
    if (this.#closed) return Promise.resolve({ kind: "end" });
    this.#asked = Promise.withResolvers();
    const begun = this.#takeBegun();
    this.#gap();
    this.#screen.muted = false;
    this.#readline.prompt();
    this.#readline.write(begun);
    return this.#asked.promise;
  }

  begin(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
    this.#hasGap = false;
    if (!this.#options.quiet) this.#status.start();
  }

  progress(event: ProgressEvent): void {
    if (!this.#options.quiet) this.#status.progress(event);
  }

  wait(): void {}

  run(): void {}

  end(completed: boolean): void {
    this.#onInterrupt = undefined;
    this.#status.stop(completed);
  }

  async reply(text: string): Promise<void> {
    if (this.#options.stdoutIsTerminal) this.#print("");
    await writeReply(this.#options, text);
  }

  banner(text: string): void {
    if (!this.#options.quiet) this.#print(this.#style.dim(plainLine(text)));
  }

  thread(threadId: string): void {
    this.banner(`thread ${threadId}`);
  }

  note(text: string): void {
    this.#print(plainLine(text));
  }

  error(text: string): void {
    this.#print(this.#style.red(`Error: ${plainText(text)}`));
  }

  interrupt(): boolean {
    if (this.#asked === undefined) {
      this.#onInterrupt?.();
      return this.#onInterrupt !== undefined;
    }
    this.#print("");
    this.#answer({ kind: "interrupt" });
    return true;
  }

  [Symbol.dispose](): void {
    this.#status.stop(false);
    if (Deno.build.os !== "windows") {
      Deno.removeSignalListener("SIGCONT", this.#onContinue);
      Deno.removeSignalListener("SIGWINCH", this.#onResize);
    }
    this.#screen.muted = true;
    this.#readline.close();
  }

  #print(line: string): void {
    this.#options.stderr(`${line}\n`);
  }

  /** Sets a prompt off from what came before it; a second one needs no gap. */
  #gap(): void {
    if (!this.#hasGap) this.#print("");
    this.#hasGap = true;
  }

  #line(text: string): void {
    if (this.#asked === undefined) {
      this.#typedAhead.push(text);
      return;
    }
    if (this.#hiddenAt !== undefined) {
      this.#print(this.#redrawn(plainLine(text)));
    }
    this.#answer({ kind: "prompt", text });
  }

  /** Draws nothing of a paste: readline would draw all of the line for each row that it grows by. */
  #hide(bytes: Uint8Array): void {
    if (this.#asked === undefined || bytes.length < PASTE_BYTES) return;
    this.#hiddenAt = this.#readline.getCursorPos().rows;
    this.#screen.muted = true;
  }

  /** Draws the line with what was pasted. */
  #reveal(): void {
    if (this.#hiddenAt !== undefined && this.#asked !== undefined) {
      const { line, cursor } = this.#readline;
      this.#options.stderr(this.#redrawn(line.slice(0, cursor)));
      this.#screen.muted = false;
      // The cursor has to leave a row that is full.
      if (this.#readline.getCursorPos().cols === 0) this.#options.stderr(" \r");
      if (cursor < line.length) this.#readline.prompt(true);
    }
    this.#hiddenAt = undefined;
  }

  /** The prompt with this text, drawn over the one that is to be seen. */
  #redrawn(text: string): string {
    const back = this.#hiddenAt ? `\x1b[${this.#hiddenAt}A\r` : "\r";
    return `${back}\x1b[J${this.#style.bold(PROMPT_SIGN)}${text}`;
  }

  #close(): void {
    this.#closed = true;
    if (this.#asked === undefined) return;
    this.#print("");
    this.#answer({ kind: "end" });
  }

  #answer(input: Input): void {
    this.#screen.muted = true;
    this.#asked?.resolve(input);
    this.#asked = undefined;
  }

  /** Takes what has been typed of a line that is not finished. */
  #takeBegun(): string {
    const { line } = this.#readline;
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
    return line;
  }

  /** After Ctrl-Z and `fg`. */
  #resume(): void {
    if (this.#closed) return;
    keysMakeSignals();
    if (this.#asked !== undefined) this.#readline.prompt(true);
  }

  #resize(): void {
    if (this.#asked === undefined) return;
    // By now, the line that is typed takes another number of rows. readline has
    // to know how many it has to go back before it draws.
    this.#screen.muted = true;
    this.#readline.prompt(true);
    this.#screen.muted = false;
    this.#readline.prompt(true);
  }
}

/** Leaves Ctrl-C and Ctrl-Z to the system, while all other keys come one by one. */
function keysMakeSignals(): void {
  Deno.stdin.setRaw(true, { cbreak: true });
}

function styleOf({ colour }: ReadlineTerminalOptions): Style {
  return colour ? COLOURED : PLAIN;
}
