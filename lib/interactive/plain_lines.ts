import type { Entry, ErrorOutput, Input } from "../io.ts";
import { type Shown, shown, shownLine, unchanged } from "../text.ts";
import type { Surface } from "./chat_view.ts";
import type { PromptLines } from "./stdin_prompts.ts";

interface PlainLinesOptions {
  readonly prompts: PromptLines;
  readonly stderr: Pick<ErrorOutput, "write">;
  /** The sign before a prompt; empty where nobody would see it. */
  readonly sign: Shown;
}

/** Lines on standard error, and prompts that are lines: nothing is drawn again. */
export class PlainLines implements Surface {
  readonly #options: PlainLinesOptions;
  /** Whether the cursor is after the sign. */
  #isAfterSign = false;

  constructor(options: PlainLinesOptions) {
    this.#options = options;
  }

  async read(above: Shown): Promise<Input> {
    const { prompts, sign, stderr } = this.#options;
    const [waiting] = prompts.waiting;
    // The terminal has echoed a line that waits already, before there was a sign.
    const row = waiting === undefined ? sign : this.#echo(waiting);
    stderr.write(shown`${above}${row}`);
    this.#isAfterSign = waiting === undefined && sign !== "";
    const input = await prompts.next();
    if (input.kind !== "end") this.#isAfterSign = false;
    return input;
  }

  print(lines: Shown, kind?: "progress" | "ctrl-c"): void {
    const { sign, stderr } = this.#options;
    if (kind !== "ctrl-c") return stderr.write(lines, kind);
    // The terminal has echoed the Ctrl-C in the row of the cursor.
    const repeated = this.#isAfterSign ? sign : "";
    if (lines + repeated !== "") stderr.write(shown`\n${lines}${repeated}`);
  }

  dropWaiting(): number {
    return this.#options.prompts.dropWaiting();
  }

  leave(below: Shown): void {
    const gap = this.#isAfterSign ? "\n" : "";
    this.#options.stderr.write(shown`${gap}${below}`);
    this.#isAfterSign = false;
  }

  #echo(entry: Entry): Shown {
    const { sign } = this.#options;
    if (entry.kind !== "text" || sign === "") return "";
    return shown`${sign}${shownLine(unchanged(entry.text))}\n`;
  }
}
