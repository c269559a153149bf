import { assertEquals, assertRejects } from "@std/assert";
import { RequestError } from "../../../../lib/gateway/failure/failure.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { Redactor } from "../../../../lib/text.ts";
import { StreamRecord } from "../../../../lib/gateway/stream/stream_record.ts";
import { testRows } from "../../../support/tables.ts";
import { redacted } from "../../../support/texts.ts";
import { unchanged } from "../../../../lib/text.ts";

const encoder = new TextEncoder();
const redactor = new Redactor("test-key-0123456789abcdef");

/** What a stream yields in these chunks, and what it leaves in the record. */
async function read(
  chunks: readonly (string | Uint8Array)[],
  record: StreamRecord = new StreamRecord(),
) {
  const source = ReadableStream.from(
    chunks.map((chunk) =>
      typeof chunk === "string" ? encoder.encode(chunk) : chunk
    ),
  );
  const batches = await Array.fromAsync(
    readRunEvents(source, { record, redactor }),
  );
  const events = batches.flatMap((batch) => batch.events);
  const failure = record.failure?.isOutdated === false
    ? record.failure.words
    : undefined;
  return { events, failure, hasObjects: record.hasObjects };
}

const STREAM = `: a comment
event: progress
data: {"event":"progress","node":"plän","status":"started"}

data:{"event":"progress","node":"no space"}
data: {"event":"progress","node":1,"status":null}
data: not JSON
data: ["not an object"]
data: {"event":"unknown"}
data: {"__proto__":{"event":"complete"}}
Data: {"event":"complete"}
 data: {"event":"complete"}
data {"event":"complete"}
\ufeffdata: {"event":"complete"}
x{"event":"complete"}
retry: 10
data: {"event":"complete","node":"n","instructorState":{"explanation":" 日本 \ufeff👩‍💻"}}

data: {"event":"progress","node":"after","status":"complete"}
data: {"event":"complete"}
`;

const progress = (node: string, status: string) => ({
  ...{ type: "progress" as const, node: redacted(node) },
  status: redacted(status),
});

const READ: Awaited<ReturnType<typeof read>> = {
  events: [
    progress("plän", "started"),
    progress("no space", ""),
    progress("", ""),
    {
      type: "reply",
      text: unchanged(" 日本 \ufeff👩‍💻"),
      isNotice: false,
      notUnderstood: redacted(
        '2 progress events had no string as node or status, the first: {"event":"progress","node":"no space"}; 2 data: lines were no JSON object, the first: not JSON; 1 event was not known: "unknown"; 1 JSON object had no "event": {"__proto__":{"event":"complete"}}; 5 lines had no "data:" before them, the first: Data: {"event":"complete"}',
      ),
    },
  ],
  failure: undefined,
  hasObjects: true,
};

Deno.test("readRunEvents() reads progress and complete and skips the rest, wherever the stream is cut (interface 4.1)", async () => {
  const crlf = `\ufeff${STREAM.replaceAll("\n", "\r\n")}`;
  assertEquals(await read([crlf]), READ);
  const whole = encoder.encode(STREAM);
  for (let cut = 0; cut <= whole.length; cut++) {
    const parts = [whole.subarray(0, cut), whole.subarray(cut)];
    assertEquals(await read(parts), READ, `cut at byte ${cut}`);
  }
});

Deno.test("readRunEvents() reads complete without a line end, and invalid UTF-8 as U+FFFD", async () => {
  const invalid = [
    encoder.encode('data: {"event":"complete","messages":["'),
    Uint8Array.of(0xff),
    '"]}',
  ];
  assertEquals((await read(invalid)).events, [{
    type: "reply",
    text: unchanged("\ufffd"),
    isNotice: false,
  }]);
});

