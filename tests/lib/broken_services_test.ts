/** What users and operators read about a service that is not as docs/service.md says. */
import { assertEquals, assertMatch } from "@std/assert";
import { clientIn } from "../../lib/bridge/capabilities.ts";
import { toRpcError } from "../../lib/bridge/service_failure.ts";
import { updatesFor } from "../../lib/bridge/session_updates.ts";
import { RunReport } from "../../lib/check/run_report.ts";
import type { TurnEvent } from "../../lib/gateway.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  json,
  progress,
  redirect,
} from "../support/service/behaviours.ts";
import { type Answers, takeTurn } from "../support/turns.ts";

const EVENTS = [progress("plan", "done"), complete("Done.")];
const write = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const html = answer(200, "<!doctype html>", { "content-type": "text/html" });
const slash: Behaviour = ({ path }) => redirect(`${path}/`, 307)();

/** A service whose stream has these lines. */
function stream(text: string, headers = {}): Answers {
  const type = { "content-type": "text/event-stream", ...headers };
  return { stream: [body([text], { headers: type })] };
}

/** A service that writes its events like this. */
function eachAs(encode: (event: Readonly<Record<string, unknown>>) => string) {
  return stream(EVENTS.map(encode).join(""));
}

/** A service whose `complete` event has these fields. */
function completeWith(fields: object): Answers {
  return stream(write(EVENTS[0]) + write({ event: "complete", ...fields }));
}

const creating = (answer: Behaviour): Answers => ({
  "create thread": [answer],
});
const starting = (answer: Behaviour): Answers => ({ "create run": [answer] });
const streaming = (answer: Behaviour): Answers => ({ stream: [answer] });
const thread = (value: unknown) => creating(json(value));
const run = (value: unknown) => starting(json(value));
const invalid = {
  detail: [{ loc: ["body", "input"], msg: "Field required" }],
};
const user = { role: "user", content: "hello" };
const pretty = (event: unknown) =>
  JSON.stringify(event, null, 1).replace(/^/gm, "data: ") + "\n\n";
const python = (event: unknown) => write(event).replaceAll('"', "'");

/**
 * What a service does, and what everybody reads about it; nothing if it is let pass, and
 * what the check says then.
 */
