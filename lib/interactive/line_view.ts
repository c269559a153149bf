import { COLOURED, PLAIN } from "../text.ts";
import { banner, DUMB_KEYS } from "./banner.ts";
import { type LineOptions, linesAbout } from "./event_lines.ts";
import { PromptLines } from "./stdin_prompts.ts";
import {
  type Input,
  PROMPT_SIGN,
  type Typing,
  type View,
  type ViewEvent,
  type ViewOptions,
} from "./view.ts";
import { writeReply } from "./write_reply.ts";

export interface LineViewOptions extends ViewOptions {
  /** Whether a person types the prompts, on a terminal that cannot be drawn on. */
  readonly isTyped: boolean;
  readonly stderrIsTerminal: boolean;
  readonly stylesErrors: boolean;
}

/** A view that reads and writes plain lines. Only errors may be styled. */
export class LineView implements View {
  readonly typing: Typing | undefined;
  readonly #options: LineViewOptions;
  /** Whether to write the prompt sign, and at the end the command that continues. */
  readonly #hasSign: boolean;
  readonly #lineOptions: LineOptions;
  readonly #lines: PromptLines;
  #hasShownKeys = false;
  /** Whether the cursor is after the sign. */
  #isAfterSign = false;

  constructor(options: LineViewOptions) {
    this.#options = options;
    this.#hasSign = options.isTyped && options.stderrIsTerminal;
    const style = options.stylesErrors ? COLOURED : PLAIN;
    this.#lineOptions = { ...options, style };
    this.#lines = new PromptLines(options.stdin(), options.isTyped);
    this.typing = options.isTyped ? this.#lines : undefined;
  }

  async readPrompt(): Promise<Input> {
    const { stderr } = this.#options;
    if (this.#hasSign) {
      if (!this.#hasShownKeys) stderr(banner(DUMB_KEYS, this.#lineOptions));
      stderr(PROMPT_SIGN);
      this.#hasShownKeys = this.#isAfterSign = true;
    }
    const input = await this.#lines.next();
    if (input.kind !== "end") this.#isAfterSign = false;
    return input;
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { stderr } = this.#options;
    const lines = linesAbout(event, this.#lineOptions);
    switch (event.type) {
      case "begin":
      case "run":
      case "wait":
      case "progress":
      case "end":
        return stderr(lines, "progress");
      case "reply":
        stderr(lines);
        return writeReply(this.#options, event.text, signal);
      case "banner":
      case "thread":
      case "dropped":
      case "error":
        return stderr(lines);
      case "ctrl-c": {
        const sign = this.#isAfterSign ? PROMPT_SIGN : "";
        if (lines + sign !== "") stderr(`\n${lines}${sign}`);
        return;
      }
      case "farewell":
        if (this.#isAfterSign) stderr("\n");
        if (!this.#hasSign) return;
        return stderr(lines);
      default:
        event satisfies never;
    }
  }
}
