/**
 * Errors for answers that cannot be used: what arrived, what to do, and the
 * service's own explanation.
 *
 * @module
 */

import { isJsonObject, parseJson } from "../json.ts";
import { plainText } from "../plain_text.ts";
import { errorDetail, type LimitedText, readText } from "./response_text.ts";
import { redactKey } from "./key_redaction.ts";
import { readBody } from "./response_body.ts";
import { parseRetryAfter } from "./retry_after.ts";
import {
  type Operation,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";
import { isWebPage, pageTitle } from "./web_page.ts";

const MAX_BODY_BYTES = 64 * 1024;
const MAX_DETAIL_LENGTH = 500;

/** Options of {@linkcode statusError}. */
export interface StatusErrorOptions {
  readonly operation: Operation;
  /** The URL of the request. */
  readonly url: string;
  /** The API key, which must not appear in the message. */
  readonly apiKey: string;
  /** Aborting it ends the reading of the body; the error then gives the status alone. */
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
    const advice = withOutcome(
      "redirects are not followed, check the base URL",
      operation,
    );
    return new ServiceError(
      `the service answered ${status}, a redirect to ${
        originOf(location, url, apiKey)
      }; ${advice}`,
      { operation, status },
    );
  }
  const body = await readText(readBody(response, signal), MAX_BODY_BYTES)
    .catch(() => ({ text: "", cut: false }));
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const detail = isPage ? pageDetail(body, apiKey) : detailOf(body, apiKey);
  let reason = `the service answered ${status}` +
    advice({ operation, status, isPage });
  if (detail !== "") reason += `: ${detail}`;
  const retryAfter = parseRetryAfter(
    headers.get("retry-after"),
    headers.get("date"),
  );
  const isJson = isJsonObject(parseJson(body.text));
  return new ServiceError(reason, { operation, status, retryAfter, isJson });
}

/**
 * The reason why a web page with status 2xx cannot be used. It gives the page's
 * title, with the key masked.
 *
 * @param page The page, or its beginning.
 */
export function webPageReason(
  status: number,
  page: LimitedText,
  apiKey: string,
): string {
  const title = pageDetail(page, apiKey);
  const name = title === "" ? "" : `, "${title}"`;
  return `a web page came (status ${status}${name}), perhaps the sign-in page of a network or a proxy`;
}

/** The origin of a redirect's target, with the key masked. */
function originOf(location: string, url: string, apiKey: string): string {
  const origin = URL.parse(location, url)?.origin ?? "null";
  if (origin === "null") return "an unreadable address";
  // URLs have hosts in lower case, so a key in the host is in lower case too.
  return redactKey(redactKey(origin, apiKey), apiKey.toLowerCase());
}

/** What to do. It precedes the service's explanation, which may be long. */
function advice(
  { operation, status, isPage }: {
    readonly operation: Operation;
    readonly status: number;
    readonly isPage: boolean;
  },
): string {
  const isRefused = status === 401 || status === 403;
  if (isRefused && !isPage) {
    const check = withOutcome("check APP_API_KEY", operation);
    return `, the API key was rejected (${check})`;
  }
  const text = isRefused
    ? "a web page: something in front of the service refused, such as a firewall or a sign-in page; check the network and the base URL"
    : ADVICE[operation](status);
  const whole = withOutcome(text, operation);
  return whole === "" ? "" : ` (${whole})`;
}

const ADVICE: Readonly<Record<Operation, (status: number) => string>> = {
  "create thread": (status) => {
    if (status === 404) return "check the base URL";
    return mayPass(status) ? "try again later" : "";
  },
  "create run": (status) => {
    if (status === 404) return "the thread may be gone: start a new one";
    if (status === 413) return "the prompt is too long for it";
    // Unlike other temporary statuses, this one means that the run was not accepted.
    if (status === 429) return "try again later";
    return mayPass(status) ? UNKNOWN_OUTCOME["create run"] : "";
  },
  "stream run": () => "",
};

/** Whether a later request can succeed. */
function mayPass(status: number): boolean {
  return status >= 500 || [408, 425, 429, 499].includes(status);
}

/** A text, and the advice for a run that cannot be followed. */
function withOutcome(text: string, operation: Operation): string {
  if (operation !== "stream run") return text;
  return [text, UNKNOWN_OUTCOME[operation]].filter((part) => part !== "")
    .join("; ");
}

/** The explanation in an error's body, safe to show; empty if there is none. */
function detailOf({ text, cut }: LimitedText, apiKey: string): string {
  const detail = errorDetail(parseJson(text)) ?? text;
  return shown(detail, { apiKey, isCut: cut });
}

/** The title of a page, safe to show. */
function pageDetail({ text, cut }: LimitedText, apiKey: string): string {
  return shown(pageTitle(text), { apiKey, isCut: cut });
}

/** A foreign text on one line of at most 500 characters, cleaned and with the key masked. */
function shown(
  text: string,
  { apiKey, isCut }: { readonly apiKey: string; readonly isCut: boolean },
): string {
  // Cleaned before masking: removing characters within a key could restore the key.
  const plain = plainText(text.replaceAll(/\s+/g, " "));
  return redactKey(plain, apiKey, { isCut })
    .trim()
    .slice(0, MAX_DETAIL_LENGTH)
    .toWellFormed();
}
