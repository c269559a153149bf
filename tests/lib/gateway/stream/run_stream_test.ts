import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  answer,
  type Behaviour,
  body,
  complete,
  encodeItem,
  type End,
  events,
  hang,
  progress,
} from "../../../support/service/behaviours.ts";
import { GatedStream } from "../../../support/service/gated_stream.ts";
import { TEST_KEY } from "../../../support/service/service.ts";
import { FakeClock } from "../../../support/clocks.ts";
import { gatewayTo, startService, takeTurn } from "../../../support/turns.ts";
import { serviceId } from "../../../support/texts.ts";
import { unchanged } from "../../../../lib/text.ts";

// No timer, request or connection may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const SECOND = 1000;
const GO_ON = "The run may still continue.";
const ENDED_EARLY = "stream ended";
const ENDED = "The stream ended without a reply";

/**
 * A stream: `a` is a progress event, `1a` one with an id, `.` the reply. It ends,
 * unless it breaks at the end (`!`), falls silent (`~`), or does not begin (`?`).
 */
function stream(script: string): Behaviour {
  if (script === "?") return hang();
  const end: End = script.endsWith("!")
    ? "break"
    : script.endsWith("~")
    ? "hang"
    : "close";
  const parts = script.matchAll(/(\d*)([a-z])|\./g);
  const items = Array.from(
    parts,
    ([, id, node]) =>
      node === undefined
        ? complete(".")
        : encodeItem(progress(node, ""), { id: id === "" ? undefined : id }),
  );
  return events(items, { end });
}

const failed = (words: unknown) => events([{ event: "failed", error: words }]);

/** Streams that are not requested again, and the message of the error. */
const FINAL: Readonly<Record<string, readonly [Behaviour, string]>> = {
  "ends after an event": [stream("a"), `${ENDED}. ${GO_ON}`],
  "is a web page": [
    answer(200, "<title>In</title>", { "content-type": "Text/HTML; x=y" }),
    `The service answered 200 with a web page ("In"), perhaps the sign-in page of a network or proxy. ${GO_ON}`,
  ],
  "is compressed": [
    answer(200, "?", { "content-encoding": "gzip" }),
    `The stream is compressed, which the request did not allow. ${GO_ON} Turn off compression at the service or its reverse proxy.`,
  ],
  "is answered 204": [
    answer(204),
    `The service answered 204: it has nothing more to send. ${GO_ON}`,
  ],
  "is answered 501": [answer(501), `The service answered 501. ${GO_ON}`],
  "tells that the run failed": [failed("No"), "The run failed: No."],
  "tells so without words": [failed(7), "The run failed."],
  "tells so with the key": [
    failed(`Unknown key ${TEST_KEY}`),
    "The run failed: Unknown key ...",
  ],
  "tells so, and could be resumed": [
    events([{ event: "progress" }, { event: "error" }], { firstId: 1 }),
    "The run failed.",
  ],
  "tells so, and breaks": [
    events([{ event: "error" }], { end: "break" }),
    "The run failed.",
  ],
  "told of a failure before an event of the run": [
    events([{ event: "error", message: "No" }, progress("a", "")]),
    `${ENDED}: the service had said: No. ${GO_ON}`,
  ],
  "is JSON, labelled as a web page": [
    answer(200, '{"error":"No"}', { "content-type": "text/html" }),
    "The run failed: No.",
  ],
  "is JSON": [answer(200, '{\n  "error": "No"\n}\n'), "The run failed: No."],
  "is partly foreign": [
    events([{ event: "completed" }, progress("a", "")]),
    `${ENDED}: 1 event was not known: "completed". ${GO_ON}`,
  ],
};

for (const [what, [behaviour, message]] of Object.entries(FINAL)) {
  Deno.test(`a stream that ${what} is an error at once`, async () => {
    const { error, requests } = await takeTurn({ stream: [behaviour] });
    assertEquals(
      error?.message,
      `${message} (thread t, run r)`,
    );
    assertEquals([error?.ids.threadId, error?.ids.runId], ["t", "r"]);
    assertEquals(requests.length, 3);
  });
}

/** Streams that end with nothing new, and the message of the error. */
const EMPTY: Readonly<Record<string, readonly [Behaviour, string]>> = {
  "ends before an event": [stream(""), `${ENDED}. ${GO_ON}`],
  "ends within its last line": [
    body(['data: {"ev']),
    `${ENDED}: the last data: line was cut off: {"ev. ${GO_ON}`,
  ],
  "is foreign": [
    events([{ type: "a" }]),
    `${ENDED}: 1 JSON object had no "event": {"type":"a"}. ${GO_ON}`,
  ],
  "is foreign for long": [
    events([{ type: "a" }, "data: []\n", {}]),
    `${ENDED}: 2 JSON objects had no "event": {"type":"a"}; 1 data: line was no JSON object: []. ${GO_ON}`,
  ],
};

for (const [what, [behaviour, message]] of Object.entries(EMPTY)) {
  Deno.test(`a stream that ${what} is an error after five requests for it`, async () => {
    const { error, requests, waits } = await takeTurn({ stream: [behaviour] });
    assertEquals(error?.message, `${message} (thread t, run r)`);
    assertEquals(requests.length, 2 + 5);
    assertEquals(waits.map(({ reason }) => reason), Array(4).fill(ENDED_EARLY));
  });
}

