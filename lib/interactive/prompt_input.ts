/**
 * Reads all of standard input as a prompt (`-`).
 *
 * @module
 */

import { MAX_LINE_BYTES } from "../input_lines.ts";
import { InputError } from "../standard_streams.ts";

/**
 * Adds the text of standard input to the prompts: after an empty line to the last
 * one, or as the only one.
 *
 * @param prompts The prompts of the command line.
 * @param stdin Read to its end, at most 64 MiB of UTF-8.
 * @throws {InputError} If it is larger, not UTF-8, or holds a NUL, or if there is no
 * prompt at all.
 */
export async function addInput(
  prompts: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
  const text = await readText(stdin);
  const isBlank = text.trim() === "";
  const last = prompts.at(-1);
  if (last !== undefined) {
    return isBlank ? prompts : [...prompts.slice(0, -1), `${last}\n\n${text}`];
  }
  if (isBlank) throw new InputError("Standard input holds no prompt");
  return [text];
}

/** Reads a text, and drops one line end at its end. */
async function readText(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const refuse = (reason: string) =>
    new InputError(`Cannot take standard input as a prompt: it ${reason}`);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  try {
    for await (const chunk of stdin) {
      length += chunk.length;
      if (length > MAX_LINE_BYTES) {
        throw refuse(`holds more than ${MAX_LINE_BYTES} bytes`);
      }
      if (chunk.includes(0)) throw refuse("holds a NUL character");
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw refuse("is not UTF-8");
    throw error;
  }
  return withoutLineEnd(text);
}

function withoutLineEnd(text: string): string {
  if (!text.endsWith("\n")) return text;
  return text.slice(0, text.endsWith("\r\n") ? -2 : -1);
}
