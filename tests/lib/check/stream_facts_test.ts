import { assertEquals } from "@std/assert";
import type { Line } from "../../../lib/check/report.ts";
import { StreamFacts } from "../../../lib/check/stream_facts.ts";
import {
  readRunEvents,
  StreamRecord,
} from "../../../lib/gateway/stream/run_events.ts";
import { Redactor } from "../../../lib/text.ts";
import { FakeClock } from "../../support/clocks.ts";
import {
  complete,
  progress,
  type StreamEvent,
} from "../../support/service/behaviours.ts";

const KEY = "test-key-0123456789abcdef";

/** What a connection brings: text, and the milliseconds that pass in between. */
type Pieces = readonly (string | number)[];

/** An event, and its id if it has one. */
function event(value: StreamEvent, id?: number): string {
  const line = id === undefined ? "" : `id: ${id}\n`;
  return `${line}data: ${JSON.stringify(value)}\n\n`;
}

const steps = [progress("a", ""), progress("b", ""), progress("c", "")];
const done = complete("Done.");
const [first = "", ...others] = [...steps, done]
  .map((value, index) => event(value, index + 1));
const SSE = { "content-type": "text/event-stream" };

interface Circumstances {
  readonly headers?: Readonly<Record<string, string>>;
  readonly proxy?: string;
  /** The milliseconds until the run was accepted. */
  readonly accepted?: number;
  /** The milliseconds after each connection. */
  readonly pause?: number;
}

/** Notes a run with these connections, as the check does. */
async function note(
  connections: readonly Pieces[],
  { headers = SSE, accepted = 0, pause = 0 }: Circumstances = {},
): Promise<StreamFacts> {
  using clock = new FakeClock();
  const facts = new StreamFacts(new Redactor(KEY));
  clock.time += accepted;
  facts.begin();
  const record = new StreamRecord(facts);
  for (const pieces of connections) {
    const chunks = async function* () {
      for (const piece of pieces) {
        if (typeof piece === "number") clock.time += piece;
        else yield await Promise.resolve(new TextEncoder().encode(piece));
      }
    };
    facts.open(new Headers(headers));
    await Array.fromAsync(readRunEvents(chunks(), record));
    clock.time += pause;
  }
  return facts;
}

function show({ name, state, text }: Line): string {
  return `${name}: ${state} ${text}`;
}

Deno.test("StreamFacts tells in order what a good run was like", async () => {
  const facts = await note([[2500, first, 500, ": hi\n\n", ...others]], {
    headers: { ...SSE, server: "nginx/1.22", via: "1.1 \x07varnish" },
  });
  const lines = facts.lines(undefined);
  assertEquals(lines.map(show), [
    "stream: ok text/event-stream, nginx/1.22, 1.1 varnish",
    "events: ok 4 known, 0 unknown, the first after 2.5 s, the last after 3.0 s",
    "live: ok events arrived as they happened",
    "ids: ok all are different",
    "silence: ok 1 comments came",
    "lines: ok each data: contains a JSON object",
    "end: ok the run was complete after 3.0 s",
    "reply: ok in instructorState.explanation",
  ]);
  assertEquals(
    lines.map(({ milliseconds, at }) => milliseconds ?? at),
    [0, 3000, 2500, undefined, undefined, undefined, 3000, undefined],
  );
});

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** The beginning of a line, and what one or more connections bring. */
const LINES: readonly (readonly [
  line: string,
  connections: readonly Pieces[],
  circumstances?: Circumstances,
])[] = [
  [
    "stream: note no content type, left out, because",
    [[event(done)]],
    { headers: { server: KEY } },
  ],
  ["events: failed 0 known, 0 unknown; send", [["\n"]]],
  [
    "live: note all events arrived at once after 2.0 s: buffered, most likely by the service (flush after each event); see docs/service.md",
    [[2001, first, 100, ...others]],
  ],
  [
    "live: note all events arrived at once after 3.0 s: buffered, most likely by the service (flush after each event), or by nginx, or by 1.1 a, or by your proxy http://p:1; see",
    [[3000, first, ...others]],
    { headers: { ...SSE, server: "nginx", via: "1.1 a" }, proxy: "http://p:1" },
  ],
  [
    "live: note all events arrived at once after 5.0 s: ",
    [[first, ...others]],
    { accepted: 5000 },
  ],
  [
    "live: ok events arrived as they happened",
    [[2001, first, 101, ...others]],
  ],
  ["live: - not tested: needs a run of", [[2000, first, ...others]]],
  ["live: - not tested: needs a run of", [[9000, event(done)]]],
  ["ids: - no event came before the reply", [[event(done)]]],
  ["ids: ok all are different", [[event(done, 1)]]],
  ["ids: ok all are different", [[first], [first, ...others]]],
  [
    "silence: note nothing came for 15.0 s, with 1 comments in all; send a",
    [[first, 15_000, ": hi\n\n", ...others]],
  ],
  [
    "silence: - not tested: needs a pause of 15 s",
    [[first, 14_999, ...others]],
  ],
  [
    "silence: ok 1 comments came",
    [[first, 14_999, ": hi\n\n", 14_999, ...others]],
  ],
  [
    `lines: note neither events nor comments, ignored: 2; the first: ${
      "x".repeat(99)
    }`,
    [[`${"x".repeat(200)}\n\nretry: 1\ndata: [1]\n`, first]],
  ],
  ["lines: - neither events nor comments, ignored: 1; the", [["data: x\n"]]],
  ["silence: - not tested", [[first], [...others]], { pause: 20_000 }],
  [
    "end: note the run was complete after 0.3 s; cuts in its stream: 2, resumed after 0.0 s, 0.3 s",
    [[first], [250, ...others.slice(0, 1)], [50, first, ...others]],
  ],
  ["end: failed the run was not complete", [[first]]],
  ["reply: - the run was not complete", [[first]]],
  [
    "reply: ok in messages[1] of 2, without a role",
    [[data({ event: "complete", messages: ["no", "Hi"] })]],
  ],
  [
    "reply: ok in messages[0] of 1, from an assistant",
    [[data({ event: "complete", messages: [{ role: "ai", content: "Hi" }] })]],
  ],
];

for (const [line, connections, circumstances = {}] of LINES) {
  Deno.test(`StreamFacts tells "${line.slice(0, 70)}" of ${JSON.stringify(connections).slice(0, 50)}`, async () => {
    const facts = await note(connections, circumstances);
    const name = line.split(":")[0];
    const shown = facts.lines(undefined, circumstances.proxy)
      .filter((line) => line.name === name)
      .map((found) => show(found).slice(0, line.length));
    assertEquals(shown, [line]);
  });
}

Deno.test("StreamFacts knows the id after which a stream that is lost just before the reply is resumed", async () => {
  const last = async (...pieces: Pieces) => (await note([pieces])).lastEventId;
  assertEquals(await last(first, ...others), "3");
  assertEquals(await last(first, event(done)), "1");
  assertEquals(await last(...others.slice(-1)), undefined);
  assertEquals(await last(first), undefined);
});
