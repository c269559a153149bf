import { assertEquals, assertRejects } from "@std/assert";
import { RequestError } from "../../../../lib/gateway/failure/failure.ts";
import type { StreamEvent } from "../../../../lib/gateway.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { Redactor } from "../../../../lib/text.ts";
import { StreamRecord } from "../../../../lib/gateway/stream/stream_record.ts";
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

const STREAM = [
  ": a comment",
  "event: progress",
  'data: {"event":"progress","node":"plän","status":"started"}',
  "",
  'data:{"event":"progress","node":"no space"}',
  'data: {"event":"progress","node":1,"status":null}',
  "data: not JSON",
  'data: ["not an object"]',
  'data: {"event":"unknown"}',
  'data: {"__proto__":{"event":"complete"}}',
  ...["Data: ", " data: ", "data ", "\ufeffdata: ", "x"]
    .map((field) => `${field}{"event":"complete"}`),
  "retry: 10",
  'data: {"event":"complete","node":"n","instructorState":{"explanation":" 日本 \ufeff👩‍💻"}}',
  "",
  'data: {"event":"progress","node":"after","status":"complete"}',
  'data: {"event":"complete"}',
  "",
].join("\n");

const READ: Awaited<ReturnType<typeof read>> = {
  events: [
    { type: "progress", node: redacted("plän"), status: redacted("started") },
    { type: "progress", node: redacted("no space"), status: redacted("") },
    { type: "progress", node: redacted(""), status: redacted("") },
    {
      type: "reply",
      text: unchanged(" 日本 \ufeff👩‍💻"),
      isNotice: false,
      notUnderstood: redacted(
        '2 progress events had no string as node or status: {"event":"progress","node":"no space"}; 2 data: lines were no JSON object: not JSON; 1 event was not known: "unknown"; 1 JSON object had no "event": {"__proto__":{"event":"complete"}}; 5 lines had no "data:" before it: Data: {"event":"complete"}',
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

/** The words about a failed run, by the chunks of its stream; `undefined` if it did not fail. */
const FAILURES:
  readonly (readonly [words: string | undefined, ...chunks: string[]])[] = [
    ["No", 'data: {"event":"error","message":"No"}\n'],
    ["No", 'data: {"event":"failed","error":{"message":"No"}}\n'],
    ["No", 'data: {"event":"run_failed","detail":"No"}\n'],
    ["No", 'data: {"event":"run.failed","error":"No"}\n'],
    ["", 'data: {"event":"error","code":7}\n'],
    [
      "B",
      'data: {"event":"error","error":"A"}\n\ndata: {"event":"error","error":"B"}\n',
    ],
    ["No", 'data: {"event":"error","message":"No"}'],
    ["No", 'data: {"type":"RUN_ERROR","message":"No"}\n'],
    // The name is in a field of its own.
    ["No", 'event: error\ndata: {"message":"No"}\n'],
    ["No", 'event:run_failed\r\ndata: {"message":"No"}\r\n'],
    ["No such model", "event: error\ndata: No such model\n"],
    ["No", 'event: failed\ndata: "No"\n'],
    ["", "event: error\ndata:\n"],
    [undefined, 'event: error\ndata: {"event":"progress"}\n'],
    [undefined, 'event: error\ndata: {"event":"nonsense","message":"No"}\n'],
    [undefined, 'data: {"event":"nonsense","type":"error","message":"No"}\n'],
    [undefined, 'event: error\n\ndata: {"message":"of another event"}\n'],
    [undefined, 'event: error\nevent: message\ndata: {"message":"No"}\n'],
    [undefined, 'event: errors\ndata: {"message":"No"}\n'],
    // The name after its data
    ["No", 'data: {"message":"No"}\nevent: error\n'],
    ["No", 'data: {"message":"No"}\nid: 1\nevent: Run_Failed\n\n'],
    ["No such model", "data: No such model\nevent: run.failed\n"],
    ["", "data:\nevent: error\n"],
    [undefined, 'data: {"message":"No"}\n\nevent: error\n'],
    [undefined, 'data: {"message":"No"}\nevent: errors\n'],
    [undefined, 'data: {"event":"progress"}\nevent: error\n'],
    [undefined, 'data: {"event":"nonsense","message":"No"}\nevent: error\n'],
    [
      undefined,
      'data: {"message":"A"}\ndata: {"event":"progress"}\nevent: error\n',
    ],
    [undefined, 'data: {"event":"errors","message":"No"}\n'],
    [undefined, "data: No such model\n"],
    // A body in place of a stream.
    ["No", '{"error":"No"}'],
    ["No", '\n {"message":"No"}\n\n'],
    ["No", '{\n  "detail": "N', 'o"\n}'],
    ["No", '{\r\n  "error": {\r\n    "message": "No"\r\n  }\r\n}\r\n'],
    [undefined, '{"status":"No"}'],
    [undefined, '["No"]'],
    [undefined, '{"message":"No"'],
    [undefined, ': comment\n{"message":"No"}'],
    [undefined, '{"message":"No"}\ndata: {"event":"progress"}\n'],
    [undefined, `{"message":"No","more":"${"x".repeat(64 * 1024)}"}`],
  ];

for (const [words, ...chunks] of FAILURES) {
  Deno.test(`readRunEvents() takes ${JSON.stringify(chunks.join("").slice(0, 70))} for ${words === undefined ? "no failure" : `the failure "${words}"`}`, async () => {
    assertEquals((await read(chunks)).failure, words);
  });
}

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
        '2 JSON objects had no "event": {"type":"a"}; 2 data: lines were no JSON object: 1',
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
  const source = ReadableStream.from([encoder.encode(few + many)]);
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

const noticeAbout = (notUnderstood: string): StreamEvent => ({
  type: "reply",
  text: unchanged("Run completed."),
  isNotice: true,
  notUnderstood: redacted(notUnderstood),
  note: redacted(
    `The run completed, but its reply could not be read: ${notUnderstood}. Ask the operator to run agent-gateway --check -p TEXT`,
  ),
});
const NESTED: Readonly<Record<string, readonly [string, StreamEvent?]>> = {
  "instead of an object": [DEEP],
  "that is not closed": ['{"event":'.repeat(100_000)],
  "as the node": [`{"event":"progress","node":${DEEP},"status":"s"}`, {
    type: "progress",
    node: redacted(""),
    status: redacted("s"),
  }],
  "as the state": [
    `{"event":"complete","instructorState":{"explanation":${DEEP_OBJECT}}}`,
    noticeAbout("complete had no reply, but these fields: instructorState"),
  ],
  "as a content": [
    `{"event":"complete","messages":[{"content":${DEEP}}]}`,
    noticeAbout(
      `1 message had no text that can be read: {"content":${"[".repeat(69)}`,
    ),
  ],
};

for (const [where, [json, event]] of Object.entries(NESTED)) {
  Deno.test(`readRunEvents() bears JSON of 80,000 levels and more ${where}`, async () => {
    const { events } = await read([`data: ${json}\n`]);
    assertEquals(events, event === undefined ? [] : [event]);
  });
}
