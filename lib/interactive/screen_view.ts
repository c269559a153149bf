import type { Editor, Size } from "../editor.ts";
import { startTimer } from "../io.ts";
import { COLOURED, PLAIN, plainLine, type Style } from "../text.ts";
import { CtrlC } from "./ctrl_c.ts";
import {
  againIn,
  banner,
  continuation,
  duration,
  EDITOR_KEYS,
  noteOn,
  type NoteOptions,
} from "./notes.ts";
import { PROMPT_TOO_LONG } from "./prompt_input.ts";
import { type Marks, SPINNER_MILLISECONDS, StatusLine } from "./status_line.ts";
import {
  type Input,
  LEAVE_HINT,
  type View,
  type ViewEvent,
  type ViewOptions,
} from "./view.ts";
import { writeReply } from "./write_reply.ts";

/** The part of a terminal that is drawn on. An {@linkcode Editor} is one. */
export interface Screen extends Disposable {
  /** Writes lines above the drawn rows, each with its line end. */
  print(lines: string): void;
  /** Sets the function that returns the status row; `undefined` for no row. */
  setStatus(status: ((columns: number) => string) | undefined): void;
  /** Draws the rows again. */
  refresh(): void;
}

export interface ScreenViewOptions
  extends Omit<ViewOptions, "stdin" | "stderr"> {
  /** Opens the part of the terminal that is drawn on. */
  readonly screen: Screen;
  /** The screen, if prompts are typed on it; `undefined` if they come from the command line. */
  readonly editor: Editor | undefined;
  /** Whether standard output is a terminal, too. */
  readonly stdoutIsTerminal: boolean;
  /** Whether progress is shown as plain lines, which are never redrawn. */
  readonly isPlain: boolean;
  readonly marks: Marks;
  /** Returns the current size of the terminal. */
  readonly size: () => Size;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** A view on a terminal, with a prompt editor, a status line and colour. */
export class ScreenView implements View {
  readonly #options: ScreenViewOptions;
  readonly #style: Style;
  readonly #status: StatusLine;
  readonly #ctrlC: CtrlC;
  readonly #now: () => number;
  readonly #interrupted = Promise.withResolvers<Input>();
  #operation: AbortController | undefined;
  #startedAt = 0;
  #stopSpinner = () => {};
  #droppedPrompts = 0;
  #hasGap = false;
  #hasShownKeys = false;
  #threadId: string | undefined;
  #hasRun = false;

  constructor(options: ScreenViewOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#style = options.hasColour ? COLOURED : PLAIN;
    this.#ctrlC = new CtrlC(this.#now);
    this.#status = new StatusLine({
      style: this.#style,
      marks: options.marks,
      columns: () => options.size().columns,
      now: options.now,
    });
  }

  async readPrompt(): Promise<Input> {
    const { editor } = this.#options;
    if (editor === undefined) return { kind: "end" };
    const keys = this.#hasShownKeys
      ? ""
      : banner(EDITOR_KEYS, this.#noteOptions());
    // A blank line before a prompt, unless the last line is a prompt.
    const entry = await Promise.race([
      editor.read(keys + (this.#hasGap ? "" : "\n")),
      this.#interrupted.promise,
    ]);
    this.#hasShownKeys = true;
    this.#hasGap = true;
    switch (entry.kind) {
      case "text":
        return { kind: "prompt", text: entry.text };
      case "too long":
        return { kind: "refused", reason: PROMPT_TOO_LONG };
      default:
        return entry;
    }
  }

  begin(operation: AbortController): void {
    const { isPlain, isQuiet, screen } = this.#options;
    this.#operation = operation;
    this.#startedAt = this.#now();
    this.#hasGap = false;
    if (isPlain) return;
    if (!isQuiet) this.#status.start();
    screen.setStatus((columns) => this.#status.row(columns));
    screen.refresh();
    if (!isQuiet) this.#spin();
  }

  show(event: ViewEvent): void | Promise<void> {
    const { screen } = this.#options;
    if (event.type === "thread") this.#threadId = event.threadId;
    if (event.type === "run") this.#hasRun = true;
    const progress = this.#options.isPlain
      ? this.#plainProgress(event)
      : this.#status.take(event);
    if (ENDING.has(event.type)) {
      this.#stopSpinner();
      screen.setStatus(undefined);
    }
    if (event.type === "reply") return this.#reply(event.text, progress);
    const lines = progress + noteOn(event, this.#noteOptions());
    if (lines !== "" || ENDING.has(event.type)) screen.print(lines);
    if (ENDING.has(event.type)) this.#operation = undefined;
  }

  interrupt(): boolean {
    const { editor, screen } = this.#options;
    if (editor === undefined) return false;
    if (this.#operation?.signal.aborted === false) {
      this.#droppedPrompts = editor.dropWaiting();
      this.#ctrlC.settle();
      this.#operation.abort();
      return true;
    }
    if (editor.isAsking && editor.isTyped) {
      editor.clear();
      this.#ctrlC.clear();
      return true;
    }
    switch (this.#ctrlC.press()) {
      case "announce":
        screen.print(`${this.#style.dim(LEAVE_HINT)}\n`);
        return true;
      case "leave":
        this.#interrupted.resolve({ kind: "interrupt" });
        return editor.isAsking;
      default:
        return true;
    }
  }

  [Symbol.dispose](): void {
    const { editor, screen } = this.#options;
    this.#stopSpinner();
    const ended = this.#status.take({ type: "dropped", what: "run" });
    screen.setStatus(undefined);
    if (ended !== "") screen.print(ended);
    screen[Symbol.dispose]();
    if (editor === undefined || !this.#hasRun) return;
    screen.print(
      banner(continuation(this.#threadId ?? ""), this.#noteOptions()),
    );
    this.#hasRun = false;
  }

  async #reply(text: string, progress: string): Promise<void> {
    const { editor, isQuiet, screen, stdoutIsTerminal } = this.#options;
    const hasGap = stdoutIsTerminal && (editor !== undefined || !isQuiet);
    screen.print(progress + (hasGap ? "\n" : ""));
    await writeReply(this.#options, text, this.#operation?.signal);
    this.#ctrlC.settle();
    this.#operation = undefined;
  }

  /** Progress as plain lines. */
  #plainProgress(event: ViewEvent): string {
    if (this.#options.isQuiet) return "";
    switch (event.type) {
      case "wait":
        return plainLine(`${event.reason}, ${againIn(event.milliseconds)}`) +
          "\n";
      case "progress":
        return plainLine(`${event.node}: ${event.status}`) + "\n";
      case "reply":
      case "error":
        return this.#operation === undefined
          ? ""
          : `total ${duration(this.#now() - this.#startedAt)}\n`;
      default:
        return "";
    }
  }

  /** Draws the status again and again. */
  #spin(): void {
    this.#stopSpinner = startTimer(SPINNER_MILLISECONDS, () => {
      this.#options.screen.refresh();
      this.#spin();
    });
  }

  #noteOptions(): NoteOptions {
    const droppedPrompts = this.#droppedPrompts;
    this.#droppedPrompts = 0;
    const { isQuiet, size } = this.#options;
    const { columns } = size();
    return { style: this.#style, isQuiet, columns, droppedPrompts };
  }
}

/** The events that end an operation. */
const ENDING: ReadonlySet<ViewEvent["type"]> = new Set([
  "thread",
  "reply",
  "dropped",
  "error",
]);
