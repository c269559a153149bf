/**
 * A line editor for a terminal, with several lines, history, search and undo, wide
 * and joined characters, bracketed paste, and lines of output above it.
 *
 * @module
 */

import { type Input, PROMPT_TOO_LONG } from "./io.ts";
import { type EditorState, NEW_STATE } from "./editor/editor_state.ts";
import { type FrameLook, frameOf, sentText } from "./editor/frame.ts";
import { moveToHistory } from "./editor/history.ts";
import { MAX_TEXT_LENGTH, pressKey } from "./editor/key_commands.ts";
import {
  KEEP,
  type KeyMode,
  type KeyModeActions,
  RESTORE,
} from "./editor/key_mode.ts";
import { type Key, KeyParser } from "./editor/key_parser.ts";
import { type Frame, NO_FRAME, Painter, type Size } from "./editor/painter.ts";

export { enterKeyMode, type KeyModeActions } from "./editor/key_mode.ts";
export { cutToWidth } from "./editor/layout.ts";
export type { Size } from "./editor/painter.ts";

/** The longest wait for the rest of a sequence after an Escape, in milliseconds. */
const ESCAPE_TIMEOUT = 50;

/** How long after Escape an Enter starts a new line, or a second Escape stops, in milliseconds. */
const ESCAPE_LIMIT = 1_000;

/** A Ctrl-C that comes alone after so many milliseconds ends a paste without an end. */
const PASTE_TIMEOUT = 1_000;

/** The shortest time between two frames, in milliseconds. */
const FRAME_PAUSE = 10;

/** The pause after a frame, as a multiple of the time that drawing it took. */
const DRAWING_SHARE = 10;

/** The longest pause after a frame, which may have been drawn while the process was stopped. */
const MAX_FRAME_PAUSE = 500;

/** How long the terminal must keep its size before a frame is drawn, in milliseconds. */
const RESIZE_PAUSE = 100;

/** The most sent texts that may wait. After them, Enter only starts a new line. */
const MAX_WAITING = 1_000;

const LOST =
  "Not sent: characters shown as \ufffd were lost. Press Up to edit it, or paste it in parts";

export interface EditorOptions extends FrameLook {
  readonly write: (text: string) => void;
  readonly size: () => Size;
  readonly keyboard?: Keyboard | undefined;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** Where an {@linkcode Editor} gets its keys from, and what two of them do. */
export interface Keyboard {
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly keyMode: (actions: KeyModeActions) => KeyMode;
  readonly onInterrupt: () => void;
  readonly onQuit: () => void;
  /** Whether a U+FFFD may stand for a character that was lost, as on a Windows console. */
  readonly isLossy: boolean;
}

/**
 * A terminal in key mode: it sends each key as it is pressed and does not echo it.
 *
 * The bottom rows show a status, the texts that were sent and wait, and the text
 * that is typed. All other output is written above them once. Texts can be typed
 * and sent at any time; they are delivered one by one by {@linkcode read}.
 *
 * Opening an editor takes the terminal over; disposing of it restores it, with the
 * cursor below the rows.
 */
export class Editor implements Disposable {
  readonly #options: EditorOptions;
  readonly #now: () => number;
  readonly #painter: Painter;
  readonly #keyMode: KeyMode | undefined;
  readonly #keys = new KeyParser();
  readonly #waiting: Input[] = [];
  #state: EditorState = NEW_STATE;
  /** Typed or pasted text that has not become a key yet. */
  #gathered: { readonly first: Key; readonly parts: string[] } | undefined;
  #asked: PromiseWithResolvers<Input> | undefined;
  #failure: unknown;
  #status: ((columns: number) => string) | undefined;
  #isClosed = false;
  /** Whether the input has ended, or the user has pressed Ctrl-D. */
  #hasEnded = false;
  /** Whether the program is stopped and another one has the terminal. */
  #isSuspended = false;
  #escapeTimer: ReturnType<typeof setTimeout> | undefined;
  #typedAt = -Infinity;
  /** When the last key was pressed, if it was Escape. */
  #escapedAt = -Infinity;
  /** Stops the timer of the last resize; `undefined` if it has run out. */
  #resizeTimer: ReturnType<typeof setTimeout> | undefined;
  #size: Size;
  /** Stops the timer of the next frame; `undefined` if none is due. */
  #frameTimer: ReturnType<typeof setTimeout> | undefined;
  #nextFrameAt = 0;

