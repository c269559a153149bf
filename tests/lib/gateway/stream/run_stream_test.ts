import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../../support/clocks.ts";
import {
  answer,
  type Behaviour,
  body,
  complete,
  encodeItem,
  events,
  progress,
} from "../../../support/service/behaviours.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { testRows } from "../../../support/tables.ts";
import { serviceId } from "../../../support/texts.ts";
import { requestsOf, takeTurn } from "../../../support/turns.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const SECOND = 1000;
const ENDS = { "!": "break", "~": "hang" } as const;

/**
 * A stream: `a` is a progress event, `1a` one with an id, `.` the reply, `F` the word
 * "No" of a failure, `x` an object that is no event. It ends, unless it breaks at the end
 * (`!`) or falls silent (`~`). A number of three digits is a status.
 */
function stream(script: string): Behaviour {
  if (/^\d{3}$/.test(script)) return answer(Number(script));
  const parts = script.matchAll(/(\d*)([a-w]|[.Fx])/g);
  const items = Array.from(parts, ([, id, node = ""]) => {
    if (node === ".") return complete(".");
    if (node === "x") return { type: "x" };
    if (node === "F") return { event: "failed", error: "No" };
    const event = progress(node, "");
    return id === "" ? event : encodeItem(event, id);
  });
  const end = script.at(-1);
  return events(items, {
    end: end === "!" || end === "~" ? ENDS[end] : "close",
  });
}

const GO_ON = "The run may still continue. (thread t, run r)";
const PAGE = { "content-type": "Text/HTML; x=y" };
const IMAGE = { "content-type": "image/png", "content-encoding": " Identity" };

/** Streams that no script describes. */
const OTHERS: Readonly<Record<string, Behaviour>> = {
  image: events([complete(".")], { status: 206, headers: IMAGE }),
  cleared: events(["id: 1\n", progress("a", ""), "\nid:\n", progress("b", "")]),
  page: answer(200, "<title>In</title>", PAGE),
  wordless: events([{ event: "failed", error: 7 }]),
  wordlessThenA: events([{ event: "failed", error: 7 }, progress("a", "")]),
  json: answer(200, '{\n  "error": "No"\n}\n'),
  labelled: answer(200, '{"error":"No"}', PAGE),
  comment: body([":\n\n"], { end: "break" }),
  cut: body(['data: {"ev']),
  id: events(["id: 1\n\n"]),
  key: events([progress(TEST_KEY, ""), complete(TEST_KEY)]),
};

/** The streams of a run, and what is told of it, the reasons of pauses in brackets. */
testRows(
  "a run with {what} is told as {told}",
  "what | streams | told",
  `
the reply, whatever follows it            | a.b               | a / .
a stream of any status in 2xx and type    | image             | .
a node with the key, and such a reply         | key                | ... / ${TEST_KEY}
a reply although a failure was told       | Fx.               | .
an end after an event without an id       | a                 | a / The stream ended without a reply. The run may still continue. (thread t, run r)
a loss after such an event                | a!                | a / SOCKET. The run may still continue. (thread t, run r)
an id that was cleared                    | cleared           | a / b / The stream ended without a reply. The run may still continue. (thread t, run r)
a web page                                | page              | The service answered 200 with a web page ("In"), perhaps the sign-in page of a network or proxy. The run may still continue. (thread t, run r)
204                                       | 204               | The service answered 204: it has nothing more to send. The run may still continue. (thread t, run r)
501                                       | 501               | The service answered 501. The run may still continue. (thread t, run r)
an event, then an object that is no event | ax                | a / The stream ended without a reply: 1 JSON object had no "event": {"type":"x"}. The run may still continue. (thread t, run r)
a failure                                 | F                 | The run failed: No. (thread t, run r)
a failure without words                   | wordless          | The run failed. (thread t, run r)
a failure after an id                     | 1aF               | a / The run failed: No. (thread t, run r)
a failure before a loss                   | F!                | The run failed: No. (thread t, run r)
a failure without words before an event   | wordlessThenA     | a / The stream ended without a reply. The run may still continue. (thread t, run r)
a failure before an event                 | Fa                | a / The stream ended without a reply. Before that, the service had reported: No. The run may still continue. (thread t, run r)
a failure before an event, which comes again  | F1a! F! .          | a / (connection lost) / (connection lost) / .
JSON in place of a stream                 | json              | The run failed: No. (thread t, run r)
JSON that is labelled as a web page       | labelled          | The run failed: No. (thread t, run r)
a stream that is resumed                  | 1a2b! 3c.         | a / b / (connection lost) / c / .
one that starts over                      | 1a2b! 1a2b3c.     | a / b / (connection lost) / c / .
statuses that may pass                    | 429 502 503 504 . | (service busy) / (service unreachable) / (service busy) / (service unreachable) / .
a loss before an event                    | ! .               | (connection lost) / .
a loss after a comment                    | comment .         | (connection lost) / .
an end within a line                      | cut               | (stream ended) / (stream ended) / (stream ended) / (stream ended) / The stream ended without a reply: 1 data: line was no JSON object: {"ev. The run may still continue. (thread t, run r)
an end before an event                    | -                 | (stream ended) / (stream ended) / (stream ended) / (stream ended) / The stream ended without a reply. The run may still continue. (thread t, run r)
objects that are no events                | x                 | (stream ended) / (stream ended) / (stream ended) / (stream ended) / The stream ended without a reply: 1 JSON object had no "event": {"type":"x"}. The run may still continue. (thread t, run r)
404                                       | 404               | The service no longer knows the run (404). The prompt may have run. (thread t, run r)
404 after an id                           | id 404            | (stream ended) / The service no longer knows the run (404). The prompt may have run. (thread t, run r)
404 after an event                        | 1a 404            | a / (stream ended) / The service no longer knows the run (404). (thread t, run r)
`,
  async (row) => {
    const streams = row.streams.split(" ").map((it) =>
      OTHERS[it] ?? stream(it)
    );
    const { told, requests, error } = await takeTurn({
      stream: streams,
    });
    const shown = told.map((text) =>
      text.replace(/^http.*? closed .*?(?=\.)/, "SOCKET")
    );
    assertEquals(shown.join(" / "), row.told);
    const waits = told.filter((text) => text.startsWith("("));
    assertEquals(requests.length, 2 + 1 + waits.length);
    assertEquals(error?.ids.runId, error && serviceId("r"));
  },
);

