/** What users and operators read about a service that is not as docs/service.md says. */
import { assertMatch, assertStringIncludes } from "@std/assert";
import { clientIn } from "../../lib/bridge/capabilities.ts";
import { toRpcError } from "../../lib/bridge/service_failure.ts";
import { updatesFor } from "../../lib/bridge/session_updates.ts";
import { RunReport } from "../../lib/check/run_report.ts";
import type { TurnEvent } from "../../lib/gateway.ts";
import { answer, complete, progress } from "../support/service/behaviours.ts";
import { testRows } from "../support/tables.ts";
import { type Answers, takeTurn } from "../support/turns.ts";

const PROGRESS = JSON.stringify(progress("plan", "done"));
const COMPLETE = JSON.stringify(complete("Done."));

/** What a client of the bridge that takes notices shows beside the reply. */
function noticesOf(event: TurnEvent): readonly unknown[] {
  const capabilities = { session: { notices: {} } };
  const client = clientIn({ clientCapabilities: capabilities });
  return updatesFor(event, { thoughts: "t", reply: "r" }, client)
    .filter(({ sessionUpdate }) => sessionUpdate === "notice")
    .map(({ title }) => title);
}

/** Runs a prompt, and asserts what everybody reads, or the check alone. */
async function assertNamed(
  answers: Answers,
  words: string,
  checked = "",
): Promise<void> {
  const events: TurnEvent[] = [];
  const report = new RunReport();
  const { error } = await takeTurn(answers, {}, (event) => {
    if (event.type === "thread") return;
    events.push(event);
    report.add(event);
  });
  const [said = error?.message ?? ""] = events.flatMap((event) =>
    event.type === "reply" ? event.note ?? [] : []
  );
  const [inBridge = ""] = error === undefined
    ? events.flatMap(noticesOf)
    : [toRpcError(error, "session/prompt").message];
  const inCheck = events.length === 0 ? said : report.lines(error)
    .filter(({ state }) => state === "note" || state === "failed")
    .map(({ text }) => text).join("\n");
  const read = [
    [said, words],
    [`${inBridge}`, words],
    [inCheck, words || checked],
  ] as const;
  for (const [text, part] of read) {
    assertStringIncludes(text, part);
    assertMatch(text, part === "" ? /^$/ : /^.+$/);
  }
}

testRows(
  '{what}: "{words}"',
  "what | operation | status | headers | text | words",
  `
another name than thread_id | create thread | 200 | {} | {"threadId":"t"} | contains no thread_id, only: threadId. The service should answer {"thread_id":"..."}
HTML in place of a thread | create thread | 200 | {} | <!doctype html> | answered 200 with a web page
a slash after /threads | create thread | 307 | {"location":"/threads/"} | | should answer without the trailing slash
a thread with a body | create thread | 422 | {} | {"detail":[{"loc":["body","input"],"msg":"Field required"}]} | answered 422: input: Field required
another name than run_id | create run | 200 | {} | {"id":"r"} | contains no run_id, only: id
a stream that is refused | stream | 403 | {} | {"detail":"No"} | rejected the API key (403: No)
HTML in place of a stream | stream | 200 | {"content-type":"text/html"} | <!doctype html> | answered 200 with a web page
a compressed stream | stream | 200 | {"content-encoding":"br"} | | stream is compressed
no stream | stream | 204 | {} | | answered 204: it has nothing more to send
text/plain | stream | 200 | {"content-type":"text/plain"} | data: COMPLETE |
a wrong Content-Encoding | stream | 200 | {"content-encoding":"none"} | data: COMPLETE |
`,
  async ({ operation, status, words, ...row }) => {
    const text = row.text.replace("COMPLETE", COMPLETE);
    const response = answer(Number(status), text, JSON.parse(row.headers));
    await assertNamed({ [operation]: [response] }, words);
  },
);

