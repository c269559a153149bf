import {
  type Entry,
  type Input,
  InputQueue,
  type Line,
  MAX_PROMPT_BYTES,
  PROMPT_TOO_LONG,
  readEachLine,
  readText,
  StreamError,
} from "../io.ts";
import {
  byteLength,
  containsNul,
  type Redacted,
  safe,
  withoutLineEnd,
} from "../text.ts";

const CONTAINS_NUL = "contains a NUL character";

/** How to fix a text that is not UTF-8. */
const CONVERT = Deno.build.os === "windows"
  ? "run chcp 65001 first, or save it as UTF-8"
  : "convert it, for example with iconv -t UTF-8";

/** Prompts that come as lines. */
export class PromptLines {
  readonly #lines: AsyncGenerator<Line>;
  /** Typed lines that nobody has asked for yet; `undefined` if nobody types. */
  readonly #typed: InputQueue | undefined;

  /** Typed lines are read as they come, so that those that wait can be dropped. */
  constructor(stdin: AsyncIterable<Uint8Array>, isTyped: boolean) {
    this.#lines = readEachLine(stdin, {
      maxBytes: MAX_PROMPT_BYTES,
      isStrict: true,
    });
    if (!isTyped) return;
    this.#typed = new InputQueue();
    this.#readAhead(this.#typed);
  }

  /** The next prompt. Rejects with a {@linkcode StreamError} if none can be read. */
  async next(): Promise<Input> {
    if (this.#typed !== undefined) return await this.#typed.next();
    const { done, value } = await this.#lines.next();
    return done ? { kind: "end" } : entryOf(value);
  }

  /** Typed lines that wait. */
  get waiting(): readonly Entry[] {
    return this.#typed?.waiting ?? [];
  }

  dropWaiting(): number {
    return this.#typed?.dropWaiting() ?? 0;
  }

  async #readAhead(typed: InputQueue): Promise<void> {
    try {
      for await (const line of this.#lines) typed.add(entryOf(line));
      typed.close();
    } catch (error) {
      typed.fail(error);
    }
  }
}

function entryOf(line: Line): Entry {
  const refused = (reason: Redacted): Entry => ({ kind: "refused", reason });
  if (typeof line !== "string") {
    switch (line.fault) {
      case "too long":
        return refused(PROMPT_TOO_LONG);
      case "not UTF-8":
        return refused(safe`A line was rejected: it is not UTF-8; ${CONVERT}`);
      default:
        return line.fault satisfies never;
    }
  }
  if (containsNul(line)) {
    return refused(safe`A line was rejected: it ${CONTAINS_NUL}`);
  }
  return { kind: "text", text: line };
}

/**
 * Adds the text of standard input to the prompts: after an empty line to the last
 * one, or as the only one.
 *
 * @throws {StreamError} If the prompt is too large, if the input is not UTF-8 or contains
 * a NUL, or if there is no prompt at all.
 */
export async function addInput(
  prompts: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<readonly string[]> {
  const text = await readWhole(stdin);
  const isBlank = text.trim() === "";
  const last = prompts.at(-1);
  if (isBlank && last !== undefined) return prompts;
  if (isBlank) throw new StreamError("Standard input contains no prompt");

  const prompt = last === undefined ? text : `${last}\n\n${text}`;
  if (byteLength(prompt) > MAX_PROMPT_BYTES) {
    throw new StreamError(PROMPT_TOO_LONG);
  }
  return [...prompts.slice(0, -1), prompt];
}

/** Reads a text, and drops one newline at its end. */
async function readWhole(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const refuse = (reason: string) =>
    new StreamError(`Standard input cannot be a prompt: it ${reason}`);
  const maxBytes = MAX_PROMPT_BYTES + "\r\n".length;
  const options = { maxBytes, isStrict: true };
  try {
    const { text, isCut } = await readText(stdin, options);
    if (isCut) throw new StreamError(PROMPT_TOO_LONG);
    if (containsNul(text)) throw refuse(CONTAINS_NUL);
    return withoutLineEnd(text);
  } catch (error) {
    if (error instanceof TypeError) throw refuse(`is not UTF-8; ${CONVERT}`);
    throw error;
  }
}
