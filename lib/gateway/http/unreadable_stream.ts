import { parseJson, safe } from "../../text.ts";
import { type Failure, RequestError } from "../failure/failure.ts";
import { type Answer, readErrorText } from "./answer.ts";
import { errorDetail } from "./error_words.ts";
import { isHtml, webPageReason } from "./web_page.ts";

/** The codings that an answer may have, although the request allows none (RFC 9110). */
const CODINGS: ReadonlySet<string> = new Set([
  ...["gzip", "x-gzip", "deflate", "compress", "x-compress"],
  ...["br", "zstd"],
]);

/** Throws a {@linkcode RequestError} if an answer with status 2xx is no event stream. */
export async function refuseUnreadable(answer: Answer): Promise<void> {
  const { redactor, response } = answer;
  const { status, headers, body } = response;
  if (status === 204) {
    const reason = safe`The service answered 204: it has nothing more to send`;
    throw unusable(answer, { reason });
  }
  if (isCompressed(headers.get("content-encoding") ?? "")) {
    await body?.cancel().catch(() => {}); // It may be broken already.
    throw unusable(answer, {
      reason: safe`The stream is compressed, which the request did not allow`,
      advice: safe`Turn off compression at the service or its reverse proxy`,
    });
  }
  if (!isHtml(headers.get("content-type"))) return;
  const page = await readErrorText(answer);
  const words = errorDetail(parseJson(page.text));
  if (words === undefined) {
    const reason = webPageReason(status, page.text, redactor);
    throw unusable(answer, { reason });
  }
  throw new RequestError({
    stage: "failed",
    reason: safe`The run failed`,
    detail: redactor.show(words),
  });
}

function unusable(
  { response: { status } }: Answer,
  failure: Pick<Failure, "reason" | "advice">,
): RequestError {
  return new RequestError({ ...failure, status, stage: "perhaps taken" });
}

/** Whether a `Content-Encoding` names a coding; some services put other words there. */
function isCompressed(encodings: string): boolean {
  return encodings.toLowerCase().split(",")
    .some((encoding) => CODINGS.has(encoding.trim()));
}
