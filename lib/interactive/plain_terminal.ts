import type { ProgressEvent } from "../gateway.ts";
import { readInputLines } from "../input_lines.ts";
import { plainLine } from "../plain_text.ts";
import { writeReply } from "./write_reply.ts";
import {
  type Input,
  PROMPT_SIGN,
  type Terminal,
  type TerminalOptions,
} from "./terminal.ts";

/** A terminal that reads and writes plain lines, without escape codes. */
export class PlainTerminal implements Terminal {
  readonly #options: TerminalOptions;
  readonly #lines: AsyncIterator<string | undefined>;
  #onInterrupt: (() => void) | undefined;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#lines = readInputLines(options.stdin);
  }

  async readPrompt(): Promise<Input> {
    const { promptSign, stderr } = this.#options;
    if (promptSign) stderr(PROMPT_SIGN);
    const { promise, resolve } = Promise.withResolvers<Input>();
    this.#onInterrupt = () => resolve({ kind: "interrupt" });
    const next = this.#lines.next().then(({ done, value }): Input => {
      if (done) return { kind: "end" };
      return value === undefined
        ? { kind: "too long" }
        : { kind: "prompt", text: value };
    });
    const input = await Promise.race([next, promise]);
    this.#onInterrupt = undefined;
    const isLeft = input.kind === "end" || input.kind === "interrupt";
    if (promptSign && isLeft) stderr("\n");
    return input;
  }

  begin(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
  }

  wait(): void {}

  run(): void {}

  progress({ node, status }: ProgressEvent): void {
    const { quiet, stderr } = this.#options;
    if (!quiet) stderr(plainLine(`${node}: ${status}`) + "\n", "progress");
  }

  end(): void {
    this.#onInterrupt = undefined;
  }

  async reply(text: string): Promise<void> {
    await writeReply(this.#options, text);
  }

  banner(text: string): void {
    if (!this.#options.quiet) this.note(text);
  }

  thread(threadId: string): void {
    this.banner(`thread ${threadId}`);
  }

  note(text: string): void {
    this.#options.stderr(plainLine(text) + "\n");
  }

  error(text: string): void {
    this.note(`Error: ${text}`);
  }

  interrupt(): boolean {
    this.#onInterrupt?.();
    return this.#onInterrupt !== undefined;
  }

  [Symbol.dispose](): void {}
}
