import { assertEquals, assertRejects } from "@std/assert";
import {
  LineTooLongError,
  readRunEvents,
  type RunEvent,
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
