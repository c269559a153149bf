/**
 * Errors for answers that cannot be used: what arrived, what to do, and the
 * service's own words.
 *
 * @module
 */

import { isJsonObject, parseJson, shownText } from "../../text.ts";
import { errorDetail } from "./error_words.ts";
import type { LimitedText } from "../http/response_body.ts";
import { retryAfterOf } from "../http/retries.ts";
import { fateOfStatus, type Operation } from "./fate.ts";
import { ServiceError } from "./service_error.ts";
import { isWebPage, pageTitle } from "./web_page.ts";

export interface StatusErrorOptions {
  readonly operation: Operation;
  /** The URL of the request. */
  readonly url: string;
  /** The API key, which must not appear in the message. */
  readonly apiKey: string;
}

/** The error for an answer with a status outside 2xx. */
export function statusError(
  { status, headers }: Pick<Response, "status" | "headers">,
  { operation, url, apiKey, body }: StatusErrorOptions & {
    /** Its text, or as much of it as was read. */
    readonly body: LimitedText;
  },
): ServiceError {
  const fate = fateOfStatus(operation, status);
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    const target = URL.parse(location, url);
    const { origin, host, pathname } = new URL(url);
    const addsSlash = target?.host === host &&
      target.pathname === `${pathname}/`;
    const place = target === null || target.origin === "null"
      ? "an unreadable address"
      : shownText(target.origin === origin ? target.pathname : target.origin, {
        apiKey,
      });
    return new ServiceError({
      ...{ operation, status, fate },
      reason: `the service answered ${status}, a redirect to ${place}`,
      advice: addsSlash
        ? "redirects are not followed: the service should answer without the slash at the end"
        : "redirects are not followed, check the base URL",
    });
  }
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const json = parseJson(body.text);
  const words = isPage ? pageTitle(body.text) : errorDetail(json) ?? body.text;
  const detail = shownText(words, { apiKey, isCut: body.cut });
  const hasJson = status < 400 || json !== undefined;
  const named = hasJson ? "" : nameOf(headers, apiKey);
  const [meaning, advice] = meaningOf(operation, status, isPage);
  return new ServiceError({
    ...{ operation, status, advice, fate },
    reason: `the service answered ${status}${meaning}`,
    detail: `${detail} ${named}`.trim(),
    isThreadGone: operation === "create run" && status === 404,
    isJson: isJsonObject(json),
    retryAfter: retryAfterOf(headers),
  });
}

/** Headers that help an administrator to find the request in a log. */
const NAMES = "CF-RAY X-Request-Id X-Amzn-RequestId X-Amz-Cf-Id Server"
  .split(" ");

/** These headers of an answer, in brackets; empty if it has none of them. */
function nameOf(headers: Headers, apiKey: string): string {
  const told = NAMES.flatMap((name) => {
    const options = { apiKey, maxLength: 100 };
    const value = shownText(headers.get(name) ?? "", options);
    return value === "" ? [] : `${name}: ${value}`;
  });
  return told.length === 0 ? "" : `[${told.join(", ")}]`;
}

/** What a status means, and what to do. */
type Meaning = readonly [meaning: string, advice: string];

const KEY: Meaning = [", the API key was rejected", "check APP_API_KEY"];
const FRONT: Meaning = [
  ", a web page: the API key was rejected, or something in front of the service refused, such as a firewall or a sign-in page",
  "check APP_API_KEY, the network and the base URL",
];
const FIREWALL: Meaning = [
  ", a web page: a firewall may have refused the text of the prompt",
  "change it, or check APP_API_KEY and the network",
];
const GONE: Meaning = ["", "the service does not know the run"];

/** Keys: `OPERATION STATUS page`, or parts of it; `page` means that a web page came. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ...{ "401": KEY, "403": KEY, "401 page": FRONT, "403 page": FRONT },
  ...{ "create run 401 page": FIREWALL, "create run 403 page": FIREWALL },
  ...{ "stream run 404": GONE, "stream run 410": GONE },
  "create thread 404": ["", "check the base URL"],
  "create run 413": ["", "the prompt is too long for it"],
  "create run 429": ["", "try again later"],
  "511": [
    ": the network asks to sign in",
    "sign in to the network, in a browser",
  ],
};

function meaningOf(
  operation: Operation,
  status: number,
  isPage: boolean,
): Meaning {
  const page = `${status}${isPage ? " page" : ""}`;
  const keys = [`${operation} ${page}`, `${operation} ${status}`, page, status];
  const key = keys.find((key) => Object.hasOwn(MEANINGS, key)) ?? "";
  return MEANINGS[key] ?? ["", ""];
}
