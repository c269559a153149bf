import { Deadline, type ReadText, readText } from "../../io.ts";
import {
  byteLength,
  isJsonObject,
  isServiceId,
  type JsonObject,
  parseJson,
  type Redacted,
  type Redactor,
  safe,
  type ServiceId,
  size,
} from "../../text.ts";
import { RequestError } from "../failure/failure.ts";
import type { RemoteOperation } from "../failure/fate.ts";
import { errorDetail } from "./error_words.ts";
import { readBody } from "./response_body.ts";
import { TIMEOUTS } from "../timeouts.ts";
import { isWebPage, webPageReason } from "./web_page.ts";

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_PAGE_BYTES = 64 * 1024;

export interface Answer {
  readonly operation: RemoteOperation;
  readonly url: string;
  readonly response: Pick<Response, "status" | "headers" | "body">;
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
}

/**
 * Reads the id in an answer with status 2xx, a JSON object of at most 1 MiB. Rejects
 * with a {@linkcode RequestError} if it contains no usable one.
 */
export async function readId(answer: Answer): Promise<ServiceId> {
  const { operation, response, redactor, signal } = answer;
  const { status } = response;
  const chunks = readBody(response, signal);
  const read = await readText(chunks, { maxBytes: MAX_ANSWER_BYTES });
  const value = read.isCut ? undefined : parseJson(read.text);
  const isCutOff = value === undefined && !read.isCut &&
    looksCutOff(answer, read.text);
  // A run may have been started; the thread would be answered so again.
  const isRefused = operation === "create thread" && !isCutOff;
  const stage = isRefused ? "refused" : "perhaps taken";
  if (!isJsonObject(value)) {
    const reason = isCutOff
      ? safe`The connection was cut before the end of the answer (status ${status})`
      : whyNoObject(answer, read);
    const advice = isRefused ? safe`Check the base URL` : undefined;
    throw new RequestError({ stage, status, reason, advice });
  }

  const field = operation === "create thread" ? "thread_id" : "run_id";
  const { [field]: id } = value;
  if (typeof id === "string" && isServiceId(id) && !redactor.isInId(id)) {
    return id;
  }
  const reason = whyNoId(field, value, redactor);
  const advice = safe`The service should answer {"${field}":"..."}`;
  throw new RequestError({ stage, status, reason, advice });
}

/**
 * Whether a text that is no JSON is the beginning of an object. Over HTTP/2, an answer
 * that the service resets looks as if it had ended, also before its text.
 */
function looksCutOff({ url, response }: Answer, text: string): boolean {
  const length = `${byteLength(text)}`;
  if (response.headers.get("content-length") === length) return false;
  if (text === "") return url.startsWith("https:");
  return text.startsWith("{") && !text.trimEnd().endsWith("}");
}

function whyNoId(
  field: "thread_id" | "run_id",
  answer: JsonObject,
  redactor: Redactor,
): Redacted {
  const { [field]: id } = answer;
  if (id === undefined) {
    const words = errorDetail(answer);
    if (words !== undefined) {
      return safe`The answer contains no ${field}. The service said: ${
        redactor.show(words)
      }`;
    }
    const names = redactor.show(Object.keys(answer).join(", "), 100);
    const others = names === "" ? "" : safe`, only: ${names}`;
    return safe`The answer contains no ${field}${others}`;
  }
  if (typeof id === "string") {
    return safe`The answer contains a malformed ${field}`;
  }
  return safe`The ${field} in the answer must be a string`;
}

function whyNoObject({ response, redactor }: Answer, read: ReadText): Redacted {
  const { status, headers } = response;
  if (isWebPage(headers.get("content-type"), read.text)) {
    return webPageReason(status, read.text, redactor);
  }
  return read.isCut
    ? safe`The answer is larger than ${size(MAX_ANSWER_BYTES)}`
    : safe`The answer (status ${status}) is not a JSON object`;
}

/** The text of an answer that cannot be used, as much as comes within 2 s. */
export async function readErrorText(
  { response, signal }: Answer,
): Promise<ReadText> {
  using deadline = new Deadline(TIMEOUTS.errorText, signal);
  const chunks = readBody(response, deadline.signal);
  return await readText(chunks, { maxBytes: MAX_PAGE_BYTES, mayBreak: true });
}