// deno-fmt-ignore: a table, one service a line
const SERVICES: readonly (readonly [what: string, service: Answers, words?: RegExp | undefined, checked?: RegExp])[] = [
  ["thread: another name", thread({ threadId: "t" }), /contains no thread_id, only: threadId\. The service should answer {"thread_id":"\.\.\."}/],
  ["thread: a number", thread({ thread_id: 7 }), /thread_id in the answer must be a string, not number/],
  ["thread: nothing", creating(answer(201)), /answer \(status 201\) is not a JSON object/],
  ["thread: HTML", creating(html), /answered 200 with a web page/],
  ["thread: a slash", creating(slash), /should answer without the trailing slash/],
  ["thread: a body is expected", creating(json(invalid, 422)), /answered 422: input: Field required/],
  ["run: another name", run({ id: "r" }), /contains no run_id, only: id/],
  ["run: an error with status 200", run({ success: false, error: "No quota" }), /contains no run_id\. The service said: No quota\. /],
  ["stream: refused", streaming(json({ detail: "No" }, 403)), /rejected the API key \(403: No\)/],
  ["stream: a slash", streaming(slash), /should answer without the trailing slash/],
  ["stream: HTML", streaming(html), /answered 200 with a web page/],
  ["stream: compressed", stream("", { "content-encoding": "br" }), /stream is compressed.* Turn off compression/],
  ["stream: 204", streaming(answer(204)), /answered 204: it has nothing more to send/],
  ["stream: empty", stream(""), /ended without a reply\. /],
  ["stream: no complete", stream(write(EVENTS[0])), /ended without a reply\. /],
  ["stream: cut off", stream(write(EVENTS[0]) + 'data: {"event":"comp'), /1 data: line was no JSON object: {"event":"comp/],
  ["stream: a failed run", stream(write({ event: "error", message: "No quota" })), /The run failed: No quota/],
  ["stream: names in event:", eachAs(({ event, ...more }) => `event: ${event}\n${write(more)}`), /2 JSON objects had no "event", the first: {"node":"plan",/],
  ["stream: names in type", eachAs(({ event, ...more }) => write({ type: event, ...more })), /2 JSON objects had no "event", the first: {"type":"progress",/],
  ["stream: capital names", eachAs(({ event, ...more }) => write({ event: `${event}`.toUpperCase(), ...more })), /2 events were not known: "PROGRESS", "COMPLETE"/],
  ["stream: another name for complete", stream(write(EVENTS[0]) + write({ event: "completed" })), /without a reply: 1 event was not known: "completed"/],
  ["stream: JSON encoded twice", eachAs((event) => write(JSON.stringify(event))), /2 data: lines were encoded as JSON twice \(encode it once\), the first: "{/],
  ["stream: JSON on several lines", eachAs(pretty), /2 events were split over several data: lines \(write it on one\), the first: { "event": "progress"/],
  ["stream: JSON on several lines, and no blank line", stream(pretty(EVENTS[0]).trimEnd() + "\n"), /1 event was split over several data: lines/],
  ["stream: NaN", stream('data: {"event":"complete","score":NaN,"cost":-Infinity}\n\n'), /1 data: line had NaN or Infinity, which is not JSON \(write null\): {"event":"complete","score":NaN/],
  ["stream: Python's own form", eachAs(python), /2 data: lines were no JSON object, the first: {'event':'progress'/],
  ["stream: lists", eachAs((event) => write([event])), /2 data: lines were no JSON object, the first: \[{"event":"progress"/],
  ["stream: plain text", eachAs(({ event }) => `data: ${event}\n\n`), /2 data: lines were no JSON object, the first: progress/],
  ["stream: lines that end with CR", stream(EVENTS.map(write).join("").replaceAll("\n", "\r")), /1 data: line was no JSON object: {"event":"progress".* data: {"event":"comp/],
  ["stream: no data:", eachAs((event) => `${JSON.stringify(event)}\n`), /2 lines had no "data:" before them, the first: {"event":"progress"/],
  ["stream: Data:", eachAs((event) => write(event).replace("data", "Data")), /2 lines had no "data:" before them, the first: Data: {"event":"progress"/],
  ["stream: one JSON object", stream(`${JSON.stringify(complete("Done."))}\n`), /the body was one JSON object without "data:" before it: {"event":"complete","instructorState":{"explanation":"Done."}}\. The run/],
  ["stream: a number as node", stream(write(progress(7 as never, "done"))), /1 progress event had no string as node or status: {"event":"progress","node":7/],
  ["reply: another field", completeWith({ output: "Done." }), /complete had no reply, but these fields: output/],
  ["reply: an object", completeWith({ instructorState: { explanation: { text: "Done." } } }), /these fields: instructorState/],
  ["reply: another role", completeWith({ messages: [user, { role: "bot", content: "Done." }] }), /1 message had no text that can be read: {"role":"bot","content":"Done."}/],
  ["reply: thoughts", completeWith({ messages: [user, { role: "ai", content: [{ type: "thinking", thinking: "?" }] }] }), /had no text that can be read: /],
  ["reply: none, and unknown events", stream(write({ event: "token" }) + write({ event: "complete" })), /1 event was not known: "token"/],
  ["reply: none", completeWith({ messages: [user, { role: "ai", content: "" }] }), undefined, /^no reply found/],
  ["other events, and a reply", stream(write({ event: "token" }) + "data: [DONE]\n\n" + EVENTS.map(write).join("")), undefined, /1 event was not known: "token"; 1 data: line was no JSON object: \[DONE\]; see/],
  ["numbers as node, and a reply", stream(write(progress(7 as never, "done")) + write(EVENTS[1])), undefined, /1 progress event had no string as node or status: /],
  ["fields event:", eachAs((event) => `event: ${event.event}\n${write(event)}`)],
  ["empty data: lines", eachAs((event) => `data:\n\n${write(event)}`)],
  ["comments and ids", eachAs((event) => `: working\n\nid: step-${event.event}\n${write(event)}`)],
  ["text/plain", stream(EVENTS.map(write).join(""), { "content-type": "text/plain" })],
  ["a wrong Content-Encoding", stream(EVENTS.map(write).join(""), { "content-encoding": "none" })],
  ["CRLF, a BOM and no space", stream(`\ufeff${EVENTS.map(write).join("").replaceAll("\n", "\r\n").replaceAll("data: ", "data:")}`)],
  ["no blank lines", eachAs((event) => write(event).trimEnd() + "\n")],
];

/** What a client of the bridge that takes notices shows beside the reply. */
function noticesOf(event: TurnEvent): readonly unknown[] {
  const capabilities = { session: { notices: {} } };
  const client = clientIn({ clientCapabilities: capabilities });
  return updatesFor(event, { thoughts: "t", reply: "r" }, client)
    .filter(({ sessionUpdate }) => sessionUpdate === "notice")
    .map(({ title }) => title);
}

for (const [what, answers, words, remark = /^$/] of SERVICES) {
  const expected = words === undefined ? "let pass" : `named: ${words.source}`;
  Deno.test(`${what}: ${expected}`, async () => {
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
    const checked = events.length === 0 ? said : report.lines(error)
      .filter(({ state }) => state === "note" || state === "failed")
      .map(({ text }) => text).join("\n");

    if (words === undefined) {
      assertEquals([said, inBridge], ["", ""]);
      assertMatch(checked, remark);
      return;
    }
    for (const text of [said, inBridge, checked]) {
      assertMatch(`${text}`, words);
      assertMatch(`${text}`, /^.+$/);
    }
  });
}
