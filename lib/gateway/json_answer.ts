/**
 * What an HTTP answer says: its text within a limit, its JSON, the detail of an
 * error, and when to come again.
 *
 * @module
 */

/** The text of an answer, and whether there was more of it than the limit. */
export interface LimitedText {
  readonly text: string;
  readonly cut: boolean;
}

/** Reads at most `maxBytes` of an answer's body as UTF-8 and leaves the rest. */
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

/** Parses JSON that may be none: then the result is `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isJsonObject(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first `message`, `error` or `detail` of an error's JSON body that says something. */
export function errorDetail(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  for (const field of [body.message, body.error, body.detail]) {
    const text = isJsonObject(field) ? field.message : field;
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return undefined;
}

/**
 * The milliseconds that a `Retry-After` header asks for, given in seconds or as
 * a date (RFC 9110, 10.2.3), or `undefined` if it says nothing that can be read.
 */
export function parseRetryAfter(value: string | null): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone takes "-1" and "1.5" for dates, too.
  const date = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
