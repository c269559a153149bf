import type { LineOptions } from "./line_options.ts";
import { linesAbout } from "./event_lines.ts";
import { signsOfLife } from "./sign_of_life.ts";
import { PromptLines } from "./stdin_prompts.ts";
import {
  type Input,
  PROMPT_SIGN,
  type Step,
  type Typing,
  type View,
  type ViewEvent,
} from "./view.ts";
import type { ReplyWriter } from "./write_reply.ts";

export interface LineViewOptions {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stderr: (text: string, kind?: "progress") => void;
  readonly reply: ReplyWriter;
  readonly lines: LineOptions;
  /** Whether a person types the prompts, on a terminal that cannot be drawn on. */
  readonly isTyped: boolean;
  /**
   * The line about keys, which the prompt signs follow, and at the end the command that
   * continues; `undefined` where nobody sees them.
   */
  readonly keys: string | undefined;
}

export class LineView implements View {
  readonly typing: Typing | undefined;
  readonly #options: LineViewOptions;
  readonly #lines: PromptLines;
  readonly #takeSign: (step: Step) => void;
  #hasShownKeys = false;
  /** Whether the cursor is after the sign. */
  #isAfterSign = false;

  constructor(options: LineViewOptions) {
    this.#options = options;
    this.#lines = new PromptLines(options.stdin, options.isTyped);
    this.typing = options.isTyped ? this.#lines : undefined;
    const { lines, stderr } = options;
    this.#takeSign = signsOfLife(lines, (line) => stderr(line, "progress"));
  }

  async readPrompt(): Promise<Input> {
    const { stderr, keys } = this.#options;
    if (keys !== undefined) {
      if (!this.#hasShownKeys) this.show({ type: "banner", text: keys });
      stderr(PROMPT_SIGN);
      this.#hasShownKeys = this.#isAfterSign = true;
    }
    const input = await this.#lines.next();
    if (input.kind !== "end") this.#isAfterSign = false;
    return input;
  }

  show(event: ViewEvent, signal?: AbortSignal): void | Promise<void> {
    const { stderr, reply, keys } = this.#options;
    const lines = linesAbout(event, this.#options.lines);
    switch (event.type) {
      case "begin":
      case "run":
      case "wait":
      case "progress":
      case "end":
        this.#takeSign(event);
        return stderr(lines, "progress");
      case "reply":
        stderr(lines);
        return reply(event.text, signal);
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
        if (keys !== undefined) stderr(lines);
        return;
      default:
        event satisfies never;
    }
  }
}
