import { parseJson, shownText } from "../../text.ts";
import { errorDetail } from "../failure/error_words.ts";
import { ServiceError } from "../failure/service_error.ts";
import { isHtml, webPageReason } from "../failure/web_page.ts";
import { readErrorText, type RequestContext, unusable } from "./answers.ts";

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
