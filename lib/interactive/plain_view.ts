import { COLOURED, PLAIN, plainLine, type Style } from "../text.ts";
import { CtrlC } from "./ctrl_c.ts";
import {
  againIn,
  banner,
  continuation,
  DUMB_KEYS,
  duration,
  noteOn,
  type NoteOptions,
} from "./notes.ts";
import { PromptLines } from "./prompt_input.ts";
import {
  type Input,
  LEAVE_HINT,
  PROMPT_SIGN,
  type View,
  type ViewEvent,
  type ViewOptions,
} from "./view.ts";
import { writeReply } from "./write_reply.ts";

export interface PlainViewOptions extends ViewOptions {
  /** Whether a person types the prompts, on a terminal that cannot be drawn on. */
  readonly isTyped: boolean;
  /** Whether a sign shows where to type. */
  readonly hasSign: boolean;
  /** Whether errors are styled. */
  readonly stylesErrors: boolean;
  /** Whether the total time of each run is shown. */
  readonly showsTotals: boolean;
  /** Returns the width of the terminal, if there is one. */
  readonly columns?: (() => number) | undefined;
  /** A clock, in milliseconds. The default is the clock of the process. */
  readonly now?: () => number;
}

/** A view that reads and writes plain lines, without escape codes. */
export class PlainView implements View {
  readonly #options: PlainViewOptions;
  readonly #style: Style;
  readonly #ctrlC: CtrlC;
  readonly #lines: PromptLines;
  #operation: AbortController | undefined;
  #startedAt = 0;
  #interrupted = Promise.withResolvers<Input>();
  #isAsking = false;
  #droppedPrompts = 0;
  #hasShownKeys = false;
  #threadId: string | undefined;
  #hasRun = false;

  constructor(options: PlainViewOptions) {
    this.#options = options;
    this.#style = options.stylesErrors ? COLOURED : PLAIN;
    this.#ctrlC = new CtrlC(options.now);
    this.#lines = new PromptLines(options.stdin(), options.isTyped);
  }

  async readPrompt(): Promise<Input> {
    const { hasSign, isTyped, stderr } = this.#options;
    if (!isTyped) return await this.#lines.next();
    if (hasSign && !this.#hasShownKeys) {
      stderr(banner(DUMB_KEYS, this.#noteOptions()));
    }
    this.#hasShownKeys = true;
    if (hasSign) stderr(PROMPT_SIGN);
    this.#isAsking = true;
    const input = await Promise.race([
      this.#lines.next(),
      this.#interrupted.promise,
    ]);
    this.#isAsking = false;
    const isLeft = input.kind === "end" || input.kind === "interrupt";
    if (isLeft && hasSign) stderr("\n");
    return input;
  }

  begin(operation: AbortController): void {
    this.#operation = operation;
    this.#startedAt = this.#now();
  }

  show(event: ViewEvent): void | Promise<void> {
    const { isQuiet, stderr } = this.#options;
    switch (event.type) {
      case "wait":
        if (isQuiet) return;
        stderr(
          plainLine(`${event.reason}, ${againIn(event.milliseconds)}`) + "\n",
        );
        return;
      case "run":
        this.#hasRun = true;
        return;
      case "progress":
        if (isQuiet) return;
        stderr(plainLine(`${event.node}: ${event.status}`) + "\n", "progress");
        return;
      case "reply":
        return this.#reply(event.text);
      case "thread":
        this.#threadId = event.threadId;
        break;
      case "error":
        if (this.#operation !== undefined) this.#total();
        break;
    }
    stderr(noteOn(event, this.#noteOptions()));
    if (event.type !== "banner") this.#operation = undefined;
  }

  interrupt(): boolean {
    const { isTyped, stderr } = this.#options;
    if (!isTyped) return false;
    if (this.#operation?.signal.aborted === false) {
      this.#droppedPrompts = this.#lines.drop();
      this.#ctrlC.settle();
      this.#operation.abort();
      return true;
    }
    switch (this.#ctrlC.press()) {
      case "announce":
        stderr(`\n${LEAVE_HINT}\n${this.#sign}`);
        return true;
      case "leave":
        this.#interrupted.resolve({ kind: "interrupt" });
        return this.#isAsking;
      default:
        if (this.#sign !== "") stderr(`\n${this.#sign}`);
        return true;
    }
  }

  [Symbol.dispose](): void {
    const { hasSign, stderr } = this.#options;
    const threadId = this.#hasRun && hasSign ? this.#threadId : undefined;
    if (threadId === undefined) return;
    stderr(banner(continuation(threadId), this.#noteOptions()));
    this.#threadId = undefined;
  }

  async #reply(text: string): Promise<void> {
    this.#total();
    await writeReply(this.#options, text, this.#operation?.signal);
    this.#ctrlC.settle();
    this.#operation = undefined;
  }

  #total(): void {
    const { isQuiet, showsTotals, stderr } = this.#options;
    if (isQuiet || !showsTotals) return;
    stderr(`total ${duration(this.#now() - this.#startedAt)}\n`);
  }

  get #sign(): string {
    return this.#isAsking && this.#options.hasSign ? PROMPT_SIGN : "";
  }

  #noteOptions(): NoteOptions {
    const droppedPrompts = this.#droppedPrompts;
    this.#droppedPrompts = 0;
    const { isQuiet, columns } = this.#options;
    return {
      style: this.#style,
      isQuiet,
      columns: columns?.(),
      droppedPrompts,
    };
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))();
  }
}
