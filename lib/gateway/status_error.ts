/**
 * An answer that is none, told to a person: what came, what to do, and what the
 * service says about it.
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
  OverloadedError,
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
  const detail = isPage
    ? pageDetail(body.text, apiKey)
    : detailOf(body, apiKey);
  let reason = `the service answered ${status}` +
    advice({ operation, status, isPage });
  if (detail !== "") reason += `: ${detail}`;
  if (status !== 429 && status !== 503) {
    return new ServiceError(reason, { operation, status });
  }
  const retryAfter = parseRetryAfter(headers.get("retry-after"));
  return new OverloadedError(reason, { operation, status, retryAfter });
}

/** Options of {@linkcode notJsonError}. */
export interface NotJsonErrorOptions {
  readonly operation: Operation;
  /** The API key, which must not stand in the message. */
  readonly apiKey: string;
}

/**
 * The error for an answer within 2xx whose body is no JSON object.
 *
 * @param text The body.
 */
export function notJsonError(
  { status, headers }: Response,
  text: string,
  { operation, apiKey }: NotJsonErrorOptions,
): ServiceError {
  const reason = isWebPage(headers.get("content-type"), text)
    ? webPageReason(status, text, apiKey)
    : `the answer (status ${status}) is not a JSON object; check the base URL`;
  const outcome = operation === "create run"
    ? `; ${UNKNOWN_OUTCOME[operation]}`
    : "";
  return new ServiceError(reason + outcome, { operation, status });
}

/**
 * What to say when a web page comes with a status of 2xx: a sign-in page, a
 * portal, or another site than the service.
 *
 * @param html As much of the page as is known: its title is told.
 */
export function webPageReason(
  status: number,
  html: string,
  apiKey: string,
): string {
  const title = pageDetail(html, apiKey);
  const page = title === "" ? "a web page" : `a web page ("${title}")`;
  return `the answer (status ${status}) is ${page}; check the base URL, and whether this network asks you to sign in`;
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
function pageDetail(html: string, apiKey: string): string {
  return shown(pageTitle(html), { apiKey, isCut: false });
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
