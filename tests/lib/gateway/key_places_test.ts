import { assert } from "@std/assert";
import {
  connectionFailure,
  tlsSetupFailure,
} from "../../../lib/gateway/connection/connection_failure.ts";
import { KEYLESS, Redactor } from "../../../lib/text.ts";
import { longestPiece } from "../../support/key_pieces.ts";
import { answer } from "../../support/service/behaviours.ts";
import { TEST_KEY } from "../../support/service/service.ts";
import { testRows } from "../../support/tables.ts";
import { takeTurn } from "../../support/turns.ts";

/** Every place where words of a service are shown, and an answer that puts the key there. */
testRows(
  "a key is left out of {place}",
  "place | operation | status | headers | text",
  `
the text of a status                       | create thread | 400    | {}                          | Bad KEY
the message of a status                    | create thread | 401    | {}                          | {"message":"Bad KEY"}
a field that is wrong                      | create thread | 422    | {}                          | {"detail":[{"loc":["body","KEY"],"msg":"No"}]}
the title of a page                        | create thread | 403    | {"content-type":"text/html"} | <title>KEY</title><p>
a header of a status                       | create thread | 502    | {"cf-ray":"KEY"}            |
the host of a redirect                     | create thread | 302    | {"location":"https://KEY.test/"} |
the path of a redirect                     | create thread | 302    | {"location":"/KEY"}         |
the title of a page in place of JSON       | create thread | 200    | {"content-type":"text/html"} | <title>KEY</title><p>
the names of fields in place of an id      | create thread | 200    | {}                          | {"KEY":1}
a node                                     | stream        | 200    | {}                          | data: {"event":"progress","node":"KEY"}
a status of a node                         | stream        | 200    | {}                          | data: {"event":"progress","status":"KEY"}
the words of a run that failed             | stream        | 200    | {}                          | data: {"event":"error","message":"KEY"}
the same in a page                         | stream        | 200    | {"content-type":"text/html"} | {"error":"KEY"}
the same in place of a stream              | stream        | 200    | {}                          | {"error":"KEY"}
words after which a run went on            | stream        | 200    | {}                          | data: {"event":"error","message":"KEY"}/data: {"event":"progress"}
the title of a page in place of a stream   | stream        | 200    | {"content-type":"text/html"} | <title>KEY</title><p>
the name of an unknown event               | stream        | 200    | {}                          | data: {"event":"KEY"}
a line that is not JSON                    | stream        | 200    | {}                          | data: KEY
the fields of a reply                      | stream        | 200    | {}                          | data: {"event":"complete","KEY":"text"}
messages without a text                    | stream        | 200    | {}                          | data: {"event":"complete","messages":[{"role":"ai","content":[{"KEY":1}]}]}
`.replaceAll("KEY", TEST_KEY),
  async (row) => {
    const headers = JSON.parse(row.headers);
    const text = row.text.replaceAll("/data", "\ndata");
    const shown: unknown[] = [];
    const { error } = await takeTurn(
      { [row.operation]: [answer(Number(row.status), text, headers)] },
      { retry: [], reconnect: [], lost: 0 },
      (event) => shown.push(event),
    );
    const told = `${JSON.stringify(shown)} ${error?.message}`;
    assert(told.includes("..."), told);
    assert(longestPiece(told, TEST_KEY) < 12, told);
  },
);

/** A key of one word, as the texts of Deno's errors quote it. */
const WORD = "sk_live_5f1c2d3e4b5a69788796";

/** The texts of Deno's errors that quote a peer, or are about a host with such a name. */
const QUOTED = `
error sending request for url (https://a/): client error (Connect): invalid peer certificate: certificate not valid for name "a"; certificate is only valid for DnsName("${WORD}")
error sending request for url (https://a/): client error (Connect): invalid peer certificate: ${WORD}
error sending request for url (https://a/): client error (Connect): received fatal alert: ${WORD}
error sending request for url (https://a/): client error (Connect): it knows ${WORD}
error sending request for url (https://a/): client error (SendRequest): http2 error (b"${WORD}")
error sending request for url (https://HOST/): client error (Connect): dns error: no such host
error sending request for url (https://HOST/): client error (SendRequest): connection closed before message completed
error sending request for url (https://HOST/): client error (SendRequest): something new
Requires net access to HOST
`;

Deno.test("a key is left out of what the errors of connections quote, and of the names in them", () => {
  for (const text of QUOTED.trim().split("\n")) {
    const host = text.includes("HOST") ? WORD : "a";
    const error = new Error(text.replace("HOST", "a"));
    const cause = new TypeError("fetch failed", { cause: error });
    const tell = (redactor: Redactor) => {
      const { reason, advice } = connectionFailure(cause, {
        operation: "create thread",
        route: {
          url: new URL(`https://${host}.test`),
          proxy: {
            variable: "HTTPS_PROXY",
            scheme: "http",
            origin: `http://${host}.test:3128`,
            user: "",
            password: "",
          },
          redactor,
        },
      });
      return `${reason}. ${advice}`;
    };
    assert(tell(KEYLESS).includes(WORD), tell(KEYLESS));
    const shown = tell(new Redactor(WORD));
    assert(longestPiece(shown, WORD) < 12, shown);
  }
  const error = new Error(`Failed opening ${WORD}`);
  const { reason } = tlsSetupFailure(error, new Redactor(WORD));
  assert(longestPiece(reason, WORD) < 12, reason);
});
