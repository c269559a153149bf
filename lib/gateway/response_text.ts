/**
 * Reads the text of an HTTP answer up to a limit, and finds the error detail in it.
 *
 * @module
 */

import { isJsonObject } from "../json.ts";

/** The text of an answer, and whether it was cut at the limit. */
export interface LimitedText {
  readonly text: string;
  readonly cut: boolean;
}

/** Reads at most `maxBytes` of an answer's body as UTF-8 and drops the rest. */
export async function readText(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<LimitedText> {
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  for await (const chunk of chunks) {
    if (chunk.length > left) {
      text += decoder.decode(chunk.subarray(0, left));
      return { text, cut: true };
    }
    left -= chunk.length;
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), cut: false };
}

/** The first of `message`, `error` and `detail` in an error's JSON body that is not blank. */
export function errorDetail(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  for (const field of [body.message, body.error, body.detail]) {
    const text = isJsonObject(field) ? field.message : field;
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return undefined;
}
