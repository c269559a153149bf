import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Line } from "../../../lib/check/report.ts";
import type { ProbedRun, Request } from "../../../lib/check/run_requests.ts";
import {
  streamFindings,
  type Surroundings,
} from "../../../lib/check/stream_findings.ts";
import {
  StreamObservation,
  type StreamObservationOptions,
} from "../../../lib/check/stream_observation.ts";
import { ServiceError } from "../../../lib/gateway.ts";
import {
  readRunEvents,
  StreamRecord,
} from "../../../lib/gateway/stream/run_events.ts";
import { FakeClock } from "../../support/clocks.ts";
import {
  complete,
  progress,
  type StreamEvent,
} from "../../support/service/behaviours.ts";

const KEY = "test-key-0123456789abcdef";

/** What a connection brings: text, and the milliseconds that pass in between. */
type Pieces = readonly (string | number)[];

/** The piece that stands for the headers, if they do not come at once. */
const OPEN = "OPEN";

/** An event, and its id if it has one. */
function event(value: StreamEvent, id?: number | string): string {
  const line = id === undefined ? "" : `id: ${id}\n`;
  return `${line}data: ${JSON.stringify(value)}\n\n`;
}

const a = progress("a", "");
const b = progress("b", "");
const c = progress("c", "");
const done = complete("Done.");
const numbered = [a, b, c, done].map((value, index) => event(value, index + 1));
const SSE = { "content-type": "text/event-stream" };

/** Observes a connection as the check does. */
async function observe(
  pieces: Pieces,
  headers: Readonly<Record<string, string>> = SSE,
  options: StreamObservationOptions = {},
): Promise<Request> {
  using clock = new FakeClock();
  const observation = new StreamObservation(options);
  observation.begin();
  const record = new StreamRecord(observation);
  const open = () => observation.open(new Headers(headers), record.cursor);
  const chunks = async function* () {
    if (!pieces.includes(OPEN)) open();
    for (const piece of pieces) {
      if (typeof piece === "number") clock.time += piece;
      else if (piece === OPEN) open();
      else yield await Promise.resolve(new TextEncoder().encode(piece));
    }
  };
  await Array.fromAsync(readRunEvents(chunks(), record));
  observation.end();
  const { failure: detail } = record;
  const error = detail === undefined
    ? { reason: "it ended", fate: "may go on" } as const
    : { reason: "the run failed", fate: "failed", detail } as const;
  const isOver = observation.reply !== undefined;
  return {
    observation,
    error: isOver
      ? undefined
      : new ServiceError({ operation: "stream run", ...error }),
  };
}

/** A request that was refused. */
function refused(status?: number): Request {
  const error = new ServiceError({
    ...{ operation: "stream run", reason: "", status, fate: "may go on" },
  });
  return {
    observation: new StreamObservation(),
    error: status === undefined ? undefined : error,
  };
}

/** What is told about a run, by the names of its lines. */
async function find(
  pieces: Pieces,
  { headers, isLocal = false, proxy, ...requests }:
    & { readonly headers?: Readonly<Record<string, string>> }
    & Partial<ProbedRun & Surroundings> = {},
): Promise<Map<string, Line>> {
  const again = await observe(numbered.slice(1));
  const run: ProbedRun = {
    ...await observe(pieces, headers),
    resumed: again,
    resumedAtEnd: again,
    unknownRun: refused(404),
    wrongKey: refused(401),
    ...requests,
  };
  const lines = streamFindings(run, { apiKey: KEY, isLocal, proxy });
  return new Map(lines.map((line) => [line.name, line]));
}

/** What is told about a run, a line each: "name: state text". */
async function tell(...args: Parameters<typeof find>): Promise<string[]> {
  return Array.from(
    (await find(...args)).values(),
    ({ name, state, text }) => `${name}: ${state} ${text}`,
  );
}

Deno.test("streamFindings() tells in order what a good run was like", async () => {
  const [first = "", ...others] = numbered;
  assertEquals(await tell([2500, first, 500, ...others]), [
    "stream: ok text/event-stream",
    "events: ok 4 known, 0 unknown, the first after 2.5 s, the last after 3.0 s",
    "live: ok events came as they happened",
    "ids: ok all are different",
    "resume: ok a request with Last-Event-ID gets what comes after that event",
    "silence: - a run with a silence of 15 s or more would tell",
    "lines: ok all are events, fields or comments",
    "end: ok the run is complete",
    "reply: ok in instructorState.explanation",
    "unknown run: ok a stream is refused",
    "wrong key: ok a stream is refused",
  ]);
});

