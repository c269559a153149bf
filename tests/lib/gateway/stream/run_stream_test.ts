import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { unchanged } from "../../../../lib/text.ts";
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
import { GatedStream } from "../../../support/service/gated_stream.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { serviceId } from "../../../support/texts.ts";
import { gatewayTo, startService, takeTurn } from "../../../support/turns.ts";

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
    return id === "" ? event : encodeItem(event, { id });
  });
  const end = script.at(-1);
  return events(items, {
    end: end === "!" || end === "~" ? ENDS[end] : "close",
  });
}

const GO_ON = "The run may still continue. (thread t, run r)";
const ENDED = "The stream ended without a reply";
const FAILED = "The run failed: No. (thread t, run r)";
const PAGE = { "content-type": "Text/HTML; x=y" };
const IMAGE = { "content-type": "image/png", "content-encoding": " Identity" };
const again = (count: number) => Array(count).fill("(stream ended)");

/** The streams of a run, and what is told of it, the reasons of pauses in brackets. */
const RUNS: readonly (readonly [
  what: string,
  streams: readonly (string | Behaviour)[],
  ...told: string[],
])[] = [
  ["the reply, whatever follows it", ["a.b"], "a", "."],
  ["a stream of any status in 2xx and type", [
    events([complete(".")], { status: 206, headers: IMAGE }),
  ], "."],
  ["a reply although a failure was told", ["Fx."], "."],

  // Not requested again
  ["an end after an event without an id", ["a"], "a", `${ENDED}. ${GO_ON}`],
  ["a loss after such an event", ["a!"], "a", `SOCKET. ${GO_ON}`],
  [
    "an id that was cleared",
    [events(["id: 1\n", progress("a", ""), "\nid:\n", progress("b", "")])],
    "a",
    "b",
    `${ENDED}. ${GO_ON}`,
  ],
  [
    "a web page",
    [answer(200, "<title>In</title>", PAGE)],
    `The service answered 200 with a web page ("In"), perhaps the sign-in page of a network or proxy. ${GO_ON}`,
  ],
  [
    "204",
    ["204"],
    `The service answered 204: it has nothing more to send. ${GO_ON}`,
  ],
  ["501", ["501"], `The service answered 501. ${GO_ON}`],
  [
    "an event, then an object that is no event",
    ["ax"],
    "a",
    `${ENDED}: 1 JSON object had no "event": {"type":"x"}. ${GO_ON}`,
  ],

  // Failures of the run
  ["a failure", ["F"], FAILED],
  [
    "a failure without words",
    [events([{ event: "failed", error: 7 }])],
    "The run failed. (thread t, run r)",
  ],
  ["a failure with the key", [
    events([{ event: "failed", error: `Unknown key ${TEST_KEY}` }]),
  ], "The run failed: Unknown key ... (thread t, run r)"],
  ["a failure after an id", ["1aF"], "a", FAILED],
  ["a failure before a loss", ["F!"], FAILED],
  [
    "a failure before an event",
    ["Fa"],
    "a",
    `${ENDED}: the service had said: No. ${GO_ON}`,
  ],
  [
    "JSON in place of a stream",
    [answer(200, '{\n  "error": "No"\n}\n')],
    FAILED,
  ],
  [
    "JSON that is labelled as a web page",
    [answer(200, '{"error":"No"}', PAGE)],
    FAILED,
  ],

  // Requested again
  [
    "a stream that is resumed",
    ["1a2b!", "3c."],
    "a",
    "b",
    "(connection lost)",
    "c",
    ".",
  ],
  [
    "one that starts over",
    ["1a2b!", "1a2b3c."],
    "a",
    "b",
    "(connection lost)",
    "c",
    ".",
  ],
  [
    "statuses that may pass",
    ["429", "502", "503", "504", "."],
    "(service busy)",
    "(service unreachable)",
    "(service busy)",
    "(service unreachable)",
    ".",
  ],
  ["a loss before an event", ["!", "."], "(connection lost)", "."],
  [
    "a loss after a comment",
    [body([":\n\n"], { end: "break" }), "."],
    "(connection lost)",
    ".",
  ],
  [
    "an end within a line",
    [body(['data: {"ev'])],
    ...again(4),
    `${ENDED}: 1 data: line was no JSON object: {"ev. ${GO_ON}`,
  ],
  ["an end before an event", [""], ...again(4), `${ENDED}. ${GO_ON}`],
  [
    "objects that are no events",
    ["x"],
    ...again(4),
    `${ENDED}: 1 JSON object had no "event": {"type":"x"}. ${GO_ON}`,
  ],

  // A run that the service does not know
  [
    "404",
    ["404"],
    "The service no longer knows the run (404). The prompt may have run. (thread t, run r)",
  ],
  [
    "404 after an id",
    [events(["id: 1\n\n"]), "404"],
    "(stream ended)",
    "The service no longer knows the run (404). The prompt may have run. (thread t, run r)",
  ],
  [
    "404 after an event",
    ["1a", "404"],
    "a",
    "(stream ended)",
    "The service no longer knows the run (404). (thread t, run r)",
  ],
];

