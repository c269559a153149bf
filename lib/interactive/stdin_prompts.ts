/**
 * Prompts from standard input: a line each, or all of it (`-`).
 *
 * @module
 */

import { InputError, lineFault, MAX_LINE_BYTES, readEachLine } from "../io.ts";
import { withoutLineEnd } from "../text.ts";
import type { Input, Typing } from "./view.ts";

/** The most lines that a person types ahead. */
const MAX_WAITING = 1_000;

const TOO_LONG = `holds more than ${MAX_LINE_BYTES} bytes`;
const HOLDS_NUL = "holds a NUL character";

/** What users can do about a text that is not UTF-8. */
const CONVERT = Deno.build.os === "windows"
  ? "run chcp 65001 first, or save it as UTF-8"
  : "convert it, for example with iconv -t UTF-8";

/** The error for a prompt of more than 16 MiB, whatever it came from. */
export const PROMPT_TOO_LONG =
  `Cannot take a prompt of more than ${MAX_LINE_BYTES} bytes`;

/** Standard input as prompts, one from each line. */
export class PromptLines implements Typing {
  readonly #lines: AsyncGenerator<string>;
  readonly #waiting: Input[] = [];
  #changed = Promise.withResolvers<void>();
  /** Reads ahead until the input ends. */
  readonly #reading: Promise<void> | undefined;
  #hasEnded = false;

  /**
   * @param stdin The bytes of standard input.
   * @param isTyped Whether a person types the lines. Then each is read as soon as it
   * comes, so that the waiting ones can be counted and dropped.
   */
  constructor(stdin: AsyncIterable<Uint8Array>, isTyped: boolean) {
    this.#lines = readEachLine(stdin, { isStrict: true });
    if (!isTyped) return;
    this.#reading = this.#readAhead();
    this.#reading.catch(() => {}); // next() reports the error
  }

  /**
   * The next prompt, or the end.
   *
   * @throws {InputError} If standard input cannot be read.
   */
  async next(): Promise<Input> {
    if (this.#reading === undefined) return await this.#read();
    while (this.#waiting.length === 0 && !this.#hasEnded) {
      await this.#changed.promise;
    }
    const input = this.#waiting.shift();
    this.#change();
    if (input === undefined) await this.#reading;
    return input ?? END;
  }

  /** Drops the lines that wait, and returns their number. */
  dropWaiting(): number {
    this.#change();
    return this.#waiting.splice(0).length;
  }

  async #readAhead(): Promise<void> {
    try {
      for (;;) {
        const input = await this.#read();
        if (input.kind === "end") return;
        this.#waiting.push(input);
        this.#change();
        while (this.#waiting.length >= MAX_WAITING) {
          await this.#changed.promise;
        }
      }
    } finally {
      this.#hasEnded = true;
      this.#change();
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
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
    ? HOLDS_NUL
    : undefined;
  return reason === undefined ? { kind: "prompt", text: line } : {
    kind: "refused",
    reason: `Cannot take a line as a prompt: it ${reason}`,
  };
}

/**
 * Adds the text of standard input to the prompts: after an empty line to the last
 * one, or as the only one.
 *
 * @param prompts The prompts of the command line.
 * @param stdin Read to its end, at most 16 MiB of UTF-8.
 * @throws {InputError} If it is larger, not UTF-8, or holds a NUL, or if there is no
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
  if (isBlank) throw new InputError("Standard input holds no prompt");
  return [text];
}

/** Reads a text, and drops one line end at its end. */
async function readWhole(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const refuse = (reason: string) =>
    new InputError(`Cannot take standard input as a prompt: it ${reason}`);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  try {
    for await (const chunk of stdin) {
      length += chunk.length;
      if (length > MAX_LINE_BYTES) throw refuse(TOO_LONG);
      if (chunk.includes(0)) throw refuse(HOLDS_NUL);
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw refuse(`is not UTF-8; ${CONVERT}`);
    throw error;
  }
  return withoutLineEnd(text);
}
