/**
 * A real terminal, with a prompt editor, a status line and colour.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "../input_lines.ts";
import { plainLine, plainText } from "../plain_text.ts";
import { startTimer } from "../timer.ts";
import type { ProgressEvent, Wait } from "../gateway.ts";
import { type Key, KeyParser } from "./keys.ts";
import type { KeyModeEvents } from "./key_mode.ts";
import { type Frame, Painter, type Size } from "./painter.ts";
import {
  clearPrompt,
  type Editor,
  NEW_EDITOR,
  pressKey,
  type Request,
  takePrompt,
} from "./prompt_editor.ts";
import { PromptView, sentPrompt } from "./prompt_view.ts";
import { writeReply } from "./write_reply.ts";
import { StatusLine } from "./status_line.ts";
import { COLOURED, PLAIN, type Style } from "./style.ts";
import type { Input, Terminal, TerminalOptions } from "./terminal.ts";

const KEYS =
  "Alt-Enter starts a line, Ctrl-R searches, Ctrl-C stops, Ctrl-D or exit leaves";

/** The longest wait for the rest of a sequence after an Escape, in milliseconds. */
const ESCAPE_TIMEOUT = 50;

/** How long after a dropped run Ctrl-C does not leave the program, in milliseconds. */
const DEAF_AFTER_DROP = 1_000;

/** The shortest time between two frames, in milliseconds. */
const FRAME_PAUSE = 10;

/** The pause after a frame, as a multiple of the time that drawing it took. */
const DRAWING_SHARE = 10;

/**
 * The longest pause after a frame, in milliseconds: a frame can take seconds because
 * the process or the machine was stopped meanwhile.
 */
const MAX_FRAME_PAUSE = 500;

/** The number of queued prompts at which reading input stops. */
const MAX_WAITING = 1_000;

const PASTE_IN_BRACKETS = "\x1b[?2004h";
const PASTE_AS_TYPED = "\x1b[?2004l";

/** Options of an {@linkcode EditingTerminal}. */
export interface EditingTerminalOptions extends
  Pick<
    TerminalOptions,
    "stdout" | "stderr" | "stdoutIsTerminal" | "quiet"
  > {
  /** Begins to read the keyboard. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly colour: boolean;
  /** Returns the current size of the terminal. */
  readonly size: () => Size;
  /** Switches the terminal to key mode until the result is disposed of. */
  readonly keyMode: (events: KeyModeEvents) => Disposable;
  /** Called on a Ctrl-C that comes as a byte, and not as a signal. */
  readonly onInterrupt: () => void;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: () => number;
}

/**
 * A terminal in key mode: it sends each key as it is pressed and does not echo it.
 *
 * The bottom rows show the status of the current run, the queued prompts, and the
 * prompt that is typed. All other output is written above them once.
 */
export class EditingTerminal implements Terminal {
  readonly #options: EditingTerminalOptions;
  readonly #now: () => number;
  readonly #style: Style;
  readonly #painter: Painter;
  readonly #status: StatusLine;
  readonly #view: PromptView;
  readonly #keyMode: Disposable;
  readonly #keys = new KeyParser();
  readonly #waiting: Input[] = [];
  #hasRoom = Promise.withResolvers<void>();
  #editor: Editor = NEW_EDITOR;
  /** Typed or pasted text that has not become a key yet. */
  #gathered: { readonly first: Key; readonly parts: string[] } | undefined;
  #asked: PromiseWithResolvers<Input> | undefined;
  #failure: unknown;
  #onInterrupt: (() => void) | undefined;
  /** Whether standard input has ended. */
  #isClosed = false;
  /** Whether standard input has ended, or the user has pressed Ctrl-D. */
  #hasEnded = false;
  /** Whether the program is stopped and another one has the terminal. */
  #isSuspended = false;
  #hasGap = false;
  #hasShownKeys = false;
  #droppedAt = -Infinity;
  #thread: string | undefined;
  #hasRun = false;
  #stopEscapeTimer = () => {};
  /** Stops the timer of the next frame; `undefined` if none is due. */
  #stopFrameTimer: (() => void) | undefined;
  #nextFrameAt = 0;

