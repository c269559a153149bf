/**
 * Errors for answers that cannot be used: what arrived, what to do, and the
 * service's own words.
 *
 * @module
 */

import { isJsonObject, parseJson } from "../../text.ts";
import {
  errorDetail,
  isWebPage,
  pageTitle,
  shownText,
} from "./foreign_text.ts";
import {
  type LimitedText,
  readAnswerText,
  readBody,
} from "../http/response_body.ts";
import { parseRetryAfter } from "../http/retry_after.ts";
import {
  type Failure,
  type Operation,
  type Outcome,
  ServiceError,
  UNKNOWN_OUTCOME,
} from "./service_error.ts";

const MAX_BODY_BYTES = 64 * 1024;

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
    return new ServiceError({
      operation,
      status,
      reason: `the service answered ${status}, a redirect to ${
        targetOf(location, { url, apiKey })
      }`,
      advice: "redirects are not followed, check the base URL",
      outcome: outcomeOf(operation, status),
    });
  }
  const body = await readAnswerText(
    readBody(response, { signal }),
    MAX_BODY_BYTES,
  ).catch(() => ({ text: "", cut: false }));
  const isPage = isWebPage(headers.get("content-type"), body.text);
  return new ServiceError({
    operation,
    status,
    ...adviceOn({ operation, status, isPage }),
    outcome: outcomeOf(operation, status),
    detail: isPage ? titleOf(body, apiKey) : detailOf(body, apiKey),
    isThreadGone: operation === "create run" && status === 404,
    isJson: isJsonObject(parseJson(body.text)),
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
  const title = titleOf(page, apiKey);
  const name = title === "" ? "" : `, "${title}"`;
  return `a web page came (status ${status}${name}), perhaps the sign-in page of a network or a proxy`;
}

/** A redirect's target: its path at the service's own origin, else its origin. */
function targetOf(
  location: string,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
): string {
  const target = URL.parse(location, url);
  if (target === null || target.origin === "null") {
    return "an unreadable address";
  }
  const isOwn = target.origin === new URL(url).origin;
  return shownText(isOwn ? target.pathname : target.origin, { apiKey });
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
  if (status === 401 || status === 403) {
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
  return { reason, advice: ADVICE[operation](status) };
}

const ADVICE: Readonly<Record<Operation, (status: number) => string>> = {
  "create thread": (status) => status === 404 ? "check the base URL" : "",
  "create run": (status) => {
    if (status === 413) return "the prompt is too long for it";
    // Unlike other temporary statuses, this one means that the run was not accepted.
    return status === 429 ? "try again later" : "";
  },
  "stream run": (status) =>
    status === 404 || status === 410 ? "the service does not know the run" : "",
};

function outcomeOf(operation: Operation, status: number): Outcome {
  if (operation === "stream run") {
    return status === 404 || status === 410 ? "" : UNKNOWN_OUTCOME[operation];
  }
  const mayPass = status >= 500 || [408, 425, 499].includes(status) ||
    status === 429 && operation === "create thread";
  return mayPass ? UNKNOWN_OUTCOME[operation] : "";
}

/** The service's words in an error's body, safe to show; empty if there are none. */
function detailOf({ text, cut }: LimitedText, apiKey: string): string {
  return shownText(errorDetail(parseJson(text)) ?? text, {
    apiKey,
    isCut: cut,
  });
}

/** The title of a page, safe to show. */
function titleOf({ text, cut }: LimitedText, apiKey: string): string {
  return shownText(pageTitle(text), { apiKey, isCut: cut });
}