Deno.test("a stream that is resumed is requested with the last id", async () => {
  const { requests } = await takeTurn({
    stream: [stream("!"), stream("1a2b!"), stream("3c!"), stream(".")],
  });
  const ids = requestsOf("stream", requests)
    .map(({ headers }) => headers.get("last-event-id"));
  assertEquals(ids, [null, null, "2", "3"]);
});

Deno.test("a peer that falls silent after three comments is taken for gone after a minute", async () => {
  using clock = new FakeClock();
  const silent = body([":\n\n", ":\n\n", ":\n\n"], { end: "hang" });
  clock.run();
  let time = 0;
  const { told } = await takeTurn(
    { stream: [silent, stream(".")] },
    {},
    ({ type }) => {
      if (type === "wait") time = clock.time;
    },
  );
  // The clock runs, so an answer that takes this machine long is a silence, too.
  assertEquals([...new Set(told)], ["(stream silent)", "."]);
  assert(time >= 60 * SECOND, `${time}`);
});

Deno.test("a resumed stream of old events without an end is given up after 10 minutes", async () => {
  using clock = new FakeClock();
  clock.run();
  const endless = events(function* () {
    for (;;) {
      yield encodeItem(progress("a", ""), 1);
      clock.elapse(SECOND);
    }
  });
  const { told, endings } = await takeTurn({
    stream: [stream("1a 2b"), endless],
  });
  assertEquals(told, [
    ...["a", "b", "(stream ended)"],
    `The service repeats old events and sends no new ones. ${GO_ON}`,
  ]);
  assertEquals(endings.at(-1), "dropped");
});

Deno.test("a stream that is silent for too long is given up, and dropped", async () => {
  using clock = new FakeClock();
  const { told, endings } = await takeTurn(
    { stream: [stream("a~")] },
    { idle: 600 * SECOND },
    ({ type }) => {
      if (type === "progress") clock.run();
    },
  );
  assertEquals(told, [
    "a",
    `Nothing came from the service for 10 min. ${GO_ON}`,
  ]);
  assertEquals(endings.at(-1), "dropped");
});

testRows(
  "a stream whose coding is one of {codings}: {told}",
  "codings | told",
  `
gzip, x-gzip, deflate, compress, x-compress, br, zstd, GZIP,  zstd     | The stream is compressed, which the request did not allow. The run may still continue. Turn off compression at the service or its reverse proxy. (thread t, run r)
none, , identity, UTF-8, utf8, 8bit, chunked, aws-chunked, gzipped     | .
`,
  async ({ codings, told }) => {
    for (const coding of [...codings.split(","), `identity,${codings}`]) {
      const headers = { "content-encoding": coding };
      const coded = answer(200, encodeItem(complete(".")), headers);
      const turn = await takeTurn({ stream: [coded] });
      assertEquals(turn.told, [told], coding);
    }
  },
);
