import { assert } from "@std/assert";
import {
  connectionError,
  tlsSetupError,
} from "../../../lib/gateway/connection/connection_failure.ts";
import { KEYLESS, Redactor } from "../../../lib/text.ts";
import { longestPiece } from "../../support/key_pieces.ts";
import {
  answer,
  type Behaviour,
  complete,
  events,
  json,
  progress,
  redirect,
} from "../../support/service/behaviours.ts";
import { TEST_KEY } from "../../support/service/service.ts";
import { type Answers, takeTurn } from "../../support/turns.ts";

const KEY = TEST_KEY;
const HTML = { "content-type": "text/html" };
const page = `<title>${KEY}</title><p>`;
const streamed = (...items: Parameters<typeof events>[0] & unknown[]) => ({
  stream: [events(items)],
});
const threads = (...behaviours: Behaviour[]) => ({
  "create thread": behaviours,
});

/** Every place where words of a service are shown, and a service that puts the key there. */
const PLACES: Readonly<Record<string, Answers>> = {
  "the text of a status": threads(answer(400, `Bad ${KEY}`)),
  "the message of a status": threads(json({ message: `Bad ${KEY}` }, 401)),
  "a field that is wrong": threads(
    json({ detail: [{ loc: ["body", KEY], msg: "No" }] }, 422),
  ),
  "the title of a page": threads(answer(403, page, HTML)),
  "a header of a status": threads(answer(502, "", { "cf-ray": KEY })),
  "the host of a redirect": threads(redirect(`https://${KEY}.test/`)),
  "the path of a redirect": threads(redirect(`/${KEY}`)),
  "the title of a page in place of JSON": threads(answer(200, page, HTML)),
  "the names of fields in place of an id": threads(json({ [KEY]: 1 })),
  "a node": streamed(progress(KEY, ""), complete("Done.")),
  "a status of a node": streamed(progress("", KEY), complete("Done.")),
  "the words of a run that failed": streamed({ event: "error", message: KEY }),
  "the same in a page": {
    stream: [answer(200, JSON.stringify({ error: KEY }), HTML)],
  },
  "the same in place of a stream": { stream: [json({ error: KEY })] },
  "words after which a run went on": streamed(
    { event: "error", message: KEY },
    progress("a", "b"),
  ),
  "the title of a page in place of a stream": {
    stream: [answer(200, page, HTML)],
  },
  "the name of an unknown event": streamed({ event: KEY }),
  "a line that is not JSON": { stream: [answer(200, `data: ${KEY}\n\n`)] },
  "the fields of a reply": streamed({ event: "complete", [KEY]: "text" }),
  "messages without a text": streamed({
    event: "complete",
    messages: [{ role: "ai", content: [{ [KEY]: 1 }] }],
  }),
};

for (const [place, answers] of Object.entries(PLACES)) {
  Deno.test(`a key is left out of ${place}`, async () => {
    const shown: unknown[] = [];
    const { error } = await takeTurn(
      answers,
      { retry: [], reconnect: [], lost: 0 },
      (event) => shown.push(event),
    );
    const text = `${JSON.stringify(shown)} ${error?.message ?? ""}`;
    assert(text.includes("..."), text);
    assert(longestPiece(text, KEY) < 12, text);
  });
}

/** A key of one word, as the texts of Deno's errors quote it. */
const WORD = "sk_live_5f1c2d3e4b5a69788796";

const START = "error sending request for url (https://a/): client error";
const CERTIFICATE = `${START} (Connect): invalid peer certificate: `;
const OTHER_NAME =
  'certificate not valid for name "a"; certificate is only valid for ';

/** The texts of Deno's errors that quote a peer, or are about a host with such a name. */
const QUOTED: readonly (readonly [text: string, host?: string])[] = [
  [`${CERTIFICATE}${OTHER_NAME}DnsName("${WORD}")`],
  [`${CERTIFICATE}${WORD}`],
  [`${START} (Connect): received fatal alert: ${WORD}`],
  [`${START} (Connect): it knows ${WORD}`],
  [`${START} (SendRequest): http2 error (b"${WORD}")`],
  [`${START} (Connect): dns error: no such host`, WORD],
  [`${START} (SendRequest): connection closed before message completed`, WORD],
  [`${START} (SendRequest): something new`, WORD],
  ["Requires net access to a", WORD],
];

Deno.test("a key is left out of what the errors of connections quote, and of the names in them", () => {
  for (const [text, host = "a"] of QUOTED) {
    const cause = new TypeError("fetch failed", { cause: new Error(text) });
    const tell = (redactor: Redactor) => {
      const { reason, advice } = connectionError(cause, {
        operation: "create thread",
        route: {
          url: new URL(`https://${host}.test`),
          proxy: { origin: `http://${host}.test:3128` },
          redactor,
        },
      }).failure;
      return `${reason}. ${advice}`;
    };
    assert(tell(KEYLESS).includes(WORD), tell(KEYLESS));
    const shown = tell(new Redactor(WORD));
    assert(longestPiece(shown, WORD) < 12, shown);
  }
  const error = new Error(`Failed opening ${WORD}`);
  const { reason } = tlsSetupError(error, new Redactor(WORD)).failure;
  assert(longestPiece(reason, WORD) < 12, reason);
});
