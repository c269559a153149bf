/**
 * An answer that cannot be used, told to a person: what came, what to do, and what
 * the service says about it.
 *
 * @module
 */

import { parseJson } from "../json.ts";
import { plainText } from "../plain_text.ts";
import { errorDetail, type LimitedText, readText } from "./answer_text.ts";
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
  return new ServiceError(reason, { operation, status, retryAfter });
}

/**
 * Why an answer of status 2xx cannot be used if it is a web page: it names the
 * page's title, with the key masked.
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
  // The host is in lower case, and so is a key in it.
  return redactKey(redactKey(origin, apiKey), apiKey.toLowerCase());
}

/** What to do: it comes before what the service says, which may be long. */
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
    // Not taken, in contrast to all others that pass.
    if (status === 429) return "try again later";
    return mayPass(status) ? UNKNOWN_OUTCOME["create run"] : "";
  },
  "stream run": () => "",
};

/** Whether a later request can have another answer. */
function mayPass(status: number): boolean {
  return status >= 500 || [408, 425, 429, 499].includes(status);
}

/** A text, and what to know of a run that cannot be followed. */
function withOutcome(text: string, operation: Operation): string {
  if (operation !== "stream run") return text;
  return [text, UNKNOWN_OUTCOME[operation]].filter((part) => part !== "")
    .join("; ");
}

/** What the body of an error says, as it may be shown; empty if it says nothing. */
function detailOf({ text, cut }: LimitedText, apiKey: string): string {
  const detail = errorDetail(parseJson(text)) ?? text;
  return shown(detail, { apiKey, isCut: cut });
}

/** The title of a page as it may be shown. */
function pageDetail({ text, cut }: LimitedText, apiKey: string): string {
  return shown(pageTitle(text), { apiKey, isCut: cut });
}

/** A foreign text on one line of at most 500 characters, with the key masked. */
function shown(
  text: string,
  { apiKey, isCut }: { readonly apiKey: string; readonly isCut: boolean },
): string {
  // Made plain first: removing what stands within a key would show the key.
  const plain = plainText(text.replaceAll(/\s+/g, " "));
  return redactKey(plain, apiKey, { isCut })
    .trim()
    .slice(0, MAX_DETAIL_LENGTH)
    .toWellFormed();
}
