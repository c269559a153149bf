import type { ByteSink, Input } from "../io.ts";
import { linesAbout } from "./event_lines.ts";
import { PlainProgress } from "./plain_progress.ts";
import type { StatusLine } from "./status_line.ts";
import type { Terminal } from "./terminal.ts";
import type { Step, Typing, View, ViewEvent } from "./view.ts";
import { writeReply } from "./write_reply.ts";
import { type Shown, shown } from "../text.ts";

/**
 * Where lines are shown and prompts are typed: an editor, or plain lines, which draw no
 * row.
 */
export interface Surface extends Typing {
  /** Asks for the next prompt, below lines that stay. */
  read(above: Shown): Promise<Input>;
  /** Writes lines that stay, each with its newline. After a Ctrl-C there may be none. */
  print(lines: Shown, kind?: "progress" | "ctrl-c"): void;
  /** Shows a row while an operation goes on. */
  setStatus?(row: (() => Shown) | undefined): void;
  /** Draws the row again. */
  refresh?(): void;
  /** Gives the terminal back, with lines below what was typed and not sent. */
  leave(below: Shown): void | Promise<void>;
}

interface ChatViewOptions {
  readonly surface: Surface;
  /** Where replies are written. */
  readonly stdout: ByteSink;
  readonly terminal: Terminal;
  /** What the row shows; none without a screen, or if nothing is to be redrawn. */
  readonly status?: StatusLine | undefined;
}

/** What a person sees of a conversation. */
export class ChatView implements View {
  readonly typing: Typing | undefined;
  readonly #options: ChatViewOptions;
  readonly #progress: StatusLine | PlainProgress;
  /** Whether the terminal may belong to the program that reads the replies now. */
  #isHushed = false;
  /** Whether the last line is blank, or a prompt. */
  #hasGap = false;

  constructor(options: ChatViewOptions) {
    const { surface, terminal, status } = options;
    this.#options = options;
    this.typing = terminal.isTyped ? surface : undefined;
    const write = (line: Shown) => this.#print(line);
    this.#progress = status ?? new PlainProgress({ look: terminal, write });
  }

  readPrompt(): Promise<Input> {
    const { surface, terminal } = this.#options;
    const gap = this.#hasGap || !terminal.isScreen ? "" : shown`\n`;
    this.#hasGap = true;
    return surface.read(gap);
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { surface, terminal, stdout } = this.#options;
    switch (event.type) {
      case "begin":
        return this.#begin(event);
      case "run":
      case "wait":
      case "progress":
      case "end":
        return this.#step(event);
      case "reply":
        surface.print(linesAbout(event, terminal));
        if (terminal.mixesReplies) surface.print(shown`\n`);
        this.#isHushed = terminal.endsProgress;
        return writeReply(
          { stdout, form: terminal.replies },
          event.text,
          signal,
        );
      case "banner":
      case "thread":
      case "dropped":
      case "error":
        return surface.print(linesAbout(event, terminal));
      case "ctrl-c":
        return surface.print(linesAbout(event, terminal), "ctrl-c");
      case "farewell":
        return surface.leave(linesAbout(event, terminal));
      default:
        event satisfies never;
    }
  }

  #begin(event: Step): void {
    const { surface, terminal, status } = this.#options;
    this.#hasGap = false;
    if (!terminal.isPlain) {
      surface.setStatus?.(() => status?.row() ?? "");
    }
    this.#step(event);
    status?.spin(() => surface.refresh?.());
  }

  #step(step: Step): void {
    const { surface } = this.#options;
    const isEnd = step.type === "end";
    if (isEnd) surface.setStatus?.(undefined);
    const lines = this.#progress.advance(step);
    // The row is erased at once: a reply may follow, which must not come after it.
    if (lines === "" && !isEnd) surface.refresh?.();
    else this.#print(lines);
  }

  /** Writes lines about progress, above the row if there is one. */
  #print(lines: Shown): void {
    if (!this.#isHushed) this.#options.surface.print(lines, "progress");
  }
}
