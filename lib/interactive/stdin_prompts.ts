import {
  InputError,
  lineFault,
  MAX_LINE_BYTES,
  Notifier,
  PROMPT_TOO_LONG,
  readEachLine,
  readText,
} from "../io.ts";
import { withoutLineEnd } from "../text.ts";
import type { Input, Typing } from "./view.ts";

const MAX_WAITING = 1_000;

const CONTAINS_NUL = "contains a NUL character";

/** How to fix a text that is not UTF-8. */
const CONVERT = Deno.build.os === "windows"
  ? "run chcp 65001 first, or save it as UTF-8"
  : "convert it, for example with iconv -t UTF-8";

export class PromptLines implements Typing {
  readonly #lines: AsyncGenerator<string>;
  readonly #waiting: Input[] = [];
  readonly #changed = new Notifier();
  readonly #reading: Promise<void> | undefined;
  #hasEnded = false;

  /** Typed lines are read as soon as they come, so that those that wait can be dropped. */
  constructor(stdin: AsyncIterable<Uint8Array>, isTyped: boolean) {
    this.#lines = readEachLine(stdin, { isStrict: true });
    if (!isTyped) return;
    this.#reading = this.#readAhead();
    this.#reading.catch(() => {}); // next() reports the error
  }

  /** The next prompt. Rejects with an {@linkcode InputError} if none can be read. */
  async next(): Promise<Input> {
    if (this.#reading === undefined) return await this.#read();
    while (this.#waiting.length === 0 && !this.#hasEnded) {
      await this.#changed.next;
    }
    const input = this.#waiting.shift();
    this.#changed.notify();
    if (input === undefined) await this.#reading;
    return input ?? END;
  }

  dropWaiting(): number {
    this.#changed.notify();
    return this.#waiting.splice(0).length;
  }

  async #readAhead(): Promise<void> {
    try {
      for (;;) {
        const input = await this.#read();
        if (input.kind === "end") return;
        this.#waiting.push(input);
        this.#changed.notify();
        while (this.#waiting.length >= MAX_WAITING) {
          await this.#changed.next;
        }
      }
    } finally {
      this.#hasEnded = true;
      this.#changed.notify();
    }
  }

  async #read(): Promise<Input> {
    const { done, value } = await this.#lines.next();
    return done ? END : promptOf(value);
  }
}

const END: Input = { kind: "end" };

function promptOf(line: string): Input {
  const fault = lineFault(line);
  if (fault === "too long") return { kind: "refused", reason: PROMPT_TOO_LONG };
  const reason = fault !== undefined
    ? `is ${fault}; ${CONVERT}`
    : line.includes("\0")
    ? CONTAINS_NUL
    : undefined;
  if (reason === undefined) return { kind: "text", text: line };
  return { kind: "refused", reason: `A line was rejected: it ${reason}` };
}

/**
 * Adds the text of standard input to the prompts: after an empty line to the last
 * one, or as the only one.
 *
 * @throws {InputError} If it is too large, not UTF-8, or contains a NUL, or if there is no
 * prompt at all.
 */
export async function addInput(
  prompts: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
  const text = await readWhole(stdin);
  const isBlank = text.trim() === "";
  const last = prompts.at(-1);
  if (last !== undefined) {
    return isBlank ? prompts : [...prompts.slice(0, -1), `${last}\n\n${text}`];
  }
  if (isBlank) throw new InputError("Standard input contains no prompt");
  return [text];
}

/** Reads a text, and drops one newline at its end. */
async function readWhole(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const refuse = (reason: string) =>
    new InputError(`Standard input cannot be a prompt: it ${reason}`);
  const options = { maxBytes: MAX_LINE_BYTES, isStrict: true };
  try {
    const { text, isCut } = await readText(stdin, options);
    if (isCut) throw new InputError(PROMPT_TOO_LONG);
    if (text.includes("\0")) throw refuse(CONTAINS_NUL);
    return withoutLineEnd(text);
  } catch (error) {
    if (error instanceof TypeError) throw refuse(`is not UTF-8; ${CONVERT}`);
    throw error;
  }
}