  /** Opens the terminal. Disposing of the result restores it. */
  constructor(options: EditingTerminalOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#style = options.colour ? COLOURED : PLAIN;
    this.#painter = new Painter(options.stderr);
    this.#view = new PromptView(this.#style);
    this.#status = new StatusLine({
      style: this.#style,
      columns: () => options.size().columns,
      onChange: (above) => above === "" ? this.#drawSoon() : this.#draw(above),
    });
    this.#keyMode = options.keyMode({
      suspend: () => this.#suspend(),
      resume: () => this.#resume(),
      resize: () => this.#drawSoon(),
    });
    options.stderr(PASTE_IN_BRACKETS);
    this.#read().catch((error) => this.#fail(error));
  }

  readPrompt(): Promise<Input> {
    this.#takeGathered();
    const next = this.#waiting.shift();
    this.#hasRoom.resolve();
    if (next?.kind === "prompt") {
      this.#gap();
      this.#print(this.#sent(next.text));
    }
    if (next !== undefined) return Promise.resolve(next);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasEnded) return Promise.resolve({ kind: "end" });
    this.#showKeys();
    this.#gap();
    this.#asked = Promise.withResolvers();
    this.#draw();
    return this.#asked.promise;
  }

  thread(threadId: string): void {
    this.#thread = threadId;
    this.banner(`thread ${threadId}`);
  }

  begin(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
    this.#hasGap = false;
    if (this.#options.quiet) this.#draw();
    else this.#status.start();
  }

  wait(wait: Wait): void {
    this.#status.wait(wait);
  }

  run(): void {
    this.#hasRun = true;
    this.#status.run();
  }

  progress(event: ProgressEvent): void {
    this.#status.progress(event);
  }

  end(completed: boolean): void {
    this.#onInterrupt = undefined;
    this.#status.stop(completed);
    this.#draw();
  }

  async reply(text: string): Promise<void> {
    if (this.#options.stdoutIsTerminal) this.#print("\n");
    await writeReply(this.#options, text);
  }

  banner(text: string): void {
    if (this.#options.quiet) return;
    this.#print(this.#style.dim(plainLine(text)) + "\n");
  }

  note(text: string): void {
    this.#print(plainLine(text) + "\n");
  }

  error(text: string): void {
    this.#print(this.#style.red(`Error: ${plainText(text)}`) + "\n");
  }

  interrupt(): boolean {
    this.#takeGathered();
    // A paste whose end was lost ends here.
    this.#keys.reset();
    const isTyped = this.#editor.prompt.text !== "" ||
      this.#editor.search !== undefined;
    const isDeaf = this.#now() - this.#droppedAt < DEAF_AFTER_DROP;
    if (this.#onInterrupt !== undefined) {
      this.#editor = clearPrompt(this.#editor);
      this.#waiting.length = 0;
      this.#hasEnded = this.#isClosed;
      this.#hasRoom.resolve();
      this.#droppedAt = this.#now();
      this.#onInterrupt();
      return true;
    }
    if (this.#asked === undefined) return isDeaf;
    if (isTyped) {
      this.#editor = clearPrompt(this.#editor);
      this.#drawSoon();
    } else if (!isDeaf) {
      this.#leave({ kind: "interrupt" });
    }
    return true;
  }

  [Symbol.dispose](): void {
    this.#stopEscapeTimer();
    this.#onInterrupt = undefined;
    this.#status.stop(false);
    this.#draw();
    this.#painter.leave();
    this.#hasEnded = true;
    this.#asked = undefined;
    this.#stopFrameTimer?.();
    if (this.#hasRun && this.#thread !== undefined) {
      this.banner(`agent-gateway ${threadOption(this.#thread)}`);
    }
    this.#options.stderr(PASTE_AS_TYPED);
    this.#keyMode[Symbol.dispose]();
  }

  /** Hands the terminal to another program, with the cursor below the drawn rows. */
  async #suspend(): Promise<void> {
    this.#isSuspended = true;
    this.#painter.leave();
    this.#options.stderr(PASTE_AS_TYPED);
    // Standard output is written after standard error, so this write waits for both.
    await this.#options.stdout.write(new Uint8Array());
  }

  /** Takes the terminal back and draws the rows again. */
  #resume(): void {
    this.#isSuspended = false;
    this.#painter.forget();
    this.#options.stderr(PASTE_IN_BRACKETS);
    this.#draw();
  }

  async #read(): Promise<void> {
    for await (const bytes of this.#options.stdin()) {
      this.#take(bytes);
      while (this.#waiting.length >= MAX_WAITING) {
        this.#hasRoom = Promise.withResolvers();
        await this.#hasRoom.promise;
      }
    }
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
    this.#stopEscapeTimer();
    for (const key of this.#keys.feed(bytes)) this.#gather(key);
    if (this.#keys.isAmbiguous) {
      this.#stopEscapeTimer = startTimer(ESCAPE_TIMEOUT, () => {
        for (const key of this.#keys.flush()) this.#gather(key);
        this.#drawSoon();
      });
    }
    this.#drawSoon();
  }

  /** Joins text of several chunks, so that a large paste is one change. */
  #gather(key: Key): void {
    if (key.kind === "press") {
      this.#takeGathered();
      this.#press(key);
      return;
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
    if (this.#hasEnded) return;
    if (key.kind === "press" && key.name === "ctrl-c") {
      this.#options.onInterrupt();
      return;
    }
    const { editor, request } = pressKey(this.#editor, key);
    this.#editor = editor;
    if (request !== undefined) this.#do(request);
  }

  #do(request: Request): void {
    if (request === "clear screen") {
      this.#painter.clear(this.#frame());
      return;
    }
    if (request === "end") {
      this.#end();
      return;
    }
    const { isTooLong } = this.#editor;
    const { text, editor } = takePrompt(this.#editor);
    this.#editor = editor;
    this.#hasInput(
      isTooLong || isLongerThan(text, MAX_LINE_BYTES)
        ? { kind: "too long" }
        : { kind: "prompt", text },
    );
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#hasInput({ kind: "end" });
  }

  /** Delivers input to the pending request, or keeps it for the next one. */
  #hasInput(input: Input): void {
    if (this.#asked === undefined) {
      this.#waiting.push(input);
    } else if (input.kind === "prompt") {
      this.#painter.erase(this.#options.size(), this.#sent(input.text));
      this.#asked.resolve(input);
      this.#asked = undefined;
    } else {
      this.#leave(input);
    }
  }

  /** Answers the pending request and keeps the typed text. */
  #leave(input: Input): void {
    this.#painter.leave();
    this.#asked?.resolve(input);
    this.#asked = undefined;
  }

  #sent(text: string): string {
    return sentPrompt(text, this.#options.size().columns, this.#style);
  }

  /** Shows once how to leave and which keys there are. */
  #showKeys(): void {
    if (!this.#hasShownKeys) this.banner(KEYS);
    this.#hasShownKeys = true;
  }

  /** Writes a blank line before a prompt, unless the last line is a prompt. */
  #gap(): void {
    if (!this.#hasGap) this.#print("\n");
    this.#hasGap = true;
  }

  /** Writes lines above the drawn rows. */
  #print(lines: string): void {
    this.#draw(lines);
  }

  /** Draws now if the last frame is old enough, else together with later changes. */
  #drawSoon(): void {
    if (this.#stopFrameTimer !== undefined) return;
    const pause = this.#nextFrameAt - this.#now();
    if (pause <= 0) this.#draw();
    else this.#stopFrameTimer = startTimer(pause, () => this.#draw());
  }

  #draw(above = ""): void {
    this.#stopFrameTimer?.();
    this.#stopFrameTimer = undefined;
    this.#takeGathered();
    if (this.#isSuspended) {
      if (above !== "") this.#options.stderr(above);
      return;
    }
    const begun = this.#now();
    this.#painter.draw(this.#frame(), above);
    const end = this.#now();
    const pause = Math.max(FRAME_PAUSE, (end - begun) * DRAWING_SHARE);
    this.#nextFrameAt = end + Math.min(pause, MAX_FRAME_PAUSE);
  }

  #frame(): Frame {
    const isRunning = this.#onInterrupt !== undefined;
    const isTyped = this.#editor.prompt.text !== "" ||
      this.#editor.search !== undefined;
    const isShown = this.#asked !== undefined || isRunning && isTyped;
    const size = this.#options.size();
    return this.#view.frame({
      status: isRunning ? this.#status.row(size.columns) : "",
      queued: isRunning
        ? this.#waiting.flatMap((input) =>
          input.kind === "prompt" ? [input.text] : []
        )
        : [],
      editor: isShown ? this.#editor : undefined,
    }, size);
  }
}

/** The option that continues a thread, quoted for a shell. */
function threadOption(threadId: string): string {
  const id = plainLine(threadId);
  const word = /^[\w.:@%+,/-]+$/.test(id)
    ? id
    : `'${id.replaceAll("'", "'\\''")}'`;
  return id.startsWith("-") ? `--thread=${word}` : `--thread ${word}`;
}

function isLongerThan(text: string, bytes: number): boolean {
  // No UTF-16 code unit takes more than three bytes of UTF-8.
  return text.length * 3 > bytes &&
    new TextEncoder().encode(text).length > bytes;
}
