import type { ReadText } from "../../io.ts";
import { isJsonObject, parseJson, type Redactor } from "../../text.ts";
import { type Operation, stageOfStatus } from "../failure/fate.ts";
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
      reason: `the service answered ${status}, a redirect to ${place}`,
      advice: addsSlash
        ? "redirects are not followed: the service should answer without the slash at the end"
        : "redirects are not followed, check the base URL",
    });
  }
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const json = parseJson(body.text);
  const words = isPage ? pageTitle(body.text) : errorDetail(json) ?? body.text;
  const detail = redactor.show(words, body);
  const hasJson = status < 400 || json !== undefined;
  const named = hasJson ? "" : nameOf(headers, redactor);
  const [meaning, advice] = meaningOf(operation, status, isPage);
  return new ServiceError({
    ...{ operation, status, advice, stage },
    reason: `the service answered ${status}${meaning}`,
    detail: `${detail} ${named}`.trim(),
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
