import { assertEquals, assertMatch } from "@std/assert";
import { runClient, settings } from "../support/client_process.ts";
import { FaultyService } from "../support/faulty_service/service.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  delayed,
  hang,
  json,
  progress,
  redirect,
} from "../support/service/behaviours.ts";
import type { Operation } from "../support/service/exchange.ts";
import { ReferenceService } from "../support/service/service.ts";

type Service = Partial<Record<Operation, Behaviour>>;
type Value = Readonly<Record<string, unknown>>;
type Encode = (value: Value, index: number) => string;

const steps = [progress("plan", ""), progress("write", "")];
const done = complete("Done.");
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const withId: Encode = (value, index) => `id: ${index}\n${data(value)}`;
const sse = { "content-type": "text/event-stream" };

/** A stream, and the answer to requests for what comes after an event of it. */
function stream(text: string, resumed?: Behaviour, chunkSize = 1e6): Service {
  let requests = 0;
  return {
    stream: (request, context) => {
      const id = request.headers.get("last-event-id");
      const rest = text.slice(text.indexOf("\n\n", text.indexOf(`id: ${id}`)));
      if (requests++ === 0) return body([text], { headers: sse, chunkSize })();
      return (resumed ?? body([rest], { headers: sse }))(request, context);
    },
  };
}

/** A stream of two steps and this end, each written in this way. */
function run(
  encode: Encode,
  end = done,
  resumed: Behaviour | undefined = undefined,
): Service {
  const text = [...steps, end].map((value, index) => encode(value, index + 1));
  return stream(text.join(""), resumed);
}

const all = [...steps, done].map((value, i) => withId(value, i + 1)).join("");
const gone = answer(204);
// Deno 2.6 decodes gzip by itself.
const zstd = { ...sse, "content-encoding": "zstd" };
const html = answer(200, "<!doctype html>", { "content-type": "text/html" });
const slash: Behaviour = ({ path }) => redirect(`${path}/`, 307)();
const withStatus = (status: number): Behaviour => async (_, { normal }) => {
  const { ok, status: old, body, headers } = await normal();
  return new Response(body, { status: ok ? status : old, headers });
};
const once = (first: Behaviour): Behaviour => {
  let requests = 0;
  return (request, context) =>
    requests++ === 0 ? first(request, context) : context.normal();
};
const later = (behaviour: Behaviour): Behaviour => {
  let requests = 0;
  return (request, context) =>
    requests++ === 0 ? context.normal() : behaviour(request, context);
};
const unread = { event: "complete", messages: [{ speech: "Hi" }] };
const pretty: Encode = (value) =>
  JSON.stringify(value, null, 1).replace(/^/gm, "data: ") + "\n\n";

/** Passes requests on, and answers as HTTP/1.0 does: the end of the connection ends the body. */
function startHttp10(url: string): Promise<FaultyService> {
  return FaultyService.start(async (connection) => {
    const request = await connection.read();
    if (request === undefined) return;
    const { head, body } = request;
    const [method = "", path = ""] = head.split(" ");
    const fields = Array.from(head.matchAll(/^([\w-]+): (.*)\r$/gm))
      .map(([, name = "", value = ""]) => [name, value]);
    const answer = await fetch(url + path, {
      ...{ method, headers: fields },
      ...body !== "" && { body },
    });
    const type = answer.headers.get("content-type");
    await connection.write(
      `HTTP/1.0 ${answer.status} OK\r\ncontent-type: ${type}\r\n\r\n`,
    );
    for await (const bytes of answer.body ?? []) await connection.write(bytes);
  });
}

const HTTP_1_0 = "HTTP/1.0 without a length";

/** The services, the lines that complain about them, and what one of these says. */
// deno-fmt-ignore: a table, one service a line
const SERVICES: Readonly<
  Record<string, readonly [service: Service, lines?: string, says?: RegExp]>
