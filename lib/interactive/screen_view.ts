import type { Editor, Size } from "../editor.ts";
import { EDITOR_KEYS, type LineOptions, PLAIN_HINT } from "./line_options.ts";
import { linesAbout } from "./event_lines.ts";
import { signsOfLife } from "./sign_of_life.ts";
import { type Marks, SPINNER_PAUSE, StatusLine } from "./status_line.ts";
import type { Input, Step, Typing, View, ViewEvent } from "./view.ts";
import type { ReplyWriter } from "./write_reply.ts";

export interface ScreenViewOptions {
  readonly editor: Editor;
  readonly reply: ReplyWriter;
  readonly lines: LineOptions;
  /** Whether prompts are typed there, and do not come from the command line. */
  readonly isTyped: boolean;
  readonly separatesReplies: boolean;
  readonly marks: Marks;
  readonly size: () => Size;
  readonly now?: (() => number) | undefined;
}

export class ScreenView implements View {
  readonly typing: Typing | undefined;
  readonly #options: ScreenViewOptions;
  /** The status line; `undefined` if no row is redrawn during an operation. */
  readonly #status: StatusLine | undefined;
  readonly #takeSign: (step: Step) => void;
  #spinner: ReturnType<typeof setTimeout> | undefined;
  #hasGap = false;
  #hasShownKeys = false;

  constructor(options: ScreenViewOptions) {
    const { editor, lines, isTyped, marks, now, size } = options;
    this.#options = options;
    this.typing = isTyped ? editor : undefined;
    this.#takeSign = signsOfLife(lines, (line) => editor.print(line));
    this.#status = lines.isPlain || lines.isQuiet ? undefined : new StatusLine({
      style: lines.style,
      marks,
      columns: () => size().columns,
      now,
    });
  }

  async readPrompt(): Promise<Input> {
    const { editor, lines } = this.#options;
    const text = EDITOR_KEYS + (lines.isPlain ? "" : PLAIN_HINT);
    const keys = this.#hasShownKeys
      ? ""
      : linesAbout({ type: "banner", text }, lines);
    // A blank line before a prompt, unless the last line is a prompt.
    const asked = editor.read(keys + (this.#hasGap ? "" : "\n"));
    this.#hasShownKeys = this.#hasGap = true;
    return await asked;
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { editor, lines } = this.#options;
    switch (event.type) {
      case "begin":
        this.#take(event);
        this.#hasGap = false;
        if (lines.isPlain) return;
        editor.setStatus((columns) => this.#status?.row(columns) ?? "");
        editor.refresh();
        return this.#spin();
      case "run":
      case "wait":
      case "progress":
        return this.#step(event);
      case "end":
        clearTimeout(this.#spinner);
        editor.setStatus(undefined);
        return editor.print(this.#take(event));
      case "reply":
        editor.print(linesAbout(event, lines));
        if (this.#options.separatesReplies) editor.print("\n");
        return this.#options.reply(event.text, signal);
      case "banner":
      case "thread":
      case "dropped":
      case "error":
      case "ctrl-c":
        return editor.print(linesAbout(event, lines));
      case "farewell":
        editor[Symbol.dispose]();
        return editor.print(linesAbout(event, lines));
      default:
        event satisfies never;
    }
  }

  #step(step: Step): void {
    const lines = this.#take(step);
    if (lines === "") this.#options.editor.refresh();
    else this.#options.editor.print(lines);
  }

  /** The lines of a step, which stay above the status. */
  #take(step: Step): string {
    this.#takeSign(step);
    return this.#status?.take(step) ?? linesAbout(step, this.#options.lines);
  }

  #spin(): void {
    if (this.#status === undefined) return;
    this.#spinner = setTimeout(() => {
      this.#options.editor.refresh();
      this.#spin();
    }, SPINNER_PAUSE);
  }
}
