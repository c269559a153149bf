/**
 * Reads the service's answers, and refuses those that cannot be used.
 *
 * @module
 */

import { isJsonObject, parseJson, shownText } from "../../text.ts";
import {
  errorDetail,
  isHtml,
  isWebPage,
  type LimitedText,
} from "../failure/error_text.ts";
import { UNKNOWN_FATE } from "../failure/fate.ts";
import { type Failure, ServiceError } from "../failure/service_error.ts";
import {
  type StatusErrorOptions,
  webPageReason,
} from "../failure/status_error.ts";
import { Deadline } from "./deadline.ts";
import { readAnswerText, readBody } from "./response_body.ts";
import type { Timeouts } from "./timeouts.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_PAGE_BYTES = 64 * 1024;

/** The request that an answer belongs to. */
export interface RequestContext extends StatusErrorOptions {
  /** Aborting it drops the answer. */
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
}

/**
 * The JSON object in an answer with status 2xx, of at most 1 MiB.
 *
 * @throws {ServiceError} If it holds anything else.
 */
export async function readJson(
  response: Response,
  { operation, apiKey, signal }: RequestContext,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, headers } = response;
  const chunks = readBody(response, { signal });
  const answer = await readAnswerText(chunks, { maxBytes: MAX_ANSWER_BYTES });
  const { text, cut } = answer;
  const value = cut ? undefined : parseJson(text);
  if (isJsonObject(value)) return value;
  const reason = isWebPage(headers.get("content-type"), text)
    ? webPageReason(status, answer, apiKey)
    : cut
    ? "the answer is larger than 1 MiB"
    : `the answer (status ${status}) is not a JSON object`;
  const advice = operation === "create thread" ? "check the base URL" : "";
  throw unusable(response, { operation, reason, advice });
}

/**
 * Refuses an answer with status 2xx that cannot be read as an event stream.
 *
 * @throws {ServiceError} If it cannot.
 */
export async function refuseUnreadable(
  response: Response,
  context: RequestContext,
): Promise<void> {
  const { status, headers } = response;
  const { operation, apiKey } = context;
  if (status === 204) {
    const reason = "the service answered 204: it has nothing more to send";
    throw unusable(response, { operation, reason });
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    await response.body?.cancel();
    throw unusable(response, {
      operation,
      reason:
        "the stream is compressed, although the request asked for plain text",
      advice:
        "switch off compression of text/event-stream at the service, or at the proxy in front of it",
    });
  }
  if (!isHtml(headers.get("content-type"))) return;
  const page = await readErrorText(response, context);
  const words = errorDetail(parseJson(page.text));
  if (words === undefined) {
    const reason = webPageReason(status, page, apiKey);
    throw unusable(response, { operation, reason });
  }
  const detail = shownText(words, { apiKey, isCut: page.cut });
  const reason = "the run failed";
  throw new ServiceError({ operation, reason, detail, fate: "failed" });
}

/** The text of an answer that cannot be used, as much as comes within 2 s. */
export async function readErrorText(
  response: Response,
  { signal, timeouts }: RequestContext,
): Promise<LimitedText> {
  const deadline = new Deadline(signal, timeouts.errorText);
  try {
    const chunks = readBody(response, { signal: deadline.signal });
    const options = { maxBytes: MAX_PAGE_BYTES, mayBreak: true };
    return await readAnswerText(chunks, options);
  } finally {
    deadline.end();
  }
}

/** The error for an answer with status 2xx that cannot be used. */
function unusable(
  { status }: Response,
  failure: Pick<Failure, "operation" | "reason" | "advice">,
): ServiceError {
  const fate = UNKNOWN_FATE[failure.operation];
  return new ServiceError({ ...failure, status, fate });
}
