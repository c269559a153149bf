/**
 * A line editor for a terminal, with several lines, history, search and undo, wide
 * and joined characters, bracketed paste, and lines of output above it.
 *
 * Bytes become keys in `key_parser.ts` and `key_sequences.ts`, and where time decides,
 * in `timed_keys.ts`. Keys change an `editor_state.ts` by the functions of
 * `key_commands.ts`, `history.ts` and `cursor_text.ts`. `frame.ts` says what is drawn of
 * it, in the cells of `layout.ts`; `display.ts` decides when, and `painter.ts` writes the
 * difference. `key_mode.ts` takes the terminal over, and gives it back.
 *
 * @module
 */

import {
  type Entry,
  type Input,
  InputQueue,
  MAX_PROMPT_BYTES,
  PROMPT_TOO_LONG,
  type TerminalOutput,
} from "./io.ts";
import { byteLength, containsNul, type Redacted, safe } from "./text.ts";
import { cursorAtEnd } from "./editor/cursor_text.ts";
import { Display } from "./editor/display.ts";
import { type EditorState, NEW_STATE, settled } from "./editor/editor_state.ts";
import {
  type FrameLook,
  frameOf,
  QUEUED,
  queuedRows,
  sentText,
} from "./editor/frame.ts";
import { moveToHistory } from "./editor/history.ts";
import { pressKey } from "./editor/key_commands.ts";
import {
  type KeyMode,
  type KeyModeOptions,
  SETTLE_LIMIT,
} from "./editor/key_mode.ts";
import type { Key } from "./editor/key.ts";
import type { Frame, Size } from "./editor/painter.ts";
import { TimedKeys } from "./editor/timed_keys.ts";

export { enterKeyMode, type KeyModeOptions } from "./editor/key_mode.ts";
export { cutToWidth } from "./editor/layout.ts";
export type { Size } from "./editor/painter.ts";

const HAS_NUL =
  safe`Not sent: it contains a NUL character. Press Up to edit it`;

const LOST =
  safe`Not sent: characters shown as \ufffd were lost. Press Up to edit it, or paste it in parts`;

const LEAVING = "Leaves after the run; any key cancels";

interface EditorOptions extends FrameLook {
  readonly output: TerminalOutput;
  /** Whether only the text at the prompt is drawn: what is queued becomes a line. */
  readonly isPlain?: boolean;
  readonly size: () => Size;
  readonly keyboard: Keyboard;
}

/** Where an {@linkcode Editor} gets its keys from, and what some of them do. */
export interface Keyboard {
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly keyMode: (options: KeyModeOptions) => KeyMode;
  /** Called on a Ctrl-C that arrives as a byte, and not as a signal. */
  readonly onInterrupt: () => void;
  readonly onQuit: () => void;
  /** Called with the first character of a text. */
  readonly onTyping: () => void;
  /** Called during an operation, with what is read after it. */
  readonly onQueued: (next: Input) => void;
  /**
   * Whether it is a Windows console: a U+FFFD may be a character that it has lost, and
   * many of them do not mark pastes.
   */
  readonly isWindowsConsole: boolean;
}

/**
 * A terminal in key mode: it sends each key as it is pressed and does not echo it.
 *
 * The bottom rows show a status, the texts that were sent and wait, and the text
 * that is typed. All other output is written above them once. Texts can be typed
 * and sent at any time; they are delivered one by one by {@linkcode read}.
 *
 * Opening an editor takes the terminal over, and {@linkcode Editor.leave} gives it back.
 */
export class Editor {
  readonly #options: EditorOptions;
  readonly #inputs = new InputQueue();
  readonly #keys: TimedKeys;
  readonly #display: Display;
  readonly #keyMode: KeyMode;
  #state: EditorState = NEW_STATE;
  #status: (() => string) | undefined;
  /** Whether the terminal was given back: keys are not read any more. */
  #isClosed = false;

