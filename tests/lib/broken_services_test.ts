/** What users and operators read about a service that is not as docs/service.md says. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { runBridge } from "../../lib/bridge.ts";
import { RunReport } from "../../lib/check/run_report.ts";
import { ServiceError, type TurnEvent } from "../../lib/gateway.ts";
import { Conversation } from "../../lib/interactive/conversation.ts";
import { openView } from "../../lib/interactive/open_view.ts";
import { describeTerminal } from "../../lib/interactive/terminal.ts";
import { parseJsonLines } from "../support/json_lines.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  json,
  progress,
  redirect,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { type Answers, gatewayTo, startService } from "../support/turns.ts";
import { serviceId } from "../support/texts.ts";
import { takenAtOnce } from "../support/terminal_emulator.ts";
import { unchanged } from "../../lib/text.ts";

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

function answering(operation: Operation, ...behaviours: Behaviour[]): Answers {
  return { [operation]: behaviours };
}

const thread = (value: unknown) => answering("create thread", json(value));
const run = (value: unknown) => answering("create run", json(value));
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
  ["thread: a list", thread(["t"]), /answer \(status 200\) is not a JSON object/],
  ["thread: nothing", answering("create thread", answer(201)), /answer \(status 201\) is not a JSON object/],
  ["thread: HTML", answering("create thread", html), /answered 200 with a web page/],
  ["thread: a slash", answering("create thread", slash), /should answer without the trailing slash/],
  ["thread: a body is expected", answering("create thread", json(invalid, 422)), /answered 422: input: Field required/],
  ["run: another name", run({ id: "r" }), /contains no run_id, only: id/],
  ["run: an error with status 200", run({ success: false, error: "No quota" }), /contains no run_id: No quota/],
  ["run: null", run({ run_id: null }), /run_id in the answer must be a string, not null/],
  ["run: text", answering("create run", answer(200, "run-1")), /answer \(status 200\) is not a JSON object/],
  ["run: a slash", answering("create run", slash), /should answer without the trailing slash/],
  ["run: another body is expected", answering("create run", json(invalid, 422)), /answered 422: input: Field required/],
  ["stream: refused", answering("stream", json({ detail: "No" }, 403)), /rejected the API key \(403: No\)/],
  ["stream: a slash", answering("stream", slash), /should answer without the trailing slash/],
  ["stream: HTML", answering("stream", html), /answered 200 with a web page/],
  ["stream: compressed", stream("", { "content-encoding": "br" }), /stream is compressed.* Turn off compression/],
  ["stream: 204", answering("stream", answer(204)), /answered 204: it has nothing more to send/],
  ["stream: empty", stream(""), /ended without a reply\. /],
  ["stream: no complete", stream(write(EVENTS[0])), /ended without a reply\. /],
  ["stream: cut off", stream(write(EVENTS[0]) + 'data: {"event":"comp'), /1 data: line was no JSON object: {"event":"comp/],
  ["stream: a failed run", stream(write({ event: "error", message: "No quota" })), /The run failed: No quota/],
  ["stream: names in event:", eachAs(({ event, ...more }) => `event: ${event}\n${write(more)}`), /2 JSON objects had no "event": {"node":"plan",/],
  ["stream: names in type", eachAs(({ event, ...more }) => write({ type: event, ...more })), /2 JSON objects had no "event": {"type":"progress",/],
  ["stream: events in events", eachAs((data) => write({ data })), /2 JSON objects had no "event": {"data":{"event":"progress",/],
  ["stream: capital names", eachAs(({ event, ...more }) => write({ event: `${event}`.toUpperCase(), ...more })), /2 events were not known: "PROGRESS", "COMPLETE"/],
  ["stream: another name for complete", stream(write(EVENTS[0]) + write({ event: "completed" })), /without a reply: 1 event was not known: "completed"/],
  ["stream: JSON encoded twice", eachAs((event) => write(JSON.stringify(event))), /2 data: lines were encoded as JSON twice \(encode it once\): "{/],
  ["stream: JSON on several lines", eachAs(pretty), /2 events were split over several data: lines \(write it on one\): { "event": "progress"/],
  ["stream: JSON on several lines, and no blank line", stream(pretty(EVENTS[0]).trimEnd() + "\n"), /1 event was split over several data: lines/],
  ["stream: NaN", stream('data: {"event":"complete","score":NaN,"cost":-Infinity}\n\n'), /1 data: line had NaN or Infinity, which is not JSON \(write null\): {"event":"complete","score":NaN/],
  ["stream: Python's own form", eachAs(python), /2 data: lines were no JSON object: {'event':'progress'/],
  ["stream: lists", eachAs((event) => write([event])), /2 data: lines were no JSON object: \[{"event":"progress"/],
  ["stream: plain text", eachAs(({ event }) => `data: ${event}\n\n`), /2 data: lines were no JSON object: progress/],
  ["stream: lines that end with CR", stream(EVENTS.map(write).join("").replaceAll("\n", "\r")), /1 data: line was no JSON object: {"event":"progress".* data: {"event":"comp/],
  ["stream: no data:", eachAs((event) => `${JSON.stringify(event)}\n`), /2 lines had no "data:" before it: {"event":"progress"/],
  ["stream: Data:", eachAs((event) => write(event).replace("data", "Data")), /2 lines had no "data:" before it: Data: {"event":"progress"/],
  ["stream: one JSON object", stream(`${JSON.stringify(complete("Done."))}\n`), /the body was one JSON object without "data:" before it: {"event":"complete","instructorState":{"explanation":"Done."}}\. The run/],
  ["stream: a number as node", stream(write(progress(7 as never, "done"))), /1 progress event had no string as node or status: {"event":"progress","node":7/],
  ["reply: another field", completeWith({ output: "Done." }), /complete had no reply, but these fields: output/],
  ["reply: an object", completeWith({ instructorState: { explanation: { text: "Done." } } }), /these fields: instructorState/],
  ["reply: another role", completeWith({ messages: [user, { role: "bot", content: "Done." }] }), /1 message had no text that can be read: {"role":"bot","content":"Done."}/],
  ["reply: another field of a message", completeWith({ messages: [user, { role: "ai", speech: "Done." }] }), /had no text that can be read: {"role":"ai","speech":"Done."}/],
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

/** Runs a prompt as a script does. Returns both outputs. */
async function runScript(
  service: { readonly url: string },
  json: boolean,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  await using gateway = gatewayTo(service);
  let [stdout, stderr] = ["", ""];
  const data = { stdin: "data", stdout: "data", stderr: "data" } as const;
  const wishes = { color: "never", plain: false, quiet: true } as const;
  const view = await openView(describeTerminal(data, false, wishes), {
    readsPrompts: false,
    json,
    stdout: {
      write(bytes) {
        stdout += new TextDecoder().decode(bytes);
        return Promise.resolve();
      },
    },
    stderr: takenAtOnce((text) => stderr += text),
    keys: { onInterrupt() {}, onQuit() {}, onTyping() {}, onQueued() {} },
  });
  const { url: baseUrl } = service;
  const others = { maskedKey: "****", baseUrl };
  await new Conversation({ gateway, view, ...others }).runPrompts(["hello"]);
  return { stdout, stderr };
}

