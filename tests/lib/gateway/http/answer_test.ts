import { assertEquals, assertRejects } from "@std/assert";
import { RequestError } from "../../../../lib/gateway/failure/failure.ts";
import { readId } from "../../../../lib/gateway/http/answer.ts";
import { Redactor } from "../../../../lib/text.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { QUICK_TIMEOUTS } from "../../../support/turns.ts";

const CUT = "The connection was cut in the middle of the answer (status 200)";
const EARLY =
  "The connection was cut before the text of the answer (status 200)";
const NO_OBJECT = "The answer (status 200) is not a JSON object";

/** The schemes of services, the text of an answer, why it cannot be read, its length. */
const ANSWERS: readonly (readonly [string, string, string, string?])[] = [
  ["http, https", '{"thread_id":"t', CUT],
  ["http, https", "{", CUT],
  ["http, https", '{"thread_id": t}\n', NO_OBJECT],
  ["http, https", '"t', NO_OBJECT],
  ["http, https", "{", CUT, "2"],
  ["http, https", "{", NO_OBJECT, "1"],
  ["https", "", NO_OBJECT, "0"],
  ["http", "", NO_OBJECT],
  ["https", "", EARLY], // A stream of HTTP/2 that is reset with CANCEL.
];

for (const [schemes, text, reason, length] of ANSWERS) {
  Deno.test(`readId() of "${text}" of ${length} bytes says: ${reason}`, async () => {
    for (const scheme of schemes.split(", ")) {
      const { failure } = await assertRejects(() =>
        readId({
          operation: "create thread",
          url: `${scheme}://agent.test/threads`,
          response: {
            status: 200,
            headers: new Headers(length ? { "content-length": length } : {}),
            body: new Blob([text]).stream(),
          },
          signal: new AbortController().signal,
          timeouts: QUICK_TIMEOUTS,
          redactor: new Redactor(TEST_KEY),
        }), RequestError);
      assertEquals(failure.reason, reason);
      // Nothing says that it would be so again.
      const isCut = reason !== NO_OBJECT;
      assertEquals(failure.stage, isCut ? "perhaps taken" : "refused");
    }
  });
}
