/**
 * Reads the service's JSON answers and the texts of errors.
 *
 * @module
 */

import { Deadline } from "../../io.ts";
import { holdsKey, isJsonObject, isServiceId, parseJson } from "../../text.ts";
import { UNKNOWN_FATE } from "../failure/fate.ts";
import { type Failure, ServiceError } from "../failure/service_error.ts";
import type { StatusErrorOptions } from "../failure/status_error.ts";
import { isWebPage, webPageReason } from "../failure/web_page.ts";
import { type LimitedText, readAnswerText, readBody } from "./response_body.ts";
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
 * Reads the id in an answer with status 2xx, which has to be a JSON object of at
 * most 1 MiB.
 *
 * @throws {ServiceError} If it holds none that can be used.
 */
export async function readId(
  response: Response,
  { operation, apiKey, signal }: RequestContext,
): Promise<string> {
  const { status, headers } = response;
  const chunks = readBody(response, { signal });
  const answer = await readAnswerText(chunks, { maxBytes: MAX_ANSWER_BYTES });
  const { text, cut } = answer;
  const value = cut ? undefined : parseJson(text);
  if (isJsonObject(value)) {
    const field = operation === "create thread" ? "thread_id" : "run_id";
    const { [field]: id } = value;
    if (typeof id === "string" && isServiceId(id) && !holdsKey(id, apiKey)) {
      return id;
    }
    const found = id === undefined ? "no" : "a malformed";
    const reason = `the answer holds ${found} ${field}`;
    const fate = UNKNOWN_FATE[operation];
    throw new ServiceError({ operation, reason, fate });
  }
  const reason = isWebPage(headers.get("content-type"), text)
    ? webPageReason(status, answer, apiKey)
    : cut
    ? "the answer is larger than 1 MiB"
    : `the answer (status ${status}) is not a JSON object`;
  const advice = operation === "create thread" ? "check the base URL" : "";
  throw unusable(response, { operation, reason, advice });
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
export function unusable(
  { status }: Response,
  failure: Pick<Failure, "operation" | "reason" | "advice">,
): ServiceError {
  const fate = UNKNOWN_FATE[failure.operation];
  return new ServiceError({ ...failure, status, fate });
}
