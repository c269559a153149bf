/**
 * What an HTTP answer says: its text within a limit, its JSON, the detail of an
 * error, when to come again, and why there is none.
 *
 * @module
 */

/** The text of an answer, and whether there was more of it than the limit. */
export interface LimitedText {
  readonly text: string;
  readonly cut: boolean;
}

/** Reads at most `maxBytes` of an answer's body as UTF-8 and drops the rest. */
export async function readText(
  response: Response,
  maxBytes: number,
): Promise<LimitedText> {
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  for await (const chunk of response.body ?? []) {
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

/** The `message`, `error` or `detail` of an error's JSON body, one level deep. */
export function errorDetail(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  for (const field of [body.message, body.error, body.detail]) {
    if (typeof field === "string") return field;
    if (isJsonObject(field) && typeof field.message === "string") {
      return field.message;
    }
  }
  return undefined;
}

/**
 * The milliseconds that a `Retry-After` header asks for, given in seconds or as
 * a date (RFC 9110, 10.2.3), or `undefined` if it says nothing that can be read.
 */
export function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  const milliseconds = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

/** Whether a failed `fetch` was refused the connection, so that nothing was sent. */
export function isRefused(error: unknown): boolean {
  return /\(Connect\).*refused/i.test(fullReason(error));
}

/**
 * Why a `fetch` or the reading of its body failed, without the URL and the
 * layers of the HTTP library.
 */
export function connectionFailure(error: unknown): string {
  return fullReason(error)
    .replace(/^error sending request.*?: client error \(\w+\): /, "");
}

function fullReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