Deno.test("streamFindings() gives times: durations, and moments since the request", async () => {
  const lines = await find([2000, event(a), 20_000, event(done)]);
  const times = Array.from(lines.values(), ({ name, at, milliseconds }) => ({
    ...at !== undefined && { [`${name} at`]: at },
    ...milliseconds !== undefined && { [name]: milliseconds },
  }));
  assertEquals(Object.assign({}, ...times), {
    "stream": 0,
    "events at": 22_000,
    "live at": 2_000,
    "silence": 20_000,
    "end at": 22_000,
  });
  const { at, failure } = (await find([event(a), 3_000])).get("end") ?? {};
  assertEquals([at, failure?.fate], [3_000, "may go on"]);
  for (
    const [pieces, moment] of [[[1000], undefined], [
      [1000, event(a)],
      1000,
    ]] as const
  ) {
    const lines = await find(pieces);
    const moments = ["events", "live"].map((name) => lines.get(name)?.at);
    assertEquals(moments, [moment, moment]);
  }
});

const raw = (value: object) => event({ ...value });
const together: Pieces = [2001, ...numbered];
const HELD =
  "live: note all events came together, so something holds them back, the likeliest first: the service, if it does not flush after each event";
const NGINX = "; a front (answer with X-Accel-Buffering: no, or set nginx: ";
const ACCEL = { ...SSE, "x-accel-buffering": " No " };
const TOO_SHORT =
  "live: - a run of several events, longer than 2 s, would tell$";
const type = (type: string) => ({ headers: { "content-type": type } });
const proxy = { origin: "http://proxy.test:3128" };

/**
 * What a stream brings, how lines begin that are told (`$`: no more follows), and
 * what is known besides.
 */
