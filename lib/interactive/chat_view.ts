import type { Input } from "../io.ts";
import { line, linesAbout } from "./event_lines.ts";
import { signsOfLife } from "./sign_of_life.ts";
import type { StatusLine } from "./status_line.ts";
import type { Terminal } from "./terminal.ts";
import type { Step, Typing, View, ViewEvent } from "./view.ts";
import type { ReplyWriter } from "./write_reply.ts";

/** Where lines are shown and prompts are typed: an editor, or plain lines. */
export interface Surface extends Typing, Disposable {
  /** Asks for the next prompt, below lines that stay. */
  read(above: string): Promise<Input>;
  /** Writes lines that stay, each with its newline. */
  print(lines: string, kind?: "progress"): void;
  /** The same after a Ctrl-C, where the terminal has echoed it. */
  showCtrlC?(lines: string): void;
  /** Shows a row while an operation goes on. */
  setStatus(row: ((columns: number) => string) | undefined): void;
  /** Draws the row again. */
  refresh(): void;
}

export interface ChatViewOptions {
  readonly surface: Surface;
  readonly reply: ReplyWriter;
  readonly terminal: Terminal;
  /** What the row shows; none without a screen, or if nothing is to be redrawn. */
  readonly status?: StatusLine | undefined;
}

/** What a person sees of a conversation. */
export class ChatView implements View {
  readonly typing: Typing | undefined;
  readonly #options: ChatViewOptions;
  readonly #showSign: (step: Step) => void;
  /** Whether the last line is blank, or a prompt. */
  #hasGap = false;
  #hasShownKeys = false;

  constructor(options: ChatViewOptions) {
    const { surface, terminal } = options;
    this.#options = options;
    this.typing = terminal.isTyped ? surface : undefined;
    const print = (line: string) => surface.print(line, "progress");
    this.#showSign = signsOfLife(terminal, print);
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
    const { surface, reply, terminal } = this.#options;
    switch (event.type) {
      case "begin":
        return this.#begin(event);
      case "run":
      case "wait":
      case "progress":
        return this.#step(event);
      case "end":
        surface.setStatus(undefined);
        return surface.print(this.#linesAbout(event), "progress");
      case "reply":
        surface.print(linesAbout(event, terminal));
        if (terminal.mixesReplies) surface.print("\n");
        return reply(event.text, signal);
      case "banner":
      case "thread":
      case "dropped":
      case "error":
        return surface.print(linesAbout(event, terminal));
      case "ctrl-c": {
        const lines = linesAbout(event, terminal);
        if (surface.showCtrlC) surface.showCtrlC(lines);
        else surface.print(lines);
        return;
      }
      case "farewell":
        surface[Symbol.dispose]();
        if (terminal.keys === undefined) return;
        return surface.print(linesAbout(event, terminal));
      default:
        event satisfies never;
    }
  }

  #begin(event: Step): void {
    const { surface, status, terminal } = this.#options;
    this.#hasGap = false;
    if (!terminal.isPlain) {
      surface.setStatus((columns) => status?.row(columns) ?? "");
    }
    this.#step(event);
    status?.spin(() => surface.refresh());
  }

  #step(step: Step): void {
    const { surface } = this.#options;
    const lines = this.#linesAbout(step);
    if (lines === "") surface.refresh();
    else surface.print(lines, "progress");
  }

  /** The lines of a step, which stay above the row. */
  #linesAbout(step: Step): string {
    const { status, terminal } = this.#options;
    this.#showSign(step);
    return status?.advance(step) ?? linesAbout(step, terminal);
  }
}
