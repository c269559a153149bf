import { parseJson } from "../../text.ts";
import { ServiceError } from "../failure/service_error.ts";
import { type Answer, readErrorText, unusable } from "./answer.ts";
import { errorDetail } from "./error_words.ts";
import { isHtml, webPageReason } from "./web_page.ts";

/** Throws a {@linkcode ServiceError} if an answer with status 2xx is no event stream. */
export async function refuseUnreadable(answer: Answer): Promise<void> {
  const { operation, redactor, response } = answer;
  const { status, headers, body } = response;
  if (status === 204) {
    const reason = "The service answered 204: it has nothing more to send";
    throw unusable(answer, { reason });
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    await body?.cancel();
    throw unusable(answer, {
      reason: "The stream is compressed, which the request did not allow",
      advice: "Turn off compression at the service or its reverse proxy",
    });
  }
  if (!isHtml(headers.get("content-type"))) return;
  const page = await readErrorText(answer);
  const words = errorDetail(parseJson(page.text));
  if (words === undefined) {
    const reason = webPageReason(status, page, redactor);
    throw unusable(answer, { reason });
  }
  const detail = redactor.show(words, page);
  const reason = "The run failed";
  throw new ServiceError({ operation, stage: "failed", reason, detail });
}
