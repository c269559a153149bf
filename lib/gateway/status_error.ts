/**
 * An answer outside 2xx, told to a person: the status, what to do, and what the
 * service says about it.
 *
 * @module
 */

import { isJsonObject, parseJson } from "../json.ts";
import { errorDetail, readText } from "./answer_text.ts";
import { parseRetryAfter } from "./retry_after.ts";
import { readBody } from "./response_body.ts";
import { plainText } from "../plain_text.ts";
import { MAX_ESCAPE_LENGTH, redactKey } from "./key_redaction.ts";
import {
  type Operation,
  OverloadedError,
  ServiceError,
} from "./service_error.ts";

const MAX_BODY_BYTES = 64 * 1024;
const MAX_DETAIL_LENGTH = 500;

/** Options of {@linkcode statusError}. */
export interface StatusErrorOptions {
  readonly operation: Operation;
  /** The URL of the request. */
  readonly url: string;
  /** The API key, which must not stand in the message. */
  readonly apiKey: string;
  /** Ends the reading of the body; what the answer says then is its status. */
  readonly signal: AbortSignal;
}

/** The error for an answer outside 2xx. Reads its body, or drops it. */
export async function statusError(
  response: Response,
  options: StatusErrorOptions,
): Promise<ServiceError> {
  const { operation, url, apiKey, signal } = options;
  const { status, headers } = response;
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    await response.body?.cancel();
    const origin = URL.parse(location, url)?.origin ?? "an unreadable address";
    return new ServiceError(
      `the service answered ${status}, a redirect to ${
        redactKey(origin, apiKey)
      }; redirects are not followed, check the base URL`,
      { operation, status },
    );
  }
  const { detail, isJson } = await readDetail(
    readBody(response, signal),
    apiKey,
  );
  let reason = `the service answered ${status}${advice(operation, status)}`;
  if (detail !== "") reason += `: ${detail}`;
  if (status !== 429 && status !== 503) {
    return new ServiceError(reason, { operation, status, isJson });
  }
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return new OverloadedError(reason, { operation, status, retryAfter });
}

/** What to do: it stands before what the service says, which may be long. */
function advice(operation: Operation, status: number): string {
  if (status === 401 || status === 403) {
    return ", the API key was rejected (check APP_API_KEY)";
  }
  if (status === 404 && operation === "create thread") {
    return " (check the base URL)";
  }
  if (status === 404 && operation === "create run") {
    return " (the thread may be gone: start a new one)";
  }
  return status === 429 || status >= 500 ? " (try again later)" : "";
}

/**
 * What the body says, on one line and with the key masked; empty if it cannot be
 * read. And whether it is a JSON object.
 */
async function readDetail(
  chunks: AsyncIterable<Uint8Array>,
  apiKey: string,
): Promise<{ readonly detail: string; readonly isJson: boolean }> {
  const body = await readText(chunks, MAX_BODY_BYTES)
    .catch(() => undefined);
  if (body === undefined) return { detail: "", isJson: false };
  // Where the text was cut, a part of the key could stand.
  const text = body.cut
    ? body.text.slice(0, -MAX_ESCAPE_LENGTH * apiKey.length)
    : body.text;
  const value = parseJson(text);
  const said = (errorDetail(value) ?? text).replaceAll(/\s+/g, " ");
  // Made plain first: removing what stands within a key would show the key.
  const detail = redactKey(plainText(said), apiKey)
    .trim()
    .slice(0, MAX_DETAIL_LENGTH)
    .toWellFormed();
  return { detail, isJson: isJsonObject(value) };
}