/** Runs a prompt as a client of the bridge does. Returns its notices and errors. */
async function runInBridge(service: { readonly url: string }): Promise<string> {
  await using gateway = gatewayTo(service);
  const told: string[] = [];
  let answered = Promise.withResolvers<void>();
  let isOpen = false;
  const stdin = async function* () {
    const capabilities = { session: { notices: {} } };
    const requests = [
      ["initialize", { protocolVersion: 1, clientCapabilities: capabilities }],
      ["session/new", {}],
      ["session/prompt", { sessionId: "t", prompt: "hello" }],
    ] as const;
    for (const [index, [method, params]] of requests.entries()) {
      if (method === "session/prompt" && !isOpen) return;
      answered = Promise.withResolvers();
      const line = JSON.stringify({ id: index, method, params });
      yield new TextEncoder().encode(`${line}\n`);
      await answered.promise;
    }
  };
  const read = (line: string) => {
    const { id, error, result, params } = JSON.parse(line);
    if (error !== undefined) told.push(error.message);
    if (
      params?.update.sessionUpdate === "notice" &&
      params.update.severity === "warning"
    ) told.push(params.update.title);
    if (result?.sessionId !== undefined) isOpen = true;
    if (id !== undefined) answered.resolve();
  };
  const stdout = {
    write(bytes: Uint8Array) {
      new TextDecoder().decode(bytes).trimEnd().split("\n").forEach(read);
      return Promise.resolve();
    },
  };
  await runBridge({ stdin: stdin(), stdout, gateway });
  return told.join("\n");
}

/** What the check says about the run, or why there is none. */
async function checkRun(service: { readonly url: string }): Promise<string> {
  await using gateway = gatewayTo(service);
  const report = new RunReport();
  const events: TurnEvent[] = [];
  let failure: ServiceError | undefined;
  try {
    await Array.fromAsync(gateway.createThread());
    for await (
      const event of gateway.runTurn(serviceId("t"), unchanged("hello"))
    ) {
      events.push(event);
      report.add(event);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    failure = error;
  }
  if (events.length === 0) return failure?.message ?? "";
  return report.lines(failure)
    .filter(({ state }) => state === "note" || state === "failed")
    .map(({ text }) => text).join("\n");
}

for (const [what, answers, words, remark = /^$/] of SERVICES) {
  const expected = words === undefined ? "let pass" : `named: ${words.source}`;
  Deno.test(`${what}: ${expected}`, async () => {
    await using service = startService(answers);
    const plain = await runScript(service, false);
    const lines = await runScript(service, true);
    const last = parseJsonLines(lines.stdout).at(-1);
    const inJson = `${last?.message ?? last?.note ?? ""}`;
    const inBridge = await runInBridge(service);
    const checked = await checkRun(service);

    assertEquals(lines.stderr, "");
    if (words === undefined) {
      assertEquals([plain.stderr, inJson, inBridge], ["", "", ""]);
      assertMatch(checked, remark);
      return;
    }
    const told = [plain.stderr, inJson, inBridge, checked];
    for (const text of told) assertMatch(text, words);
    assert(plain.stderr.trimEnd().indexOf("\n") < 0, plain.stderr);
  });
}