  constructor(options: EditorOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#painter = new Painter(options.write);
    this.#size = options.size();
    const { keyboard } = options;
    this.#keyMode = keyboard?.keyMode({
      onResume: (wasStopped) => this.#resume(wasStopped),
      onResize: () => this.#resize(),
    });
    if (keyboard === undefined) options.write(KEEP);
    else this.#readKeys(keyboard).catch((error) => this.#fail(error));
  }

  /**
   * Asks for the next text, below lines that stay. One that was sent before is written
   * above as if it were sent now. Rejects with an `InputError` if nothing can be read.
   */
  read(above = ""): Promise<Input> {
    this.#takeGathered();
    const next = this.#waiting.shift();
    if (next?.kind === "text") this.print(above + this.#sent(next.text));
    if (next !== undefined) return Promise.resolve(next);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasEnded) return Promise.resolve({ kind: "end" });
    this.#asked = Promise.withResolvers();
    this.print(above);
    return this.#asked.promise;
  }

  /** Draws the rows, and writes lines above them that stay, each with its line end. */
  print(above = ""): void {
    clearTimeout(this.#frameTimer);
    this.#frameTimer = undefined;
    this.#takeGathered();
    if (this.#isSuspended) {
      if (above !== "") this.#options.write(above);
      return;
    }
    const { columns, rows } = this.#options.size();
    if (columns !== this.#size.columns || rows !== this.#size.rows) {
      this.#size = { columns, rows };
      this.#resize();
    }
    if (this.#resizeTimer !== undefined && above === "") return;
    const begun = this.#now();
    this.#painter.draw(this.#frame(), above);
    const end = this.#now();
    const pause = Math.max(FRAME_PAUSE, (end - begun) * DRAWING_SHARE);
    this.#nextFrameAt = end + Math.min(pause, MAX_FRAME_PAUSE);
  }

  /** Shows a row of a number of columns above the text that is typed meanwhile. */
  setStatus(status: ((columns: number) => string) | undefined): void {
    this.#status = status;
  }

  /** Draws now if the last frame is old enough, else together with later changes. */
  refresh(): void {
    if (this.#frameTimer !== undefined) return;
    const pause = this.#nextFrameAt - this.#now();
    if (pause <= 0) this.print();
    else this.#frameTimer = setTimeout(() => this.print(), pause);
  }

  /** Clears what is typed, and returns whether there was anything. It is in the history. */
  clear(): boolean {
    this.#takeGathered();
    const { typed, search } = this.#state;
    if (typed.text === "" && search === undefined) return false;
    this.#state = moveToHistory(this.#state);
    this.refresh();
    return true;
  }

  /** Drops the texts that wait, and returns their number. They are in the history. */
  dropWaiting(): number {
    this.#takeGathered();
    const count = this.#waiting.filter(({ kind }) => kind !== "end").length;
    this.#waiting.length = 0;
    this.#hasEnded = this.#isClosed;
    return count;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#escapeTimer);
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = undefined;
    this.#status &&= () => ""; // What is typed stays.
    this.print();
    this.#painter.leave();
    this.#hasEnded = true;
    this.#asked = undefined;
    clearTimeout(this.#frameTimer);
    this.#isSuspended = true; // Nothing is drawn any more.
    if (this.#keyMode) this.#keyMode[Symbol.dispose]();
    else this.#options.write(RESTORE);
  }

  /** Stops the process, with the cursor below the drawn rows. */
  #stop(): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    this.#painter.park();
    this.#keyMode?.stop();
  }

  /** Draws the rows again, with the terminal in key mode. */
  #resume(wasStopped: boolean): void {
    this.#isSuspended = false;
    if (wasStopped) this.#painter.forget();
    this.print();
  }

  /** Draws the rows again when the terminal has kept its size for a moment. */
  #resize(): void {
    this.#painter.move();
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = setTimeout(() => {
      this.#resizeTimer = undefined;
      this.#painter.move();
      this.print();
    }, RESIZE_PAUSE);
  }

  async #readKeys({ input }: Keyboard): Promise<void> {
    for await (const bytes of input()) this.#take(bytes);
    this.#takeGathered();
    this.#isClosed = true;
    this.#end();
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#isClosed = true;
    this.#hasEnded = true;
    this.#asked?.reject(error);
    this.#asked = undefined;
  }

  #take(bytes: Uint8Array): void {
    clearTimeout(this.#escapeTimer);
    const now = this.#now();
    const isCtrlC = bytes.length === 1 && bytes[0] === 0x03;
    if (isCtrlC && now - this.#typedAt >= PASTE_TIMEOUT) this.#keys.reset();
    this.#typedAt = now;
    for (const key of this.#keys.feed(bytes)) this.#gather(key);
    if (this.#keys.isAmbiguous) {
      this.#escapeTimer = setTimeout(() => {
        for (const key of this.#keys.flush()) this.#gather(key);
        this.refresh();
      }, ESCAPE_TIMEOUT);
    }
    this.refresh();
  }

  /** Joins text of several chunks, so that a large paste is one change. */
  #gather(key: Key): void {
    if (key.kind === "press") {
      this.#takeGathered();
      return this.#press(key);
    }
    const goesOn = key.kind === this.#gathered?.first.kind &&
      (key.kind === "text" || key.isContinued);
    if (!goesOn) this.#takeGathered();
    this.#gathered ??= { first: key, parts: [] };
    this.#gathered.parts.push(key.text);
  }

  #takeGathered(): void {
    if (this.#gathered === undefined) return;
    const { first, parts } = this.#gathered;
    this.#gathered = undefined;
    if (first.kind === "press") return;
    this.#press({ ...first, text: parts.join("") });
  }

  #press(key: Key): void {
    const isAfterEscape = this.#now() - this.#escapedAt < ESCAPE_LIMIT;
    this.#escapedAt = -Infinity;
    switch (key.kind === "press" ? key.name : undefined) {
      case "escape":
        // As Ctrl-C, without a chord, while an operation goes on: nobody asks then.
        if (isAfterEscape && this.#asked === undefined) {
          return this.#options.keyboard?.onInterrupt();
        }
        if (this.#state.search === undefined) this.#escapedAt = this.#now();
        break;
      case "enter":
        if (isAfterEscape || this.#waiting.length >= MAX_WAITING) {
          key = { kind: "press", name: "alt-enter" };
        }
        break;
      case "ctrl-c":
        return this.#options.keyboard?.onInterrupt();
      case "ctrl-\\":
        return this.#options.keyboard?.onQuit();
      case "ctrl-l":
        return this.#painter.clear(this.#frame());
      case "ctrl-z":
        return this.#stop();
    }
    if (this.#hasEnded) return;
    const { editor, action } = pressKey(this.#state, key);
    this.#state = editor;
    if (action === "end") this.#end();
    if (action === "send") this.#send();
  }

  #send(): void {
    const { typed: { text }, isTooLong } = this.#state;
    this.#state = moveToHistory(this.#state);
    const bytes = new TextEncoder().encode(text).length;
    const reason = isTooLong || bytes > MAX_TEXT_LENGTH
      ? PROMPT_TOO_LONG
      : this.#options.keyboard?.isLossy && text.includes("\ufffd")
      ? LOST
      : undefined;
    this.#deliver(
      reason ? { kind: "refused", reason } : { kind: "text", text },
    );
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#deliver({ kind: "end" });
  }

  /** Delivers an input to the pending call of {@linkcode read}, or the next one. */
  #deliver(input: Input): void {
    if (this.#asked === undefined) {
      this.#waiting.push(input);
      return;
    }
    if (input.kind === "text") {
      this.#painter.draw(NO_FRAME, this.#sent(input.text));
    } else {
      this.#painter.leave();
    }
    this.#asked.resolve(input);
    this.#asked = undefined;
  }

  #sent(text: string): string {
    const { columns } = this.#options.size();
    return sentText(text, columns, this.#options);
  }

  #frame(): Frame {
    const size = this.#options.size();
    const { typed, search } = this.#state;
    const isTyped = typed.text !== "" || search !== undefined;
    const isShown = this.#asked !== undefined || this.#status && isTyped;
    return frameOf(
      {
        status: this.#status?.(size.columns) ?? "",
        waiting: this.#status
          ? this.#waiting.flatMap((input) =>
            input.kind === "text" ? [input.text] : []
          )
          : [],
        editor: isShown ? this.#state : undefined,
      },
      size,
      this.#options,
    );
  }
}
