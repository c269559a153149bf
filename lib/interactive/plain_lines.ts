import type { Entry, Input } from "../io.ts";
import { plainLine } from "../text.ts";
import type { Surface } from "./chat_view.ts";
import type { PromptLines } from "./stdin_prompts.ts";
import type { WriteLines } from "./view.ts";

export interface PlainLinesOptions {
  readonly prompts: PromptLines;
  readonly stderr: WriteLines;
  /** The sign before a prompt; empty where nobody would see it. */
  readonly sign: string;
}

/** Lines on standard error, and prompts that are lines: nothing is drawn again. */
export class PlainLines implements Surface {
  readonly #options: PlainLinesOptions;
  /** Whether the cursor is after the sign. */
  #isAfterSign = false;

  constructor(options: PlainLinesOptions) {
    this.#options = options;
  }

  async read(above: string): Promise<Input> {
    const { prompts, sign, stderr } = this.#options;
    const [waiting] = prompts.waiting;
    if (waiting !== undefined) {
      // The terminal has echoed it already, before there was a sign.
      stderr(above + this.#echo(waiting));
      return await prompts.next();
    }
    stderr(above + sign);
    this.#isAfterSign = sign !== "";
    const input = await prompts.next();
    if (input.kind !== "end") this.#isAfterSign = false;
    return input;
  }

  print(lines: string, kind?: "progress"): void {
    this.#options.stderr(lines, kind);
  }

  showCtrlC(lines: string): void {
    const { sign, stderr } = this.#options;
    const repeated = this.#isAfterSign ? sign : "";
    if (lines + repeated !== "") stderr(`\n${lines}${repeated}`);
  }

  dropWaiting(): number {
    return this.#options.prompts.dropWaiting();
  }

  leave(below: string): void {
    this.#options.stderr((this.#isAfterSign ? "\n" : "") + below);
    this.#isAfterSign = false;
  }

  #echo(entry: Entry): string {
    const { sign } = this.#options;
    const isShown = entry.kind === "text" && sign !== "";
    return isShown ? `${sign}${plainLine(entry.text)}\n` : "";
  }
}
