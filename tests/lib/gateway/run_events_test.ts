import { assertEquals, assertRejects } from "@std/assert";
import {
  COMPLETION_NOTICE,
  LineTooLongError,
  readRunEvents,
  type RunEvent,
  selectReply,
} from "../../../lib/gateway/run_events.ts";

const STREAM = [
  ": a comment",
  "event: progress",
  'data: {"event":"progress","node":"plän","status":"started"}',
  "",
  'data:{"event":"progress","node":"no space"}',
  "data: not JSON",
  'data: ["not an object"]',
  'data: {"event":"unknown"}',
  "retry: 10",
  'data: {"event":"complete","instructorState":{"explanation":"日本 👩‍💻"}}',
  "",
  'data: {"event":"progress","node":"after","status":"complete"}',
  "",
].join("\n");

const EVENTS: readonly RunEvent[] = [
  { event: "progress", node: "plän", status: "started" },
  { event: "progress", node: "no space", status: "" },
  { event: "complete", reply: "日本 👩‍💻" },
];

async function read(
  chunks: Iterable<Uint8Array>,
  options?: Parameters<typeof readRunEvents>[1],
): Promise<RunEvent[]> {
  const source = ReadableStream.from(chunks);
  return (await Array.fromAsync(readRunEvents(source, options))).flat();
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("readRunEvents() reads progress and complete and skips the rest (interface 4.1, rules 2 to 5)", async () => {
  assertEquals(await read([bytes(STREAM)]), EVENTS);
});

Deno.test("readRunEvents() gives the same events wherever the stream is cut (rule 1)", async () => {
  const whole = bytes(STREAM);
  for (let cut = 0; cut <= whole.length; cut++) {
    const parts = [whole.subarray(0, cut), whole.subarray(cut)];
    assertEquals(await read(parts), EVENTS, `cut at byte ${cut}`);
  }
});

Deno.test("readRunEvents() gives the same events one byte at a time", async () => {
  const single = Array.from(bytes(STREAM), (byte) => Uint8Array.of(byte));
  assertEquals(await read(single), EVENTS);
});

Deno.test("readRunEvents() gives the same events with \\r\\n, wherever it is cut", async () => {
  const whole = bytes(STREAM.replaceAll("\n", "\r\n"));
  for (let cut = 0; cut <= whole.length; cut++) {
    const parts = [whole.subarray(0, cut), whole.subarray(cut)];
    assertEquals(await read(parts), EVENTS, `cut at byte ${cut}`);
  }
});

Deno.test("readRunEvents() drops a byte order mark and replaces invalid UTF-8", async () => {
  const stream = Uint8Array.of(
    0xef,
    0xbb,
    0xbf,
    ...bytes('data: {"event":"progress","node":"'),
    0xff,
    ...bytes('","status":1}\n'),
  );
  assertEquals(await read([stream]), [
    { event: "progress", node: "\ufffd", status: "" },
  ]);
});

Deno.test("readRunEvents() refuses a line over the limit", async () => {
  const stream = bytes(`data: ${"x".repeat(100)}\n`);
  await assertRejects(
    () => read([stream], { maxLineBytes: 100 }),
    LineTooLongError,
    "a line of the stream is longer than 100 bytes",
  );
  assertEquals(await read([stream], { maxLineBytes: 106 }), []);
});

const CURSORS: readonly (readonly [string, string, (string | undefined)[]])[] =
  [
    ["counts when its event is delivered", "id: 1\nD\n", ["1"]],
    ["counts when it follows its event", "D\nid: 1\n", ["1"]],
    ["counts at the end of a block without an event", "id: 1\n\n", ["1"]],
    ["does not count before its event is there", "id: 1\n", []],
    ["is cleared by an empty id", "id: 1\nD\n\nid:\nD\n\n", ["1", undefined]],
    ["ignores an id with a NUL", "id: 1\0\nD\n\n", []],
    ["keeps all but one leading space", "id:  1 \nD\n\n", [" 1 "]],
  ];

for (const [behaviour, text, expected] of CURSORS) {
  Deno.test(`the cursor of readRunEvents() ${behaviour}`, async () => {
    const cursors: (string | undefined)[] = [];
    const stream = text.replaceAll("D", 'data: {"event":"progress"}');
    await read([bytes(stream)], { onCursor: (id) => cursors.push(id) });
    assertEquals(cursors, expected);
  });
}

const user = { role: "user", content: "question" };

const REPLIES: readonly (readonly [string, Record<string, unknown>, string])[] =
  [
    [
      "the explanation first (interface 2, priority 1)",
      {
        instructorState: { explanation: "E" },
        messages: [{ role: "assistant", content: "M" }],
      },
      "E",
    ],
    [
      "the messages if the explanation is blank (priority 2)",
      { instructorState: { explanation: " \n" }, messages: ["M"] },
      "M",
    ],
    [
      "the messages if the explanation is not a string",
      { instructorState: { explanation: 1 }, messages: ["M"] },
      "M",
    ],
    [
      "the last message of role assistant",
      {
        messages: [
          { role: "assistant", content: "1" },
          { role: "assistant", content: "2" },
          user,
        ],
      },
      "2",
    ],
    [
      "a message of role ai",
      { messages: [{ role: "ai", text: "A" }, user] },
      "A",
    ],
    [
      "a message of type ai",
      { messages: [{ type: "ai", text: "A" }, user] },
      "A",
    ],
    [
      "the text parts of a message, joined",
      {
        messages: [{
          type: "assistant",
          content: [
            { type: "text", text: "a" },
            { type: "image", text: "no" },
            { type: "text", text: "b" },
          ],
        }],
      },
      "ab",
    ],
    [
      "the last message if none is an assistant's",
      { messages: ["first", { text: "last" }, { tool: true }] },
      "last",
    ],
    [
      "the notice rather than the user's own words",
      { messages: [user, { role: "assistant", content: "" }] },
      COMPLETION_NOTICE,
    ],
    ["the notice if there is nothing (priority 3)", {}, COMPLETION_NOTICE],
    [
      "the notice if messages is not an array",
      { messages: "M", instructorState: null },
      COMPLETION_NOTICE,
    ],
  ];

for (const [what, payload, expected] of REPLIES) {
  Deno.test(`selectReply() selects ${what}`, () => {
    assertEquals(selectReply(payload), expected);
  });
}
