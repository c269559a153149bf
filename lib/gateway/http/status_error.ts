import type { ReadText } from "../../io.ts";
import { isJsonObject, parseJson, type Redactor } from "../../text.ts";
import { stageOfStatus } from "../failure/fate.ts";
import { ServiceError } from "../failure/service_error.ts";
import type { Answer } from "./answer.ts";
import { errorDetail } from "./error_words.ts";
import { retryAfterOf, retryReason } from "./retries.ts";
import { isWebPage, pageTitle } from "./web_page.ts";

/** The error for an answer with a status outside 2xx, and as much text as was read. */
export function statusError(
  { operation, url, response, redactor }: Omit<Answer, "signal" | "timeouts">,
  body: ReadText,
): ServiceError {
  const { status, headers } = response;
  const stage = stageOfStatus(operation, status);
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    const target = URL.parse(location, url);
    const { origin, host, pathname } = new URL(url);
    const addsSlash = target?.host === host &&
      target.pathname === `${pathname}/`;
    const place = target === null || target.origin === "null"
      ? "an unreadable address"
      : redactor.show(
        target.origin === origin ? target.pathname : target.origin,
      );
    return new ServiceError({
      ...{ operation, status, stage },
      reason:
        `The service answered ${status}, a redirect to ${place}, which is not followed`,
      advice: addsSlash
        ? "The service should answer without the trailing slash"
        : "Check the base URL",
    });
  }
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const json = parseJson(body.text);
  const words = isPage ? pageTitle(body.text) : errorDetail(json) ?? body.text;
  const detail = redactor.show(words, body);
  const hasJson = status < 400 || json !== undefined;
  const named = hasJson ? "" : nameOf(headers, redactor);
  const page = isPage ? `${status} page` : `${status}`;
  const [meaning, advice, isAboutPage] = MEANINGS[`${operation} ${page}`] ??
    MEANINGS[`${operation} ${status}`] ?? MEANINGS[page] ?? MEANINGS[status] ??
    ["", ""];
  const said = `${detail} ${named}`.trim().replace(/^(?=.)/, ": ");
  const title = detail && ` ("${detail}")`;
  return new ServiceError({
    ...{ operation, status, advice, stage },
    reason: isAboutPage
      ? `The service answered ${status} with a web page${title}: ${meaning} ${named}`
        .trim()
      : meaning === ""
      ? `The service answered ${status}${said}`
      : `${meaning} (${status}${said})`,
    retry: retryReason(operation, status),
    isThreadGone: operation === "create run" && status === 404,
    isJson: isJsonObject(json),
    retryAfter: retryAfterOf(headers),
  });
}

/** Headers that help an administrator to find the request in a log. */
const NAMES = "CF-RAY X-Request-Id X-Amzn-RequestId X-Amz-Cf-Id Server"
  .split(" ");

/** These headers of an answer, in brackets; empty if it has none of them. */
function nameOf(headers: Headers, redactor: Redactor): string {
  const told = NAMES.flatMap((name) => {
    const value = redactor.show(headers.get(name) ?? "", { maxLength: 100 });
    return value === "" ? [] : `${name}: ${value}`;
  });
  return told.length === 0 ? "" : `[${told.join(", ")}]`;
}

/** What a status means, what to do, and whether it is about the web page that came. */
type Meaning = readonly [meaning: string, advice: string, isAboutPage?: true];

const KEY: Meaning = ["The service rejected the API key", "Check APP_API_KEY"];
const FRONT: Meaning = [
  "a firewall or sign-in page, or a rejected key",
  "Check APP_API_KEY and the network",
  true,
];
const FIREWALL: Meaning = [
  "a firewall may have blocked the text of the prompt",
  "Change it, or check APP_API_KEY and the network",
  true,
];
const GONE: Meaning = ["The service no longer knows the run", ""];

/** Keys: `OPERATION STATUS page`, or parts of it; `page` means that a web page came. */
export const MEANINGS: Readonly<Record<string, Meaning>> = {
  ...{ "401": KEY, "403": KEY, "401 page": FRONT, "403 page": FRONT },
  ...{ "create run 401 page": FIREWALL, "create run 403 page": FIREWALL },
  ...{ "stream run 404": GONE, "stream run 410": GONE },
  "create thread 404": ["", "Check the base URL"],
  "create run 413": ["The prompt is too long for the service", ""],
  "511": ["The network asks you to sign in", "Sign in with a browser"],
};