for (const [what, streams, ...told] of RUNS) {
  Deno.test(`a run with ${what} is told as ${told.join(" ")}`, async () => {
    const behaviours = streams.map((it) =>
      typeof it === "string" ? stream(it) : it
    );
    const turn = await takeTurn({ stream: behaviours });
    const shown = turn.told.map((text) =>
      text.replace(/^http.*? closed .*?(?=\.)/, "SOCKET")
    );
    assertEquals(shown, told);
    const waits = told.filter((text) => text.startsWith("("));
    assertEquals(turn.requests.length, 2 + 1 + waits.length);
    assertEquals(turn.error?.ids.runId, turn.error && serviceId("r"));
  });
}

Deno.test("a stream that is resumed is requested with the last id", async () => {
  const { cursors } = await takeTurn({
    stream: [stream("!"), stream("1a2b!"), stream("3c!"), stream(".")],
  });
  assertEquals(cursors, [null, null, "2", "3"]);
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
  assertEquals(told, ["(stream silent)", "."]);
  assert(time >= 60 * SECOND && time < 600 * SECOND, `${time}`);
});

for (const end of ["end", "break"] as const) {
  Deno.test(`the error for a stream tells how long nothing came before its ${end}`, async () => {
    const gate = new GatedStream();
    await using service = startService({ stream: [gate.behaviour] });
    using clock = new FakeClock();
    await using gateway = gatewayTo(service);
    const turn = gateway.runTurn(serviceId("t"), unchanged("hello"))[
      Symbol.asyncIterator
    ]();
    gate.progress("a", "");
    await turn.next(); // the run
    await turn.next(); // the event
    const rejection = assertRejects(() => turn.next());
    await new Promise((resolve) => setTimeout(resolve, 0));
    clock.elapse(61 * SECOND);
    gate[end]();
    assertMatch(
      `${await rejection}`,
      /(reply|answer), after 1 min \d s without an event\. /,
    );
  });
}

Deno.test("a resumed stream of old events without an end is given up after 10 minutes", async () => {
  using clock = new FakeClock();
  clock.run();
  const endless = events(function* () {
    for (;;) {
      yield encodeItem(progress("a", ""), { id: 1 });
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
  clock.run();
  const { told, endings } = await takeTurn(
    { stream: [stream("a~")] },
    { idle: 600 * SECOND },
  );
  assertEquals(told, [
    "a",
    `Nothing came from the service for 10 min. ${GO_ON}`,
  ]);
  assertEquals(endings.at(-1), "dropped");
});

const COMPRESSED =
  `The stream is compressed, which the request did not allow. The run may still continue. Turn off compression at the service or its reverse proxy. (thread t, run r)`;
const CODINGS = {
  [COMPRESSED]: [
    ...["gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd"],
    ...["GZIP", "identity, br", " zstd "],
  ],
  ".": [
    ...["none", "", "identity", "identity, identity", "UTF-8", "utf8", "8bit"],
    ...["chunked", "aws-chunked", "text/event-stream", "gzipped", "binary"],
  ],
};

for (const [expected, codings] of Object.entries(CODINGS)) {
  Deno.test(`a stream whose coding is one of ${codings}: ${expected}`, async () => {
    for (const coding of codings) {
      const headers = { "content-encoding": coding };
      const coded = answer(200, encodeItem(complete(".")), headers);
      const { told } = await takeTurn({ stream: [coded] });
      assertEquals(told, [expected], coding);
    }
  });
}

Deno.test("nodes and statuses are shown without the key, and a reply as it is", async () => {
  const shown = events([progress(`n ${TEST_KEY}`, ""), complete(TEST_KEY)]);
  const { told } = await takeTurn({ stream: [shown] });
  assertEquals(told, ["n ...", TEST_KEY]);
});
