import { COLOURED, PLAIN } from "../text.ts";
import { banner, DUMB_KEYS, noteOn, type NoteOptions } from "./notes.ts";
import { PromptLines } from "./prompt_input.ts";
import {
  type Input,
  PROMPT_SIGN,
  type Typing,
  type View,
  type ViewEvent,
  type ViewOptions,
} from "./view.ts";
import { writeReply } from "./write_reply.ts";

export interface PlainViewOptions extends ViewOptions {
  /** Whether a person types the prompts, on a terminal that cannot be drawn on. */
  readonly isTyped: boolean;
  /** Whether the prompt sign is written where a person types. */
  readonly hasSign: boolean;
  /** Whether errors are styled. */
  readonly stylesErrors: boolean;
}

/** A view that reads and writes plain lines, without escape codes. */
export class PlainView implements View {
  readonly typing: Typing | undefined;
  readonly #options: PlainViewOptions;
  readonly #notes: NoteOptions;
  readonly #lines: PromptLines;
  #hasShownKeys = false;
  /** Whether the cursor is after the sign. */
  #isAfterSign = false;

  constructor(options: PlainViewOptions) {
    this.#options = options;
    const style = options.stylesErrors ? COLOURED : PLAIN;
    this.#notes = { ...options, style };
    this.#lines = new PromptLines(options.stdin(), options.isTyped);
    this.typing = options.isTyped ? this.#lines : undefined;
  }

  async readPrompt(): Promise<Input> {
    const { hasSign, stderr } = this.#options;
    if (hasSign) {
      if (!this.#hasShownKeys) stderr(banner(DUMB_KEYS, this.#notes));
      stderr(PROMPT_SIGN);
      this.#hasShownKeys = this.#isAfterSign = true;
    }
    const input = await this.#lines.next();
    if (input.kind !== "end") this.#isAfterSign = false;
    return input;
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { stderr } = this.#options;
    switch (event.type) {
      case "begin":
      case "run":
      case "wait":
      case "progress":
      case "end":
        return stderr(noteOn(event, this.#notes), "progress");
      case "reply":
        stderr(noteOn(event, this.#notes));
        return writeReply(this.#options, event.text, signal);
      case "banner":
      case "thread":
      case "dropped":
      case "error":
        return stderr(noteOn(event, this.#notes));
      case "ctrl-c": {
        const hint = noteOn(event, this.#notes);
        const sign = this.#isAfterSign ? PROMPT_SIGN : "";
        if (hint + sign !== "") stderr(`\n${hint}${sign}`);
        return;
      }
      case "farewell":
        if (this.#isAfterSign) stderr("\n");
        if (!this.#options.hasSign) return;
        return stderr(noteOn(event, this.#notes));
      default:
        event satisfies never;
    }
  }
}
