import { assertEquals } from "@std/assert";
import { readRunEvents } from "../../../lib/gateway/run_events.ts";
import { StreamCursor } from "../../../lib/gateway/stream_cursor.ts";

/**
 * Reads one connection. `|` separates the lines of the text: a number is an `id:`
 * line, a letter a progress event, `-` a blank line, `!` complete.
 */
async function read(cursor: StreamCursor, text: string): Promise<string> {
  const lines = text.split("|").map((part) => {
    if (part === "-") return "";
    if (part === "!") return 'data: {"event":"complete","messages":["!"]}';
    if (/^[a-z]$/.test(part)) {
      return `data: {"event":"progress","node":"${part}"}`;
    }
    return `id: ${part}`;
  });
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  const events = readRunEvents(ReadableStream.from([bytes]), { cursor });
  return (await Array.fromAsync(events)).flat()
    .map((event) => event.event === "progress" ? event.node : event.reply)
    .join("");
}

const CURSORS: readonly (readonly [string, string, string | undefined])[] = [
  ["counts when its event is delivered", "1|a", "1"],
  ["counts when it follows its event", "a|1", "1"],
  ["counts at the end of a block without an event", "1|-", "1"],
  ["does not count before its event is there", "1", undefined],
  ["does not count before the event of a later block is there", "1|a|-|2", "1"],
  ["is cleared by an empty id", "1|a|-||a|-", undefined],
  ["ignores an id with a NUL", "1\0|a|-", undefined],
  ["keeps all but one leading space", " 1 |a|-", " 1 "],
];

for (const [behaviour, text, expected] of CURSORS) {
  Deno.test(`the last event id ${behaviour}`, async () => {
    const cursor = new StreamCursor();
    await read(cursor, text);
    assertEquals(cursor.lastEventId, expected);
  });
}

const RESUMED: readonly (readonly [string, string, string, string, string])[] =
  [
    ["new events are delivered", "1|a|-", "2|b|-|3|c|-", "bc", "3"],
    ["old events are left out", "1|a|-|2|b|-", "1|a|-|2|b|-|3|c|-", "c", "3"],
    [
      "old events are left out, ids last",
      "a|1|-|b|2|-",
      "a|1|-|b|2|-|c|3|-",
      "c",
      "3",
    ],
    ["old events move no cursor", "1|a|-|2|b|-", "1|a|-", "", "2"],
    [
      "an event before any id goes the way of the id it resumes after",
      "1|a|-",
      "a|-|1|b|-|!",
      "!",
      "1",
    ],
    [
      "an event without an id after an old one is old",
      "1|a|-|b|-|2|c|-",
      "1|a|-|b|-|2|c|-|d|-",
      "",
      "2",
    ],
    [
      "an event without an id after a new one is new",
      "1|a|-",
      "1|a|-|2|b|-|c|-",
      "bc",
      "2",
    ],
    [
      "both events of a block go the same way",
      "1|a|b|-",
      "1|a|b|-|2|c|d|-",
      "cd",
      "2",
    ],
    ["an empty id is no id", "1|a|-|2|b|-", "1|a|-||b|-|3|c|-", "c", "3"],
    [
      "an empty id after a new event clears the cursor",
      "1|a|-",
      "2|b|-||c|-",
      "bc",
      "",
    ],
    [
      "events without blank lines are delivered",
      "1|a|-",
      "2|b|c|d",
      "bcd",
      "2",
    ],
    ["complete is new, whatever its id", "1|a|-", "1|a|-|1|!", "!", "1"],
    [
      "complete follows a new event whose block has no id",
      "1|a|-",
      "2|b|-|c|!",
      "bc!",
      "2",
    ],
    [
      "a new event may share its id with the one before",
      "1|a|-|1|b|-",
      "2|c|-|2|d|-",
      "cd",
      "2",
    ],
  ];

for (const [what, before, after, delivered, last] of RESUMED) {
  Deno.test(`on a connection that resumes a stream, ${what}`, async () => {
    const cursor = new StreamCursor();
    await read(cursor, before);
    assertEquals(await read(cursor, after), delivered);
    assertEquals(cursor.lastEventId ?? "", last);
  });
}

Deno.test("without a last id a connection is no resumption, and all events are new", async () => {
  const cursor = new StreamCursor();
  await read(cursor, "1|a|-||b|-");
  assertEquals(await read(cursor, "1|a|-||b|-"), "ab");
});

Deno.test("an event whose connection was lost before its id is known comes with the next one", async () => {
  const cursor = new StreamCursor();
  await read(cursor, "1|a|-");
  cursor.connect();
  cursor.progress({ event: "progress", node: "b", status: "" });
  assertEquals(cursor.take(), []);
  assertEquals(await read(cursor, "b|2|-"), "b");
});