/** Streams, `/` between their lines, and the words about a failed run; `-` if it did not fail. */
testRows(
  'readRunEvents() takes {stream} for the failure "{words}"',
  "stream | words",
  `
data: {"event":"error","message":"No"}/                                     | No
data: {"event":"failed","error":{"message":"No"}}/                          | No
data: {"event":"run_failed","detail":"No"}/                                 | No
data: {"event":"run.failed","error":"No"}/                                  | No
data: {"event":"error","code":7}/                                           |
data: {"event":"error","error":"A"}//data: {"event":"error","error":"B"}/   | B
data: {"event":"error","message":"No"}                                      | No
data: {"type":"RUN_ERROR","message":"No"}/                                  | No
data: {"event":"errors","message":"No"}/                                    | -
data: No such model/                                                        | -
event: error/data: {"message":"No"}/                                        | No
event:run_failed/data: {"message":"No"}/                                    | No
event: error/data: No such model/                                           | No such model
event: failed/data: "No"/                                                   | No
event: error/data:/                                                         |
event: error/data: {"event":"progress"}/                                    | -
event: error/data: {"event":"nonsense","message":"No"}/                     | -
data: {"event":"nonsense","type":"error","message":"No"}/                   | -
event: error//data: {"message":"of another event"}/                         | -
event: error/event: message/data: {"message":"No"}/                         | -
event: errors/data: {"message":"No"}/                                       | -
data: {"message":"No"}/event: error/                                        | No
data: {"message":"No"}/id: 1/event: Run_Failed//                            | No
data: No such model/event: run.failed/                                      | No such model
data:/event: error/                                                         |
data: {"message":"No"}//event: error/                                       | -
data: {"message":"No"}/event: errors/                                       | -
data: {"event":"progress"}/event: error/                                    | -
data: {"event":"nonsense","message":"No"}/event: error/                     | -
data: {"message":"A"}/data: {"event":"progress"}/event: error/              | -
{"error":"No"}                                                              | No
/ {"message":"No"}//                                                        | No
{/  "error": {/    "message": "No"/  }/}/                                   | No
{"status":"No"}                                                             | -
["No"]                                                                      | -
{"message":"No"                                                             | -
: comment/{"message":"No"}                                                  | -
{"message":"No"}/data: {"event":"progress"}/                                | -
{"message":"No","more":"${"x".repeat(64 * 1024)}"}                          | -
`,
  async ({ stream, words }) => {
    const { failure = "-" } = await read([stream.replaceAll("/", "\n")]);
    assertEquals(failure, words);
  },
);

Deno.test("readRunEvents() goes on after a failure, and counts what it does not know over all connections", async () => {
  const record = new StreamRecord();
  await read([
    'data: {"type":"a"}\n\ndata: {"event":{}}\n\n',
    "data: 1\n\ndata: []\n\n",
  ], record);
  const text =
    'event: error\ndata: {"code":1}\n\ndata: {"event":"complete","messages":["A"]}\n';
  assertEquals(await read([text], record), {
    events: [{
      type: "reply",
      text: unchanged("A"),
      isNotice: false,
      notUnderstood: redacted(
        '2 JSON objects had no "event", the first: {"type":"a"}; 2 data: lines were no JSON object, the first: 1',
      ),
    }],
    failure: redacted(""),
    hasObjects: true,
  });
});

Deno.test("readRunEvents() refuses a line of more than 250,000 brackets, commas and colons outside of strings, after the events before it", async () => {
  const text = '{"event":"progress","node":"n","more":[';
  const few = `data: ${text}${"1,".repeat(240_000)}1]}\n`;
  const node = '[\\",'.repeat(100_000);
  const quoted = `data: ${JSON.stringify({ event: "progress", node })}\n`;
  const many = `data: ${text}${'["\\\\"],'.repeat(90_000)}1]}\n`;
  assertEquals((await read([few, quoted])).events.length, 2);
  const source = ReadableStream.from([encoder.encode(few + many + few)]);
  const record = new StreamRecord();
  const events = readRunEvents(source, { record, redactor });
  assertEquals((await events.next()).value?.events.length, 1);
  await assertRejects(
    () => events.next(),
    RequestError,
    "contains more than 250000 brackets, commas and colons",
  );
});

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const DEEP_OBJECT = '{"a":'.repeat(80_000) + "0" + "}".repeat(80_000);

/** JSON of many levels, and what of it is shown. */
testRows(
  "readRunEvents() bears JSON of 80,000 levels and more: {where}",
  "where | json | shown",
  `
instead of an event | ${DEEP}                                                              | []
not closed          | ${
    '{"event":'.repeat(100_000)
  }                                        | []
the node            | {"event":"progress","node":${DEEP},"status":"s"}                     | ["","s"]
the state           | {"event":"complete","instructorState":{"explanation":${DEEP_OBJECT}}} | ["Run completed.","complete had no reply, but these fields: instructorState"]
a content           | {"event":"complete","messages":[{"content":${DEEP}}]}                | ["Run completed.","1 message had no text that can be read: {\\"content\\":${
    "[".repeat(69)
  }"]
`,
  async ({ json, shown }) => {
    const { events } = await read([`data: ${json}\n`]);
    const texts = events.flatMap((event) =>
      event.type === "reply"
        ? [event.text, event.notUnderstood]
        : [event.node, event.status]
    );
    assertEquals<unknown>(texts, JSON.parse(shown));
  },
);

Deno.test("readRunEvents() says in a note that a reply could not be read, and what came", async () => {
  const { events: [event] } = await read([
    'data: {"event":"complete","x":"A"}',
  ]);
  const notUnderstood = "complete had no reply, but these fields: x";
  assertEquals(event, {
    type: "reply",
    text: unchanged("Run completed."),
    isNotice: true,
    notUnderstood: redacted(notUnderstood),
    note: redacted(
      `The run completed, but its reply could not be read: ${notUnderstood}. Ask the operator to run agent-gateway --check -p TEXT`,
    ),
  });
});
