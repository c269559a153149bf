import { type Input, pause } from "../io.ts";
import { line, linesAbout } from "./event_lines.ts";
import { signsOfLife } from "./sign_of_life.ts";
import type { StatusLine } from "./status_line.ts";
import type { Terminal } from "./terminal.ts";
import {
  CONTINUED_LIMIT,
  type Step,
  type Typing,
  type View,
  type ViewEvent,
} from "./view.ts";
import type { ReplyWriter } from "./write_reply.ts";

/**
 * Where lines are shown and prompts are typed: an editor, or plain lines, which draw no
 * row.
 */
export interface Surface extends Typing, Disposable {
  /** Asks for the next prompt, below lines that stay. */
  read(above: string): Promise<Input>;
  /** Writes lines that stay, each with its newline. */
  print(lines: string, kind?: "progress"): void;
  /** The same after a Ctrl-C, where the terminal has echoed it. */
  showCtrlC?(lines: string): void;
  /** Shows a row while an operation goes on. */
  setStatus?(row: ((columns: number) => string) | undefined): void;
  /** Draws the row again. */
  refresh?(): void;
  /** Draws no row any more, not even to erase it. Lines are written as they come. */
  abandonRow?(): void;
}

export interface ChatViewOptions {
  readonly surface: Surface;
  readonly reply: ReplyWriter;
  readonly terminal: Terminal;
  /** What the row shows; none without a screen, or if nothing is to be redrawn. */
  readonly status?: StatusLine | undefined;
  /**
   * Whether another program reads the replies, and may show them on this terminal, as a
   * pager does.
   */
  readonly hasReader?: (() => Promise<boolean>) | undefined;
}

/** What a person sees of a conversation. */
export class ChatView implements View {
  readonly typing: Typing | undefined;
  readonly #options: ChatViewOptions;
  readonly #noteStep: (step: Step) => void;
  #status: StatusLine | undefined;
  /** Whether the terminal is left to the program that reads the replies. */
  #isHushed = false;
  /** Whether the last line is blank, or a prompt. */
  #hasGap = false;
  #hasShownKeys = false;

  constructor(options: ChatViewOptions) {
    const { surface, terminal, status } = options;
    this.#options = options;
    this.#status = status;
    this.typing = terminal.isTyped ? surface : undefined;
    this.#noteStep = signsOfLife(terminal, (line) => this.#print(line));
  }

  readPrompt(): Promise<Input> {
    const { surface, terminal } = this.#options;
    const isFirst = !this.#hasShownKeys;
    const keys = isFirst && terminal.keys !== undefined
      ? line(terminal.keys, terminal)
      : "";
    const gap = this.#hasGap || !terminal.isScreen ? "" : "\n";
    this.#hasShownKeys = true;
    this.#hasGap = true;
    return surface.read(keys + gap);
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { surface, terminal } = this.#options;
    if (this.#isLate && event.type !== "continued") {
      return this.#showLater(event, signal);
    }
    switch (event.type) {
      case "begin":
        return this.#begin(event);
      case "run":
      case "wait":
      case "progress":
        return this.#step(event);
      case "end":
        surface.setStatus?.(undefined);
        // At once: a reply may follow, which must not come after the row.
        return this.#print(this.#linesAbout(event));
      case "reply":
        surface.print(linesAbout(event, terminal));
        if (terminal.mixesReplies) surface.print("\n");
        return this.#reply(event.text, signal);
      case "banner":
      case "thread":
      case "dropped":
      case "error":
        return surface.print(linesAbout(event, terminal));
      case "ctrl-c":
        return this.#showCtrlC(linesAbout(event, terminal));
      case "continued":
        return this.#continue();
      case "farewell":
        surface[Symbol.dispose]();
        return this.#leave(linesAbout(event, terminal));
      default:
        event satisfies never;
    }
  }

  #begin(event: Step): void {
    const { surface, terminal } = this.#options;
    this.#hasGap = false;
    if (!terminal.isPlain) {
      surface.setStatus?.((columns) => this.#status?.row(columns) ?? "");
    }
    this.#step(event);
    this.#status?.spin(() => surface.refresh?.());
  }

  #step(step: Step): void {
    const lines = this.#linesAbout(step);
    if (lines === "") this.#options.surface.refresh?.();
    else this.#print(lines);
  }

  /** Writes lines about progress, above the row if there is one. */
  #print(lines: string): void {
    if (!this.#isHushed) this.#options.surface.print(lines, "progress");
  }

  /** The lines of a step, which stay above the row. */
  #linesAbout(step: Step): string {
    this.#noteStep(step);
    return this.#status?.advance(step) ??
      linesAbout(step, this.#options.terminal);
  }

  /**
   * Whether the process may have been stopped, and has not heard yet that it continues
   * in the background, where it must not draw.
   */
  get #isLate(): boolean {
    return !this.#options.terminal.isTyped && this.#status?.isLate === true;
  }

  async #showLater(
    event: ViewEvent,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await pause(CONTINUED_LIMIT);
    await this.show(event, signal);
  }

  async #reply(text: string, signal: AbortSignal | undefined): Promise<void> {
    const { reply, hasReader } = this.#options;
    await reply(text, signal);
    if (!await hasReader?.()) return;
    this.#abandonRow();
    this.#isHushed = true;
  }

  #showCtrlC(lines: string): void {
    const { surface } = this.#options;
    if (surface.showCtrlC) surface.showCtrlC(lines);
    else surface.print(lines);
  }

  /** A chat draws again by itself; a script may be in the background now. */
  #continue(): void {
    if (!this.#options.terminal.isTyped) this.#abandonRow();
  }

  #leave(lines: string): void {
    const { surface, terminal } = this.#options;
    if (terminal.keys !== undefined) surface.print(lines);
  }

  /** From now on, progress is shown as lines, without a row. */
  #abandonRow(): void {
    this.#status?.stop();
    this.#status = undefined;
    this.#options.surface.abandonRow?.();
  }
}
