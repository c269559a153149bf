/**
 * Errors for answers that cannot be used: what arrived, what to do, and the
 * service's own words.
 *
 * @module
 */

import { isJsonObject, parseJson, shownText } from "../../text.ts";
import {
  errorDetail,
  isWebPage,
  type LimitedText,
  pageTitle,
} from "./foreign_text.ts";
import { parseRetryAfter } from "./retry_after.ts";
import {
  type Failure,
  type Fate,
  type Operation,
  ServiceError,
  UNKNOWN_FATE,
} from "./service_error.ts";

/** An answer with a status outside 2xx. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Its text, or as much of it as was read. */
  readonly body: LimitedText;
}

export interface StatusErrorOptions {
  readonly operation: Operation;
  /** The URL of the request. */
  readonly url: string;
  /** The API key, which must not appear in the message. */
  readonly apiKey: string;
}

/** The error for an answer outside 2xx. */
export function statusError(
  { status, headers, body }: Answer,
  { operation, url, apiKey }: StatusErrorOptions,
): ServiceError {
  const fate = fateOf(operation, status);
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    const target = URL.parse(location, url);
    const { host, pathname } = new URL(url);
    const addsSlash = target?.host === host &&
      target.pathname === `${pathname}/`;
    return new ServiceError({
      operation,
      status,
      reason: `the service answered ${status}, a redirect to ${
        shownTarget(target, { url, apiKey })
      }`,
      advice: addsSlash
        ? "redirects are not followed: the service should answer without the slash at the end"
        : "redirects are not followed, check the base URL",
      fate,
    });
  }
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const json = parseJson(body.text);
  const words = isPage ? pageTitle(body.text) : errorDetail(json) ?? body.text;
  const detail = shownText(words, { apiKey, isCut: body.cut });
  const named = status < 400 || json !== undefined
    ? ""
    : nameOf(headers, apiKey);
  return new ServiceError({
    operation,
    status,
    ...adviceOn({ operation, status, isPage }),
    fate,
    detail: `${detail} ${named}`.trim(),
    isThreadGone: operation === "create run" && status === 404,
    isJson: isJsonObject(json),
    retryAfter: parseRetryAfter(
      headers.get("retry-after"),
      headers.get("date"),
    ),
  });
}

/**
 * The reason why a web page with status 2xx cannot be used. It gives the page's
 * title.
 *
 * @param page The page, or its beginning.
 */
export function webPageReason(
  status: number,
  page: LimitedText,
  apiKey: string,
): string {
  const title = shownText(pageTitle(page.text), { apiKey, isCut: page.cut });
  const name = title === "" ? "" : `, "${title}"`;
  return `a web page came (status ${status}${name}), perhaps the sign-in page of a network or a proxy`;
}

/** A redirect's target: its path at the service's own origin, else its origin. */
function shownTarget(
  target: URL | null,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
): string {
  if (target === null || target.origin === "null") {
    return "an unreadable address";
  }
  const isOwn = target.origin === new URL(url).origin;
  return shownText(isOwn ? target.pathname : target.origin, { apiKey });
}

/** The headers by which an administrator finds a request. */
const NAMES = "CF-RAY X-Request-Id X-Amzn-RequestId X-Amz-Cf-Id Server"
  .split(" ");

/** Who answered, and to which request, as far as the headers tell. */
function nameOf(headers: Headers, apiKey: string): string {
  const told = NAMES.flatMap((name) => {
    const options = { apiKey, maxLength: 100 };
    const value = shownText(headers.get(name) ?? "", options);
    return value === "" ? [] : `${name}: ${value}`;
  });
  return told.length === 0 ? "" : `[${told.join(", ")}]`;
}

/** What the answer means, and what to do. */
function adviceOn(
  { operation, status, isPage }: {
    readonly operation: Operation;
    readonly status: number;
    readonly isPage: boolean;
  },
): Pick<Failure, "reason" | "advice"> {
  const reason = `the service answered ${status}`;
  if (status === 511) {
    return {
      reason: `${reason}: the network asks to sign in`,
      advice: "sign in to the network, in a browser",
    };
  }
  if (status === 401 || status === 403) {
    if (isPage && operation === "create run") {
      return {
        reason:
          `${reason}, a web page: a firewall may have refused the text of the prompt`,
        advice: "change it, or check APP_API_KEY and the network",
      };
    }
    return isPage
      ? {
        reason:
          `${reason}, a web page: the API key was rejected, or something in front of the service refused, such as a firewall or a sign-in page`,
        advice: "check APP_API_KEY, the network and the base URL",
      }
      : {
        reason: `${reason}, the API key was rejected`,
        advice: "check APP_API_KEY",
      };
  }
  return { reason, advice: ADVICE[`${operation} ${status}`] ?? "" };
}

const ADVICE: Readonly<Record<string, string>> = {
  "create thread 404": "check the base URL",
  "create run 413": "the prompt is too long for it",
  "create run 429": "try again later",
  "stream run 404": "the service does not know the run",
  "stream run 410": "the service does not know the run",
};

/** The fate of a request that was answered with a status outside 2xx. */
function fateOf(operation: Operation, status: number): Fate {
  if (operation === "stream run") {
    return status === 404 || status === 410 ? "may have run" : "may go on";
  }
  if (status === 429) return "not run";
  const isUnknown = status >= 500 || status === 408 || status === 425 ||
    status === 499 && operation === "create run";
  return isUnknown ? UNKNOWN_FATE[operation] : "refused";
}
