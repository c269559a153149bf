import { assert, assertEquals, assertMatch } from "@std/assert";
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
import { missing } from "../support/real_service.ts";
import type { Operation } from "../support/service/exchange.ts";
import { ReferenceService } from "../support/service/service.ts";
import { NAMED_BY, untrue } from "../support/service_commands.ts";

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
  return {
    stream: (request, context) => {
      const id = request.headers.get("last-event-id");
      if (id === null) return body([text], { headers: sse, chunkSize })();
      if (resumed !== undefined) return resumed(request, context);
      const end = text.indexOf("\n\n", text.indexOf(`id: ${id}`));
      return body([text.slice(end)], { headers: sse })();
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

/** Services that the check has nothing to note about. */
// deno-fmt-ignore: a table, one service a line
const SOUND: Readonly<Record<string, Service>> = {
  "the shortest run": stream(data(done)),
  "ids that are words": run((value, i) => `id: step-${i}-\n${data(value)}`),
  "messages": run(withId, { event: "complete", messages: ["Hi"] }),
  "a reply of 1 MB": run(withId, complete("x".repeat(1e6))),
  "CRLF and a BOM": stream(`\uFEFF${all}`.replaceAll("\n", "\r\n"), body([all], { headers: sse })),
  "fields event:": run((value, i) => `event: ${value.event}\n${withId(value, i)}`),
  "bytes cut anywhere": stream(all, undefined, 1),
  "comments": stream(`: working\n\n${all}`),
  [HTTP_1_0]: run(withId),
  "201 and 202": { "create thread": withStatus(201), "create run": withStatus(202) },
};

/** What is wrong, as the table of the page says it; services; what the line says. */
// deno-fmt-ignore: a table, one service a line
const BROKEN: readonly (readonly [wrong: string, what: string, service: Service, says?: RegExp])[] = [
  ["No `thread_id` is found", "HTML", { "create thread": html }, /web page/],
  ["No `thread_id` is found", "id", { "create thread": json({ id: "t" }) }, /no thread_id, only: id/],
  ["No `thread_id` is found", "a slash", { "create thread": slash }, /without the trailing slash/],
  ["A wrong key creates threads", "", { "create thread": later(json({ thread_id: "t" })) }, /creates threads; answer 401/],
  ["A wrong key is refused with another status", "500", { "create thread": later(answer(500)) }, /gets 500; answer 401/],
  ["A wrong key is refused with another status", "200", { "create thread": later(json({ error: "no" })) }, /gets 200; answer 401/],
  ["A wrong key is refused with another status", "429", { "create thread": later(answer(429)) }, /gets 429; answer 401/],
  ["No `run_id` is found", "id", { "create run": json({ id: "r" }) }, /no run_id, only: id/],
  ["No `run_id` is found", "a slash", { "create run": slash }, /without the trailing slash/],
  ["No `run_id` is found", "text for JSON", { "create run": answer(200, "run-1") }, /not a JSON object/],
  ["The stream is refused, compressed, HTML, redirected", "refused", { stream: answer(403) }, /403/],
  ["The stream is refused, compressed, HTML, redirected", "compressed", { stream: answer(200, all, zstd) }, /compress/],
  ["The stream is refused, compressed, HTML, redirected", "HTML", { stream: html }, /web page/],
  ["The stream is refused, compressed, HTML, redirected", "a slash", { stream: slash }, /without the trailing slash/],
  ["No event is known", "names in event:", run(({ event, ...value }, i) => `event: ${event}\n${withId(value, i)}`, done, gone), /3 JSON objects had no "event"/],
  ["No event is known", "other names", run((value, i) => withId({ ...value, event: "step" }, i), done, gone), /3 events were not known: "step"/],
  ["No event is known", "capital names", run((value, i) => withId({ ...value, event: String(value.event).toUpperCase() }, i), done, gone), /not known: "PROGRESS", "COMPLETE"/],
  ["No event is known", "JSON encoded twice", run((value) => data(JSON.stringify(value)), done, gone), /3 data: lines were encoded as JSON twice/],
  ["No event is known", "JSON over several lines", run(pretty, done, gone), /3 events were split over several data: lines/],
  ["No event is known", "no data:", run((value) => `${JSON.stringify(value)}\n\n`, done, gone), /3 lines had no "data:" before it/],
  ["The run fails, or its stream ends too early", "ends early", stream(all.slice(0, all.indexOf("id: 3")), gone), /204/],
  ["The run fails, or its stream ends too early", "fails", run(withId, { event: "error", message: "No" }), /The run failed: No/],
  ["All events come at the end", "", { stream: once(delayed(2_100, body([all], { headers: sse }))) }, /the service \(flush after each event\), or by a reverse proxy/],
  ["The stream is cut, and resumed", "", { stream: once(body([all.slice(0, 60), all.slice(60, 120)], { headers: sse, end: "break" })) }, /interrupted \(1, first: connection lost\)/],
  ["There is no reply, or its messages cannot be read", "no reply", run(withId, { event: "complete" }), /no reply found/],
  ["There is no reply, or its messages cannot be read", "messages", run(withId, unread), /had no text that can be read: \{"speech":"Hi"\}, so users see/],
  ["Another content type", "", { stream: answer(200, all, { "content-type": "text/plain" }) }],
  ["No ids, or ids that repeat", "none", run(data)],
  ["No ids, or ids that repeat", "empty", run((value) => `id:\n${data(value)}`)],
  ["No ids, or ids that repeat", "repeated", run((value) => withId(value, 1), done, body([all]))],
  ["The end of the run cannot be asked for again", "404", stream(all, answer(404))],
  ["The end of the run cannot be asked for again", "204", stream(all, gone)],
  ["The end of the run cannot be asked for again", "silent", stream(all, hang())],
  ["The end of the run cannot be asked for again", "empty", stream(all, body([]))],
  ["Events with other names", "", stream(data({ event: "step" }) + all)],
  ["Other lines, for example a warning of PHP", "", stream(`<br />\n<b>Warning</b>: x\n${all}`)],
];

/** Runs the check of a service. Returns its exit code, and what it complains about. */
async function check(service: { readonly url: string }) {
  const { code, stdout } = await runClient({
    args: ["--check", "-p", "hello"],
    env: settings(service),
  });
  const complaints = stdout.match(/^(?:failed|note) .*/gm) ?? [];
  const names = complaints.map((line) =>
    /^(\S+ +\S+(?: key)?)/.exec(line)?.[1]?.replace(/ +/, " ")
  );
  return { code, names: names.join(", "), complaints, stdout };
}

function start(behaviours: Service): ReferenceService {
  const service = ReferenceService.start({ ids: true });
  for (const [operation, behaviour] of Object.entries(behaviours)) {
    service.misbehave(operation as Operation, behaviour, Infinity);
  }
  return service;
}

for (const [what, behaviours] of Object.entries(SOUND)) {
  Deno.test(`--check -p has no complaint about a service: ${what}`, async () => {
    await using service = start(behaviours);
    await using front = await startHttp10(service.url);
    const { code, names, stdout } = await check(
      what === HTTP_1_0 ? front : service,
    );
    assertEquals([code, names], [0, ""], stdout);
  });
}

const COMMENTS = "No comments"; // see service_examples_test.ts

Deno.test("the table of docs/service.md has the services that are tried here", () => {
  const rows = new Set(BROKEN.map(([wrong]) => wrong));
  assertEquals([...rows, COMMENTS].sort(), [...NAMED_BY.keys()].sort());
});

for (const [wrong, what, behaviours, says = /^/] of BROKEN) {
  const by = NAMED_BY.get(wrong) ?? "nothing";
  const name = `a broken service: ${wrong}: ${what}: named by ${by}`;
  if (/^(?:failed|note) /.test(by)) {
    Deno.test(`--check -p of ${name}`, async () => {
      await using service = start(behaviours);
      const { code, names, complaints, stdout } = await check(service);
      assertEquals(names, by, stdout);
      assertMatch(complaints[0] ?? "", says);
      assertEquals(code, by.startsWith("failed") ? 1 : 0);
    });
  } else {
    Deno.test({
      name: `curl and jq, not --check -p, of ${name}`,
      ignore: missing("example in js") !== undefined,
      async fn() {
        await using service = start(behaviours);
        const { code, names, stdout } = await check(service);
        assertEquals([code, names], [0, ""], stdout);
        const found = await untrue(service, "hello");
        assert(found.includes(by), found.join("\n"));
      },
    });
  }
}