Deno.test("a peer that falls silent after three comments is taken for gone after a minute", async () => {
  using clock = new FakeClock();
  const silent: Behaviour = body(async function* () {
    for (const comment of [":\n\n", ":\n\n", ":\n\n"]) yield comment;
    await Promise.resolve();
  }, { end: "hang" });
  clock.run();
  let time = 0;
  const { delivered, waits } = await takeTurn(
    { stream: [silent, stream(".")] },
    {},
    ({ type }) => {
      if (type === "wait") time = clock.time;
    },
  );
  assertEquals(delivered, ["."]);
  assertEquals(waits.map(({ reason }) => reason), ["stream silent"]);
  assert(time >= 60 * SECOND && time < 600 * SECOND, `${time}`);
});

for (const end of ["end", "break"] as const) {
  Deno.test(`the error for a stream tells how long nothing came before its ${end}`, async () => {
    const gate = new GatedStream();
    await using service = startService({ stream: [gate.behaviour] });
    using clock = new FakeClock();
    await using gateway = gatewayTo(service);
    const turn = gateway.runTurn(serviceId("t"), unchanged("hello"))
      [Symbol.asyncIterator]();
    gate.progress("a", "");
    await turn.next(); // the run
    await turn.next(); // the event
    const rejection = assertRejects(() => turn.next());
    await new Promise((resolve) => setTimeout(resolve, 0));
    clock.elapse(61 * SECOND);
    gate[end]();
    const error = await rejection;
    assertMatch(
      `${error}`,
      /(reply|answer), after 1 min \d s without an event\. /,
    );
  });
}

const IMAGE = { "content-type": "image/png", "content-encoding": " Identity" };

for (
  const [what, behaviour] of Object.entries({
    "whatever its status in 2xx and its content type": events([complete(".")], {
      status: 206,
      headers: IMAGE,
    }),
    "although it told of a failure before": events([{ event: "error" }, {
      type: "x",
    }, complete(".")]),
  })
) {
  Deno.test(`a stream is read ${what}`, async () => {
    const { delivered, requests } = await takeTurn({ stream: [behaviour] });
    assertEquals([delivered, requests.length], [["."], 3]);
  });
}

Deno.test("a run that the service does not know has failed if events of it came", async () => {
  const streams = [[], [events(["id: 1\n\n"])], [stream("1a")]];
  const fates = await Promise.all(streams.map(async (first) => {
    const { error } = await takeTurn({ stream: [...first, answer(404)] });
    return error?.fate;
  }));
  assertEquals(fates, ["may have run", "may have run", "failed"]);
});

Deno.test("a resumed stream of old events without an end is given up after 10 minutes", async () => {
  using clock = new FakeClock();
  clock.run();
  const endless = events(function* () {
    for (;;) {
      yield encodeItem(progress("a", ""), { id: 1 });
      clock.elapse(SECOND);
    }
  });
  const turn = await takeTurn({ stream: [stream("1a 2b"), endless] });
  assertEquals(turn.delivered, ["a", "b"]);
  const { fate, failure: { reason } = {} } = turn.error ?? {};
  assertEquals(reason, "The service repeats old events and sends no new ones");
  assertEquals([fate, turn.endings.at(-1)], ["may go on", "dropped"]);
});

Deno.test("a stream that is silent for too long is given up, and dropped", async () => {
  using clock = new FakeClock();
  clock.run();
  const { error, endings } = await takeTurn(
    { stream: [stream("a~")] },
    { idle: 600 * SECOND },
  );
  assertEquals(
    error?.failure.reason,
    "Nothing came from the service for 10 min",
  );
  assertEquals([error?.fate, endings.at(-1)], ["may go on", "dropped"]);
});

const CODINGS = [
  ...["gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd"],
  ...["GZIP", "identity, br", " zstd "],
];
const NO_CODINGS = [
  ...["none", "", "identity", "identity, identity", "UTF-8", "utf8", "binary"],
  ...["chunked", "aws-chunked", "text/event-stream", "gzipped", "8bit"],
];

Deno.test("a stream in any coding is an error, and other words for one change nothing", async () => {
  const text = encodeItem(complete("Done."));
  const outcomes = new Map<string, string | undefined>();
  for (const encoding of [...CODINGS, ...NO_CODINGS]) {
    const headers = { "content-encoding": encoding };
    const { delivered, error } = await takeTurn({
      stream: [answer(200, text, headers)],
    });
    outcomes.set(encoding, error?.failure.reason ?? delivered.at(-1));
  }
  const compressed =
    "The stream is compressed, which the request did not allow";
  for (const encoding of CODINGS) {
    assertEquals(outcomes.get(encoding), compressed, encoding);
  }
  for (const encoding of NO_CODINGS) {
    assertEquals(outcomes.get(encoding), "Done.", encoding);
  }
});

Deno.test("nodes, statuses and the names of fields are shown without the key, and a reply as it is", async () => {
  const { delivered } = await takeTurn({
    stream: [events([progress(`n ${TEST_KEY}`, ""), complete(TEST_KEY)])],
  });
  assertEquals(delivered, ["n ...", TEST_KEY]);
});