const STREAMS: readonly (readonly [
  Pieces,
  string | readonly string[],
  Parameters<typeof find>[1]?,
])[] = [
  [numbered, "stream: note text/plain; answer with", type("text/plain")],
  [numbered, "stream: ok text", type(" Text/Event-Stream; charset=utf-8")],
  [numbered, "stream: note text/event-streams; ", type("text/event-streams")],
  [numbered, "stream: note left out, because it ho", type(`a/${KEY}`)],
  [numbered, "stream: note without a type; answer", { headers: {} }],
  [[], [
    "events: failed none came; send each as one line data: {",
    TOO_SHORT,
    "ids: - no event came before the reply",
    "end: failed it ended$",
    "reply: - the run was not complete",
  ]],
  // Known and unknown events.
  [[raw({ event: "nonsense" }), `event: progress\n${raw({})}`], [
    "events: failed 2 events came, and none that is known; send each as one",
  ]],
  [[raw({ event: "nonsense" }), event(done)], [
    "events: ok 1 known, 1 unknown, ",
    TOO_SHORT,
    "ids: note 1 of 1 event before the reply without one, ",
  ]],
  [
    [3000, raw({ event: "error" }), 2000, event(done)],
    "events: ok 1 known, 0 unknown, the first after 5.0 s, the last after 5.0 s$",
  ],
  [['data: {\ndata: "event": "complete"\ndata: }\n\n'], [
    "events: failed none came; send each as one line",
    "lines: note 3 lines without an event, ignored; the first: data: {$",
  ]],
  [[`id: 1\ndata: ${JSON.stringify(a)}\n${event(b)}`, event(done, 2)], [
    "events: ok 3 known, ",
    "ids: note some repeat, ",
  ]],
  [[raw({ event: "error", message: "no" })], [
    "events: - none before the run failed$",
    "ids: - no event came",
    "resume: - the run failed",
    "end: failed the run failed: no$",
  ]],
  [[raw({ event: "error" })], "end: failed the run failed$"],
  // Silence.
  [[": hi\n\n", 30_000, ...numbered], [
    "silence: note nothing came for 30.0 s, with 1 comment in all; send a comment (a line that begins with a colon) every 15 s$",
  ]],
  [
    [15_500, ": 1\n", 29_999, ": 2\n", ...numbered],
    "silence: ok bridged by 2 comments$",
  ],
  [[14_999, OPEN, 14_999, ...numbered], "silence: - a run with a silence of"],
  [
    [15_000, OPEN, ...numbered],
    "silence: note nothing came for 15.0 s, with 0",
  ],
  // Lines that are no events.
  [
    ["<b>Oh</b>: x\x1b[31m\n", "data: [DONE]\n", event(done)],
    "lines: note 2 lines without an event, ignored; the first: <b>Oh</b>: x$",
  ],
  [[event(done).trim()], ["end: ok the run is complete", "lines: ok all are"]],
  [
    [event(a), "Killed"],
    "lines: note 1 line without an event, ignored; the first: Killed$",
  ],
  [
    [`${"x".repeat(99)}${KEY}\n`],
    "lines: note 1 line without an event, ignored; the first: left out,",
  ],
  [
    [`${"x".repeat(101)}\n`],
    `lines: note 1 line without an event, ignored; the first: ${
      "x".repeat(100)
    }$`,
  ],
  [["id: 1\nretry: 2\nevent: x\ndata\n: c\n"], "lines: ok all are events, "],
  // Live or not.
  [[5000, event(done)], [TOO_SHORT, "ids: - no event came before the reply"]],
  [[2000, ...numbered], TOO_SHORT],
  [[2001, event(a), 100, event(done)], HELD + NGINX],
  [[2001, event(a), 101, event(done)], "live: ok events came as they happened"],
  [
    together,
    `${HELD}${NGINX}proxy_http_version 1.1; proxy_buffering off;, or Apache: ProxyPass / http://... flushpackets=on, or Caddy: reverse_proxy { flush_interval -1 }, or HAProxy: no option http-buffer-response)$`,
  ],
  [together, `${HELD}$`, { isLocal: true }],
  [together, `${HELD}$`, { headers: ACCEL }],
  [
    together,
    `${HELD}; a front (set lighttpd: server.stream-response-body = 1)$`,
    { headers: { ...ACCEL, server: "lighttpd/1.4" }, isLocal: true },
  ],
  [
    together,
    `${HELD}${NGINX}proxy_http_version 1.1; proxy_buffering off;)$`,
    { headers: { ...SSE, via: "1.1 NGINX" } },
  ],
  [
    together,
    `${HELD}; your own proxy http://proxy.test:3128$`,
    { headers: ACCEL, proxy },
  ],
  // Ids.
  [[event(a, 1), event(b, 1), event(done, 2)], "ids: note some repeat, so a "],
  [["id: 1\n\nid: 1\n\n", ...numbered], "ids: ok all are different"],
  [
    [event(a, 1), event(b), event(done)],
    "ids: note 1 of 2 events before the reply without one",
  ],
  [
    [event(a, "\x01"), event(done)],
    "ids: note 1 of 1 event before the reply without one, so a",
  ],
  [[`${event(a).trim()}\nid: 1\n\n`, event(done)], "ids: ok all are different"],
  // The reply.
  [
    [raw({ event: "complete", messages: [1, { role: "ai", text: "A" }] })],
    "reply: ok in messages[1] of 2, which is an assistant's",
  ],
  [
    [raw({ event: "complete", messages: "A" })],
    "reply: ok in messages[0] of 1, which is nobody's",
  ],
  [
    [raw({ event: "complete" })],
    'reply: note none was found, so users read "Run completed."; put the reply',
  ],
  [
    [raw({ event: "complete", messages: [{ speech: "A" }, {}] })],
    'reply: failed nothing of 2 messages can be read, so users read "Run com',
  ],
];

for (const [pieces, told, options] of STREAMS) {
  const starts = [told].flat();
  Deno.test(`streamFindings() tells "${starts.join('", "')}"`, async () => {
    const shown = (await tell(pieces, options)).map((line) => `${line}$`);
    for (const start of starts) {
      const line = shown.find((line) => line.startsWith(start));
      assert(line !== undefined, shown.join("\n"));
    }
  });
}

const LAST = "a request with Last-Event-ID";
const GOES_ON = `ok ${LAST} gets what comes after that event`;

