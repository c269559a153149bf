import type { ReadText } from "../../io.ts";
import {
  isJsonObject,
  joinSafe,
  parseJson,
  type Redacted,
  type Redactor,
  safe,
} from "../../text.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { type RemoteOperation, stageOfStatus } from "../failure/fate.ts";
import { problemOfStatus } from "../failure/retry_policy.ts";
import type { Answer } from "./answer.ts";
import { errorDetail } from "./error_words.ts";
import { retryAfterOf } from "./retry_after.ts";
import { isWebPage, pageTitle } from "./web_page.ts";

interface StatusWords {
  /** The operation that is meant; by default all of them. */
  readonly operation?: RemoteOperation;
  readonly statuses: readonly number[];
  /** Whether only web pages are meant; the meaning then follows the page's title. */
  readonly isPage?: true;
  /** What the status means; by default only the status is shown. */
  readonly meaning?: Redacted;
  readonly advice?: Redacted;
}

/** What statuses outside 2xx mean, and what to do. The first row that applies is used. */
export const STATUS_WORDS: readonly StatusWords[] = [
  {
    operation: "create run",
    statuses: [401, 403],
    isPage: true,
    meaning: safe`a firewall may have blocked the text of the prompt`,
    advice: safe`Change it, or check APP_API_KEY and the network`,
  },
  {
    statuses: [401, 403],
    isPage: true,
    meaning: safe`a firewall or sign-in page, or a rejected key`,
    advice: safe`Check APP_API_KEY and the network`,
  },
  {
    statuses: [401, 403],
    meaning: safe`The service rejected the API key`,
    advice: safe`Check APP_API_KEY`,
  },
  {
    operation: "create thread",
    statuses: [404],
    advice: safe`Check the base URL`,
  },
  {
    operation: "create run",
    statuses: [413],
    meaning: safe`The prompt is too long for the service`,
  },
  {
    operation: "stream run",
    statuses: [404, 410],
    meaning: safe`The service no longer knows the run`,
  },
  {
    statuses: [511],
    meaning: safe`The network asks you to sign in`,
    advice: safe`Sign in with a browser`,
  },
];

/** An object or a list without anything, which says nothing. */
const EMPTY_JSON = /^\s*(?:\{\s*\}|\[\s*\])\s*$/;

/** What is needed of an answer whose text was read. */
type ReadAnswer = Pick<Answer, "operation" | "url" | "response" | "redactor">;

/** The error for an answer with a status outside 2xx, and as much text as was read. */
export function statusError(answer: ReadAnswer, body: ReadText): RequestError {
  const { operation, response: { status, headers } } = answer;
  const stage = stageOfStatus(operation, status);
  const location = headers.get("location");
  const isRedirect = status >= 300 && status < 400 && location !== null;
  const json = parseJson(body.text);
  const words = isRedirect
    ? redirectWords(answer, location)
    : answerWords(answer, body, json);
  return new RequestError({
    status,
    stage,
    ...words,
    problem: problemOfStatus(operation, status),
    // A proxy sends no JSON.
    isThreadGone: operation === "create run" && status === 404 &&
      isJsonObject(json),
    retryAfter: retryAfterOf(headers),
  });
}

type Words = Pick<Failure, "reason" | "advice">;

function redirectWords(
  { url, response: { status }, redactor }: ReadAnswer,
  location: string,
): Words {
  const { origin, host, pathname } = new URL(url);
  const target = URL.parse(location, url);
  // A percent-encoded path could contain the key in that form.
  const isPlain = target?.pathname.includes("%") === false;
  const isOwn = isPlain && target.origin === origin;
  const place = target === null || target.origin === "null"
    ? "an unreadable address"
    : redactor.show(isOwn ? target.pathname : target.origin);
  const addsSlash = target?.host === host &&
    target.pathname === `${pathname}/`;
  return {
    reason:
      safe`The service answered ${status}, a redirect to ${place}, which is not followed`,
    advice: addsSlash
      ? safe`The service should answer without the trailing slash`
      : safe`Check the base URL`,
  };
}

function answerWords(
  { operation, response: { status, headers }, redactor }: ReadAnswer,
  body: ReadText,
  json: unknown,
): Words {
  const isPage = isWebPage(headers.get("content-type"), body.text);
  const found = isPage
    ? pageTitle(body.text).replace(`${status} `, "") // nginx: 502 Bad Gateway
    : errorDetail(json) ?? body.text.replace(EMPTY_JSON, "");
  const detail = redactor.show(found);
  const hasName = status >= 400 && json === undefined;
  const name = hasName ? nameOf(headers, redactor) : "";
  const row = STATUS_WORDS.find((row) =>
    row.statuses.includes(status) &&
    (row.operation === undefined || row.operation === operation) &&
    (row.isPage === undefined || isPage)
  );

  const { meaning, advice } = row ?? {};
  if (row?.isPage) {
    const title = detail && safe` ("${detail}")`;
    const explained = joinSafe([meaning, name], " ");
    const reason =
      safe`The service answered ${status} with a web page${title}: ${explained}`;
    return { reason, advice };
  }

  const words = detail && safe`: ${detail}`;
  const answered = joinSafe([safe`${status}${words}`, name], " ");
  const reason = meaning === undefined
    ? safe`The service answered ${answered}`
    : safe`${meaning} (${answered})`;
  return { reason, advice };
}

/** Headers that help an administrator to find the request in a log. */
const NAMES = [
  "CF-RAY",
  "X-Request-Id",
  "X-Amzn-RequestId",
  "X-Amz-Cf-Id",
  "Server",
] as const;

/** These headers of an answer, in brackets; empty if it has none of them. */
function nameOf(headers: Headers, redactor: Redactor): Redacted {
  const found = NAMES.map((name) => {
    const value = redactor.show(headers.get(name) ?? "", 100);
    return value && safe`${name}: ${value}`;
  });
  const names = joinSafe(found, ", ");
  return names && safe`[${names}]`;
}
