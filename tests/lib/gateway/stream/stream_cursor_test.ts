import { assertEquals } from "@std/assert";
import {
  readRunEvents,
  StreamRecord,
} from "../../../../lib/gateway/stream/run_events.ts";
import { StreamCursor } from "../../../../lib/gateway/stream/stream_cursor.ts";

/**
 * Reads one connection, and returns the events that it delivers. `|` separates the
 * lines of the text: a letter is a progress event, `-` a blank line, `!` complete,
 * all else an `id:` line.
 */
async function read(record: StreamRecord, text: string): Promise<string> {
  const lines = text.split("|").map((part) => {
    if (part === "-") return "";
    if (part === "!") return 'data: {"event":"complete","messages":["!"]}';
    if (/^[a-z]$/.test(part)) {
      return `data: {"event":"progress","node":"${part}"}`;
    }
    return `id: ${part}`;
  });
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  const events = readRunEvents(ReadableStream.from([bytes]), record);
  return (await Array.fromAsync(events)).flat()
    .map((event) => event.type === "progress" ? event.node : event.text)
    .join("");
}

/** The id at which a stream is resumed, after each beginning of it. */
const CURSORS: Readonly<Record<string, readonly [string, string | undefined]>> =
  {
    "counts when its event is delivered": ["1|a", "1"],
    "counts when it follows its event": ["a|1", "1"],
    "counts at the end of a block without an event": ["1|-", "1"],
    "does not count before its event is there": ["1", undefined],
    "does not count before the event of a later block is there": [
      "1|a|-|2",
      "1",
    ],
    "is kept by events without an id": ["1|a|-|b|-", "1"],
    "is cleared by an empty id": ["1|a|-||a|-", undefined],
    "keeps all but one leading space": [" 1 |a|-", " 1 "],
    "is not moved by an id with a NUL": ["1|a|-|2\0|a|-", "1"],
    "is not moved by an id that no header can hold": [
      "1|a|-|2\x01|a|-|3\x7f|a|-",
      "1",
    ],
    "is not moved by an id of 1,025 bytes": [
      `1|a|-|${"x".repeat(1025)}|a|-`,
      "1",
    ],
    "is not moved by an id of 513 characters of two bytes": [
      `1|a|-|${"ü".repeat(513)}|a|-`,
      "1",
    ],
    "is not moved by a long id": [`1|a|-|${"ü".repeat(130_000)}|a|-`, "1"],
    "may hold 1,024 bytes": [`${"x".repeat(1024)}|a|-`, "x".repeat(1024)],
    "may hold a tab": ["1\t2|a|-", "1\t2"],
    "is UTF-8, as a header holds it": ["日ü|a|-", "\xe6\x97\xa5\xc3\xbc"],
  };

for (const [behaviour, [text, expected]] of Object.entries(CURSORS)) {
  Deno.test(`the last event id ${behaviour}`, async () => {
    const record = new StreamRecord();
    await read(record, text);
    assertEquals(record.cursor.lastEventId, expected);
  });
}

/** The first connection / the one that resumes / what that delivers / the last id. */
const RESUMED: Readonly<Record<string, string>> = {
  "new events are delivered": "1|a|- / 2|b|-|3|c|- / bc / 3",
  "old events are left out": "1|a|-|2|b|- / 1|a|-|2|b|-|3|c|- / c / 3",
  "old events are left out, ids last":
    "a|1|-|b|2|- / a|1|-|b|2|-|c|3|- / c / 3",
  "old events move no cursor": "1|a|-|2|b|- / 1|a|- /  / 2",
  "an event before any id goes the way of the id it resumes after":
    "1|a|- / a|-|1|a|-|! / ! / 1",
  "an event under an old id is new if its data is new (numbers of each connection)":
    "1|a|-|2|b|- / 1|c|-|2|d|- / cd / 2",
  "an event without an id after an old one is old":
    "1|a|-|b|-|2|c|- / 1|a|-|b|-|2|c|-|d|- /  / 2",
  "an event without an id after a new one is new":
    "1|a|- / 1|a|-|2|b|-|c|- / bc / 2",
  "both events of a block go the same way":
    "1|a|b|- / 1|a|b|-|2|c|d|- / cd / 2",
  "an empty id is no id": "1|a|-|2|b|- / 1|a|-||b|-|3|c|- / c / 3",
  "an empty id after a new event clears the cursor":
    "1|a|- / 2|b|-||c|- / bc / undefined",
  "an event at the very end, without an id or a blank line, is delivered":
    "1|a|- / 2|b|-|c / bc / 2",
  "events without blank lines are delivered": "1|a|- / 2|b|c|d / bcd / 2",
  "complete is new, whatever its id": "1|a|- / 1|a|-|1|! / ! / 1",
  "complete follows a new event whose block has no id":
    "1|a|- / 2|b|-|c|! / bc! / 2",
  "a new event may share its id with the one before":
    "1|a|-|1|b|- / 2|c|-|2|d|- / cd / 2",
  "all events are new after an id that was cleared":
    "1|a|-||b|- / 1|a|-||b|- / ab / undefined",
};

for (const [what, connections] of Object.entries(RESUMED)) {
  Deno.test(`on a connection that resumes a stream, ${what}`, async () => {
    const [first = "", second = "", delivered, last] = connections.split(" / ");
    const record = new StreamRecord();
    await read(record, first);
    assertEquals(await read(record, second), delivered);
    assertEquals(`${record.cursor.lastEventId}`, last);
  });
}

Deno.test("an event whose connection was lost before its id is known comes with the next one", async () => {
  const record = new StreamRecord();
  await read(record, "1|a|-");
  record.cursor.connect();
  record.cursor.step({ type: "progress", node: "b", status: "" }, "b");
  assertEquals(record.cursor.take(), []);
  assertEquals(await read(record, "b|2|-"), "b");
});

Deno.test("the ids of the last 10,000 events are remembered", () => {
  const cursor = new StreamCursor();
  const nodes = Array.from({ length: 10_001 }, (_, index) => `${index}`);
  const connect = () => {
    cursor.connect();
    for (const node of nodes) {
      cursor.id(node);
      cursor.step({ type: "progress", node, status: "" }, node);
      cursor.endBlock();
    }
    return cursor.take();
  };
  assertEquals(connect().length, 10_001);
  assertEquals(connect(), [{ type: "progress", node: "0", status: "" }]);
});