/** What the run brings, a connection that resumes it, and one after its end; what is told. */
const RESUMED: readonly (readonly [
  Pieces,
  Request | Pieces,
  Request | Pieces,
  string,
])[] = [
  [numbered, numbered.slice(1), numbered, GOES_ON],
  [[event(a), event(b, 2), event(done)], [event(done)], numbered, GOES_ON],
  [[event(a, 1)], [event(b, 2)], [], GOES_ON],
  [numbered, numbered, numbered, GOES_ON],
  ...[event(a, 11), event(b, 1)].map((other) =>
    [numbered, [other], numbered, `note ${LAST} gets other ids, so`] as const
  ),
  ...[numbered.slice(2), [event(done, 11)], [event({ event: "x" }, 2)]].map((
    others,
  ) =>
    [numbered, others, numbered, `note ${LAST} misses events that`] as const
  ),
  [numbered, [], numbered, `note ${LAST} got no event while the run went on;`],
  [together, [], numbered, "- unknown, because events are held back"],
  [together, numbered, refused(), "- unknown, because events are held back"],
  [
    together,
    refused(409),
    numbered,
    `note ${LAST} was answered with 409 while`,
  ],
  [numbered, refused(), numbered, `note ${LAST} got no answer in time while`],
  [
    together,
    numbered,
    refused(404),
    `note ${LAST} after the end was answered with 404, and not the reply; keep the events`,
  ],
  [
    numbered,
    numbered,
    refused(204),
    `note ${LAST} after the end was answered with 204`,
  ],
  [numbered, numbered, [], `note ${LAST} after the end got no event, and`],
  [
    numbered,
    numbered,
    [event(a, 1)],
    `note ${LAST} after the end got other events`,
  ],
  [
    numbered,
    numbered,
    [raw({ event: "error" })],
    `note ${LAST} after the end was told that the run failed, and not`,
  ],
];

const requestOf = async (found: Request | Pieces) =>
  "observation" in found ? found : await observe(found);

for (const [index, [pieces, second, atEnd, told]] of RESUMED.entries()) {
  Deno.test(`streamFindings() tells of resuming (${index}): ${told}`, async () => {
    const lines = await tell(pieces, {
      resumed: await requestOf(second),
      resumedAtEnd: await requestOf(atEnd),
    });
    const line = lines.find((line) => line.startsWith("resume: "));
    assertEquals(line?.slice(0, told.length + 8), `resume: ${told}`);
  });
}

Deno.test("streamFindings() tells nothing of resuming a stream without ids", async () => {
  const lines = await tell([event(a), event(done)], { resumed: undefined });
  assert(lines.includes("resume: - no event before the reply has an id"));
});

Deno.test("streamFindings() tells which strangers get a stream", async () => {
  const failed = await observe([raw({ event: "error", message: "Who?" })]);
  const cases: readonly (readonly [Request, string, string])[] = [
    [
      await observe([]),
      "note a stream is opened; answer 404, ",
      "failed the s",
    ],
    [failed, "- a request for a stream was told that the", "- a request for a"],
    [
      refused(401),
      "- a request for a stream was answered with 401",
      "ok a str",
    ],
    [
      refused(403),
      "- a request for a stream was answered",
      "ok a stream is re",
    ],
    [refused(404), "ok a stream is refused", "- a request for a stream was an"],
    [refused(410), "ok a stream is refused", "- a request for a stream was an"],
    [
      refused(),
      "- a request for a stream got no answer",
      "- a request fo",
    ],
  ];
  for (const [request, ...told] of cases) {
    const requests = { unknownRun: request, wrongKey: request };
    const [first = "", second = ""] = (await tell(numbered, requests)).slice(
      -2,
    );
    assertStringIncludes(first, `unknown run: ${told[0]}`);
    assertStringIncludes(second, `wrong key: ${told[1]}`);
  }
});

Deno.test("StreamObservation remembers the first 1,000 events, however many come", async () => {
  const many = Array.from({ length: 5_000 }, (_, id) => event(a, id)).join("");
  for (const text of [many, many.replaceAll("\n\n", "\n")]) {
    const { observation } = await observe([text]);
    assertEquals([observation.remembered.length, observation.count], [
      ...[1_000, 5_000],
    ]);
  }
});

Deno.test("StreamObservation tells the first id once, whatever follows", async () => {
  const told: string[] = [];
  const { observation } = await observe(
    [event(a, 1), event(b, 2), "id:\n", event(c), event(a, 3)],
    SSE,
    { onCursor: (id) => void told.push(id) },
  );
  assertEquals([told, observation.position?.lastEventId], [["1"], "3"]);
});