// Streams, `/` between their lines, and what everybody reads, or the check alone.
testRows(
  'a stream with {what}: "{words}{checked}"',
  "what | lines | words | checked",
  String.raw`
an empty stream | | ended without a reply. |
no complete | data: PROGRESS// | ended without a reply. |
a line that is cut | data: PROGRESS//data: {"event":"comp | 1 data: line was no JSON object: {"event":"comp |
a failed run | data: {"event":"error","message":"No quota"}// | The run failed: No quota |
names in event: | event: progress/data: {"node":"plan"}//event: complete/data: {"messages":["Done."]}// | 2 JSON objects had no "event", the first: {"node":"plan"} |
names in type | data: {"type":"progress"}//data: {"type":"complete","messages":["Done."]}// | 2 JSON objects had no "event", the first: {"type":"progress"} |
capital names | data: {"event":"Progress"}//data: {"event":"Complete"}// | 2 events were not known: "Progress", "Complete" |
another name for complete | data: PROGRESS//data: {"event":"completed"}// | without a reply: 1 event was not known: "completed" |
JSON encoded twice | data: "{\"event\":\"progress\"}"//data: "{\"event\":\"complete\"}"// | 2 data: lines were encoded as JSON twice (encode it once), the first: "{ |
JSON on several lines | data: {/data:  "event": "progress"/data: }//data: {/data:  "event": "complete"/data: }// | 2 events were split over several data: lines (write it on one), the first: { "event": "progress" |
JSON on several lines, and no blank line | data: {/data:  "event": "complete"/data: } | 1 event was split over several data: lines |
NaN | data: {"event":"complete","score":NaN,"cost":-Infinity}// | 1 data: line had NaN or Infinity, which is not JSON (write null): {"event":"complete","score":NaN |
Python's own form | data: {'event':'progress'}//data: {'event':'complete'}// | 2 data: lines were no JSON object, the first: {'event':'progress' |
lists | data: [PROGRESS]//data: [COMPLETE]// | 2 data: lines were no JSON object, the first: [{"event":"progress" |
plain text | data: progress//data: complete// | 2 data: lines were no JSON object, the first: progress |
lines that end with CR | data: PROGRESSCRCRdata: COMPLETECRCR | 1 data: line was no JSON object: {"event":"progress","node":"plan","status":"done"} data: {"event":"comp |
no data: | PROGRESS/COMPLETE/ | 2 lines had no "data:" before them, the first: {"event":"progress" |
Data: | Data: PROGRESS//Data: COMPLETE// | 2 lines had no "data:" before them, the first: Data: {"event":"progress" |
one JSON object | COMPLETE/ | the body was one JSON object without "data:" before it: {"event":"complete","instructorState":{"explanation":"Done."}}. The run |
a number as node | data: {"event":"progress","node":7,"status":""}// | 1 progress event had no string as node or status: {"event":"progress","node":7 |
a reply in another field | data: PROGRESS//data: {"event":"complete","output":"Done."}// | complete had no reply, but these fields: output |
an object as reply | data: {"event":"complete","instructorState":{"explanation":{"text":"Done."}}}// | these fields: instructorState |
another role | data: {"event":"complete","messages":[{"role":"user"},{"role":"bot","content":"Done."}]}// | 1 message had no text that can be read: {"role":"bot","content":"Done."} |
thoughts | data: {"event":"complete","messages":[{"role":"ai","content":[{"type":"thinking","thinking":"?"}]}]}// | had no text that can be read: |
no reply, and unknown events | data: {"event":"token"}//data: {"event":"complete"}// | 1 event was not known: "token" |
no reply | data: {"event":"complete","messages":[{"role":"ai","content":""}]}// | | no reply found
other events, and a reply | data: {"event":"token"}//data: [DONE]//data: COMPLETE// | | 1 event was not known: "token"; 1 data: line was no JSON object: [DONE]; see
numbers as node, and a reply | data: {"event":"progress","node":7}//data: COMPLETE// | | 1 progress event had no string as node or status:
fields event: | event: progress/data: PROGRESS//event: complete/data: COMPLETE// | |
empty data: lines | data://data: PROGRESS//data://data: COMPLETE// | |
comments and ids | : working//id: a/data: PROGRESS//: working//id: b/data: COMPLETE// | |
CRLF, a BOM and no space | BOMdata:PROGRESSCR/CR/data:COMPLETECR/CR/ | |
no blank lines | data: PROGRESS/data: COMPLETE/ | |
`,
  async ({ lines, words, checked }) => {
    const text = lines.replaceAll("PROGRESS", PROGRESS)
      .replaceAll("COMPLETE", COMPLETE).replaceAll("/", "\n")
      .replaceAll("CR", "\r").replace("BOM", "\ufeff");
    const type = { "content-type": "text/event-stream" };
    await assertNamed({ stream: [answer(200, text, type)] }, words, checked);
  },
);