  constructor(options: EditorOptions) {
    this.#options = options;
    const { keyboard, output, size } = options;
    this.#keys = new TimedKeys({
      onKey: (key) => this.#press(key),
      onPause: () => this.refresh(),
      marksPastes: !keyboard.isWindowsConsole,
    });
    this.#display = new Display({
      output,
      size,
      frame: (size) => this.#frame(size),
    });
    this.#keyMode = keyboard.keyMode({
      output,
      onResume: (wasStopped) => this.#display.resume(wasStopped),
      onResize: () => this.#display.resize(),
    });
    this.#readKeys(keyboard).catch((error) => this.#inputs.fail(error));
  }

  /**
   * Asks for the next text, below lines that stay. One that was sent before is written
   * above as if it were sent now. Rejects with a `StreamError` if nothing can be read.
   */
  read(above = ""): Promise<Input> {
    this.#keys.flush();
    const [waiting] = this.#inputs.waiting;
    const input = this.#inputs.next();
    const { isAwaited } = this.#inputs;
    const sent = waiting?.kind === "text" ? this.#sent(waiting.text) : "";
    if (isAwaited) this.#keyMode.renew();
    if (isAwaited || waiting !== undefined) this.print(above + sent);
    return input;
  }

  /** Draws the rows, and writes lines above them that stay, each with its newline. */
  print(above = ""): void {
    this.#display.print(above);
  }

  /** Shows a row above the text that is typed meanwhile. */
  setStatus(status: (() => string) | undefined): void {
    this.#status = status;
  }

  /** Draws the rows soon, together with later changes. */
  refresh(): void {
    this.#display.refresh();
  }

  /**
   * Clears what is typed, and returns whether there was anything. It is in the
   * history.
   */
  clear(): boolean {
    this.#keys.flush();
    if (!this.#isTyping) return false;
    this.#state = moveToHistory(this.#state);
    this.refresh();
    return true;
  }

  /** Drops the texts that wait, and returns their number. They are in the history. */
  dropWaiting(): number {
    this.#keys.flush();
    return this.#inputs.dropWaiting();
  }

  /** Returns whether the terminal takes what is written, which may take a moment. */
  takesOutput(): Promise<boolean> {
    return this.#options.output.settle(SETTLE_LIMIT);
  }

  /**
   * Leaves what was typed and queued on the terminal, with lines below it, and gives the
   * terminal back as soon as it has accepted everything. One that accepts nothing is
   * left as it is.
   */
  async leave(below = ""): Promise<void> {
    this.#keys.flush();
    this.#keys.stop();
    this.#isClosed = true;
    // Where nothing is drawn (after Ctrl-Z), the text is on the terminal already.
    const unsent = this.#display.isDrawn ? this.#unsent() : "";
    this.#display.close(unsent + below);
    await this.#keyMode.leave();
  }

  /** What was typed and queued, as lines. */
  #unsent(): string {
    const { typed } = this.#state;
    const lines = this.#queuedTexts().map((text) => this.#sent(text, QUEUED));
    const isShown = this.#inputs.isAwaited || typed.text !== "";
    if (isShown) lines.push(this.#sent(typed.text));
    return lines.join("");
  }

  /** Whether a text or a search is begun. */
  get #isTyping(): boolean {
    const { typed, search } = this.#state;
    return typed.text !== "" || search !== undefined;
  }

  async #readKeys({ input }: Keyboard): Promise<void> {
    for await (const bytes of input()) {
      if (this.#isClosed) return;
      this.#keys.read(bytes);
    }
    if (this.#isClosed) return;
    this.#keys.flush();
    this.#inputs.close();
  }

  #press(key: Key): void {
    this.#stay();
    if (key.kind === "press" && this.#perform(key.name)) return;
    if (this.#inputs.hasEnded) return;
    const wasEmpty = this.#state.typed.text === "";
    const { editor, action } = pressKey(this.#state, key);
    this.#state = editor;
    if (wasEmpty && editor.typed.text !== "") {
      this.#options.keyboard.onTyping();
    }
    if (action === "send") this.#send();
    if (action === "end") this.#end();
  }

  /** Ends the input, at once or after the operation that is going on. */
  #end(): void {
    const { isAwaited } = this.#inputs;
    if (isAwaited) this.#display.leave();
    this.#inputs.end();
    if (!isAwaited) this.#announceQueued(`${LEAVING}\n`);
  }

  /** Takes a Ctrl-D during an operation back. */
  #stay(): void {
    if (!this.#inputs.isEnding) return;
    this.#inputs.reopen();
    this.#announce("Does not leave\n");
  }

  /** Writes lines in place of rows, where only the text at the prompt is drawn. */
  #announce(lines: string): void {
    if (this.#options.isPlain) this.print(lines);
  }

  #announceQueued(lines: string): void {
    this.#announce(lines);
    const [next = { kind: "end" }] = this.#inputs.waiting;
    this.#options.keyboard.onQueued(next);
  }

  /** Performs a key that does more than to edit, and returns whether it is one. */
  #perform(name: string): boolean {
    const { keyboard } = this.#options;
    switch (name) {
      case "escape":
        // In a search, it only ends the search.
        if (this.#state.search !== undefined) this.#keys.forgetEscape();
        return false;
      case "escape-escape":
        // During an operation, as Ctrl-C without a chord.
        if (this.#inputs.isAwaited) return false;
        this.#keys.forgetEscape();
        keyboard.onInterrupt();
        return true;
      case "ctrl-c":
        keyboard.onInterrupt();
        return true;
      case "ctrl-\\":
        keyboard.onQuit();
        return true;
      case "ctrl-l":
        this.#keyMode.renew();
        this.#display.clear();
        return true;
      case "ctrl-z":
        this.#stop();
        return true;
      case "up":
      case "ctrl-p":
        return this.#takeBack();
      default:
        return false;
    }
  }

  /** Stops the process, with the cursor below the drawn rows. */
  #stop(): void {
    if (!this.#display.isDrawn) return;
    this.#display.suspend();
    this.#keyMode.stop();
  }

  /**
   * Puts the text that was queued last back to be edited, and returns whether there was
   * one. In the place of one that was rejected, Up finds it in the history.
   */
  #takeBack(): boolean {
    if (this.#inputs.isAwaited || this.#isTyping) return false;
    const entry = this.#inputs.takeLast();
    if (entry?.kind !== "text") return false;
    const typed = cursorAtEnd(entry.text);
    this.#state = settled(this.#state, { typed, undo: [] });
    const [line = ""] = entry.text.split("\n", 1);
    this.#announce(this.#sent(line, "Removed from the queue: "));
    return true;
  }

  #send(): void {
    const { typed: { text }, isTooLong } = this.#state;
    this.#state = moveToHistory(this.#state);
    const { isAwaited } = this.#inputs;
    if (!isAwaited && text.trim() === "") return;
    const reason = this.#faultOf(text, isTooLong);
    const entry: Entry = reason === undefined
      ? { kind: "text", text }
      : { kind: "refused", reason };
    if (isAwaited) this.#display.replace(this.#sent(text));
    this.#inputs.add(entry);
    if (!isAwaited) this.#announceQueued(this.#sent(text, QUEUED));
  }

  /** Why a text cannot be sent; `undefined` if it can. */
  #faultOf(text: string, isTooLong: boolean): Redacted | undefined {
    if (isTooLong || byteLength(text) > MAX_PROMPT_BYTES) {
      return PROMPT_TOO_LONG;
    }
    if (containsNul(text)) return HAS_NUL;

    const isLossy = this.#options.keyboard.isWindowsConsole;
    return isLossy && text.includes("\ufffd") ? LOST : undefined;
  }

  #sent(text: string, sign = this.#options.sign): string {
    const { columns } = this.#options.size();
    return sentText(text, columns, { ...this.#options, sign });
  }

  #frame(size: Size): Frame {
    this.#keys.flush();
    const status = this.#status?.();
    const isShown = this.#inputs.isAwaited ||
      status !== undefined && this.#isTyping;
    const content = {
      above: status === undefined ? [] : this.#statusRows(status),
      editor: isShown ? this.#state : undefined,
    };
    return frameOf(content, size, this.#options);
  }

  /** The status and the rows below it, without those that are empty. */
  #statusRows(status: string): string[] {
    const notice = this.#inputs.isEnding ? LEAVING : "";
    return [status, ...queuedRows(this.#queuedTexts()), notice]
      .filter((row) => row !== "");
  }

  #queuedTexts(): string[] {
    return this.#inputs.waiting.flatMap((entry) =>
      entry.kind === "text" ? [entry.text] : []
    );
  }
}