> = {
  "the shortest run": [stream(data(done))],
  "ids that are words": [run((value, i) => `id: step-${i}-\n${data(value)}`)],
  "messages": [run(withId, { event: "complete", messages: ["Hi"] })],
  "a reply of 1 MB": [run(withId, complete("x".repeat(1e6)))],
  "CRLF and a BOM": [stream(`\uFEFF${all}`.replaceAll("\n", "\r\n"), body([all], { headers: sse }))],
  "fields event:": [run((value, i) => `event: ${value.event}\n${withId(value, i)}`)],
  "bytes cut anywhere": [stream(all, undefined, 1)],
  "comments": [stream(`: working\n\n${all}`)],
  [HTTP_1_0]: [run(withId)],
  "201 and 202": [{ "create thread": withStatus(201), "create run": withStatus(202) }],
  "events all at the end": [{ stream: once(delayed(2_100, body([all], { headers: sse }))) }, "note live", /flush after each event/],
  "compressed": [{ stream: answer(200, all, zstd) }, "failed stream", /compress/],
  "no ids": [run(data), "note ids", /none/],
  "empty ids": [run((value) => `id:\n${data(value)}`), "note ids", /none/],
  "ids that repeat": [run((value) => withId(value, 1), done, body([all])), "note ids", /repeat/],
  "forgets at the end, 404": [stream(all, answer(404)), "note resume", /404; keep/],
  "forgets at the end, 204": [stream(all, gone), "note resume", /204; keep/],
  "forgets at the end, silent": [stream(all, hang()), "note resume", /timed out; keep/],
  "forgets at the end, empty": [stream(all, body([])), "note resume", /ended without/],
  "no reply": [run(withId, { event: "complete" }), "note reply", /none found/],
  "messages that cannot be read": [run(withId, unread), "failed reply", /no text/],
  "a warning of PHP": [stream(`<br />\n<b>Warning</b>: x\n${all}`), "note lines", /ignored: 2; the first: <br/],
  "HTML as the stream": [{ stream: html }, "failed stream", /web page/],
  "HTML as the thread": [{ "create thread": html }, "failed thread", /web page/],
  "ends early": [stream(all.slice(0, all.indexOf("id: 3")), gone), "failed end", /204/],
  "cut and resumed": [{ stream: once(body([all.slice(0, 60), all.slice(60, 120)], { headers: sse, end: "break" })) }, "note end", /cuts in its stream: 1, resumed/],
  "a run that fails": [run(withId, { event: "error", message: "No" }), "failed end", /The run failed: No/],
  "a wrong key": [{ "create thread": later(json({ thread_id: "t" })) }, "failed wrong key", /creates threads; answer 401/],
  "a wrong key, 500": [{ "create thread": later(answer(500)) }, "note wrong key", /gets 500; answer 401/],
  "names in event:": [run(({ event, ...value }, i) => `event: ${event}\n${withId(value, i)}`, done, gone), "failed events, failed end", /named outside of their JSON: send/],
  "JSON encoded twice": [run((value) => data(JSON.stringify(value)), done, gone), "failed events, failed end", /JSON encoded twice: send each/],
  "JSON over several lines": [run(pretty, done, gone), "failed events, failed end", /JSON over several lines: send/],
  "no data:": [run((value) => `${JSON.stringify(value)}\n\n`, done, gone), "failed events, failed end", /are without data: send/],
  "other names": [run((value, i) => withId({ ...value, event: "step" }, i), done, gone), "failed events, failed end", /3 unknown; send each/],
  "capital names": [run((value, i) => withId({ ...value, event: String(value.event).toUpperCase() }, i), done, gone), "failed events, failed end", /3 unknown; send each/],
  "a stream refused": [{ stream: answer(403) }, "failed stream", /403/],
  "id of a thread": [{ "create thread": json({ id: "t" }) }, "failed thread", /no thread_id/],
  "id of a run": [{ "create run": json({ id: "r" }) }, "failed run", /no run_id/],
  "a slash, thread": [{ "create thread": slash }, "failed thread", /without the trailing slash/],
  "a slash, run": [{ "create run": slash }, "failed run", /without the trailing slash/],
  "a slash, stream": [{ stream: slash }, "failed stream", /without the trailing slash/],
  "text for JSON": [{ "create run": answer(200, "run-1") }, "failed run", /not a JSON object/],
  "another type": [{ stream: answer(200, all, { "content-type": "text/plain" }) }, "note stream", /answer with Content-Type/],
};

for (
  const [what, [behaviours, lines = "", says = /^/]] of Object.entries(SERVICES)
) {
  Deno.test(`--check -p of a service: ${what}: ${lines || "no complaint"}`, async () => {
    await using service = ReferenceService.start({ ids: true });
    for (const [operation, behaviour] of Object.entries(behaviours)) {
      service.misbehave(operation as Operation, behaviour, Infinity);
    }
    await using front = await startHttp10(service.url);
    const { code, stdout } = await runClient({
      args: ["--check", "-p", "hello"],
      env: settings(what === HTTP_1_0 ? front : service),
    });
    const complaints = stdout.match(/^(?:failed|note) .*/gm) ?? [];
    const names = complaints.map((line) =>
      /^(\S+ +\S+(?: key)?)/.exec(line)?.[1]?.replace(/ +/, " ")
    );
    assertEquals(names.join(", "), lines, stdout);
    assertMatch(complaints[0] ?? "", says);
    assertEquals(code, lines.includes("failed") ? 1 : 0);
  });
}
