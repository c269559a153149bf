import { assertEquals } from "@std/assert";
import type { StreamEvent } from "../../../../lib/gateway.ts";
import { ConnectionCursor } from "../../../../lib/gateway/stream/stream_cursor.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { Redactor } from "../../../../lib/text.ts";
import { StreamRecord } from "../../../../lib/gateway/stream/stream_record.ts";
import { testRows } from "../../../support/tables.ts";
import { redacted } from "../../../support/texts.ts";

/**
 * Reads one connection, and returns the events that it delivers. commas separate
 * the lines of the text: a letter is a progress event, `-` a blank line, `!` complete,
 * all else an `id:` line.
 */
async function read(record: StreamRecord, text: string): Promise<string> {
  const lines = text.split(",").map((part) => {
    if (part === "-") return "";
    if (part === "!") return 'data: {"event":"complete","messages":["!"]}';
    if (/^[a-z]$/.test(part)) {
      return `data: {"event":"progress","node":"${part}"}`;
    }
    return `id: ${part}`;
  });
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  const source = ReadableStream.from([bytes]);
  const redactor = new Redactor("test-key-0123456789abcdef");
  const events = readRunEvents(source, { record, redactor });
  return (await Array.fromAsync(events)).flatMap(({ events }) => events)
    .map((event) => event.type === "progress" ? event.node : event.text)
    .join("");
}

/** The lines of a connection, and the id at which the stream is resumed after it. */
testRows(
  "the last event id {what}",
  "what | lines | id",
  `
counts when its event is delivered                 | 1,a                           | "1"
counts when it follows its event                   | a,1                           | "1"
counts at the end of a block without an event      | 1,-                           | "1"
does not count before its event is there           | 1                             |
does not count before the event of a later block   | 1,a,-,2                       | "1"
is kept by events without an id                    | 1,a,-,b,-                     | "1"
is cleared by an empty id                          | 1,a,-,,a,-                    |
keeps all but one leading space                    | -, 1 ,a,-                     | " 1 "
is not moved by an id with a NUL                   | 1,a,-,2\0,a,-                 | "1"
is not moved by an id that no header can hold      | 1,a,-,2\x01,a,-,3\x7f,a,-     | "1"
is not moved by an id of 513 characters of 2 bytes | 1,a,-,${
    "ü".repeat(513)
  },a,-  | "1"
is not moved by an id of 1,025 bytes               | 1,a,-,${
    "x".repeat(1025)
  },a,- | "1"
may hold 1,024 bytes                               | ${
    "x".repeat(1024)
  },a,-       | "${"x".repeat(1024)}"
may hold a tab                                     | 1\t2,a,-                      | "1\\t2"
is UTF-8, as a header holds it                     | 日ü,a,-                        | "\xe6\x97\xa5\xc3\xbc"
`,
  async (row) => {
    const record = new StreamRecord();
    await read(record, row.lines);
    const id = row.id === "" ? undefined : JSON.parse(row.id);
    assertEquals(record.cursor.lastEventId, id);
  },
);

testRows(
  "on a connection that resumes a stream, {what}",
  "what | first | second | delivered | last",
  `
new events are delivered                              | 1,a,-       | 2,b,-,3,c,-         | bc        | 3
old events are skipped if it starts over              | 1,a,-,2,b,- | 1,a,-,2,b,-,3,c,-   | c         | 3
old events are skipped without blank lines            | 1,a,2,b     | 1,a,2,b,3,c         | c         | 3
old events move no cursor                             | 1,a,-,2,b,- | 1,a,-               |           | 2
it does not start over if its first id is another one | 1,a,-,2,b,-,3,c,- | 2,b,-,3,c,-,4,d,- | bcd   | 4
the last event is skipped if it comes again           | 1,a,-,2,b,- | 2,b,-,3,c,-         | c         | 3
so are all that have its id                           | 1,a,-,1,b,- | 1,a,-,1,b,-,2,c,-   | c         | 2
all is skipped that numbers of each connection repeat, but complete | 1,a,-,2,b,- | 1,c,-,2,d,-,3,e,- | e | 3
an event without an id is skipped while it repeats    | 1,a,-,2,c,- | 1,a,-,b,-,2,c,-,d,- | d         | 2
an event before any id is delivered                   | 1,a,-       | b,-,1,a,-,c,-       | bc        | 1
both events of a block go the same way                | 1,a,b,-     | 1,a,b,-,2,c,d,-     | cd        | 2
an empty id is no id                                  | 1,a,-,2,b,- | 1,a,-,,b,-,2,b,-,3,c,- | c      | 3
a cursor that is cleared again loses nothing          | ,a,-,1,b,-,2,c,- | ,a,-,1,b,-,2,c,-,3,d,- | ad | 3
an empty id after a new event clears the cursor       | 1,a,-       | 2,b,-,,c,-          | bc        | undefined
an event at the very end, without an id or a blank line, is delivered | 1,a,- | 2,b,-,c   | bc        | 2
complete is delivered, whatever its id                | 1,a,-       | 1,!                 | !         | 1
complete is delivered at once, without an id          | 1,a,-       | !                   | !         | 1
all events are new after an id that was cleared       | 1,a,-,,b,-  | 1,a,-,,b,-          | ab        | undefined
`,
  async (row) => {
    const record = new StreamRecord();
    await read(record, row.first);
    assertEquals(await read(record, row.second), row.delivered);
    assertEquals(`${record.cursor.lastEventId}`, row.last);
  },
);

Deno.test("an event whose connection was lost before its id is known comes with the next one", async () => {
  const record = new StreamRecord();
  await read(record, "1,a,-");
  const delivered: StreamEvent[] = [];
  const cut = new ConnectionCursor(
    record.cursor,
    (event) => delivered.push(event),
  );
  cut.event({ type: "progress", node: redacted("b"), status: redacted("") });
  assertEquals(delivered, []);
  assertEquals(await read(record, "b,2,-"), "b");
});
