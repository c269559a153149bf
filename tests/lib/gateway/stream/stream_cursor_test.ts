import { assertEquals } from "@std/assert";
import type { StreamEvent } from "../../../../lib/gateway.ts";
import { ConnectionCursor } from "../../../../lib/gateway/stream/stream_cursor.ts";
import fc from "../../../support/generated.ts";
import { times } from "../../../support/repetitions.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { StreamRecord } from "../../../../lib/gateway/stream/stream_record.ts";

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
  return (await Array.fromAsync(events)).flatMap(({ events }) => events)
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
    "is not moved by an id of 513 characters of two bytes": [
      `1|a|-|${"ü".repeat(513)}|a|-`,
      "1",
    ],
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
  "old events are skipped if it starts over":
    "1|a|-|2|b|- / 1|a|-|2|b|-|3|c|- / c / 3",
  "old events are skipped without blank lines": "1|a|2|b / 1|a|2|b|3|c / c / 3",
  "old events move no cursor": "1|a|-|2|b|- / 1|a|- /  / 2",
  "it does not start over if its first id is another one":
    "1|a|-|2|b|-|3|c|- / 2|b|-|3|c|-|4|d|- / bcd / 4",
  "the last event is skipped if it comes again":
    "1|a|-|2|b|- / 2|b|-|3|c|- / c / 3",
  "so are all that have its id": "1|a|-|1|b|- / 1|a|-|1|b|-|2|c|- / c / 2",
  "all is skipped that numbers of each connection repeat, but complete":
    "1|a|-|2|b|- / 1|c|-|2|d|-|3|e|- / e / 3",
  "an event without an id is skipped while it repeats":
    "1|a|-|2|c|- / 1|a|-|b|-|2|c|-|d|- / d / 2",
  "an event before any id is delivered": "1|a|- / b|-|1|a|-|c|- / bc / 1",
  "both events of a block go the same way":
    "1|a|b|- / 1|a|b|-|2|c|d|- / cd / 2",
  "an empty id is no id": "1|a|-|2|b|- / 1|a|-||b|-|2|b|-|3|c|- / c / 3",
  "a cursor that is cleared again loses nothing":
    "|a|-|1|b|-|2|c|- / |a|-|1|b|-|2|c|-|3|d|- / ad / 3",
  "an empty id after a new event clears the cursor":
    "1|a|- / 2|b|-||c|- / bc / undefined",
  "an event at the very end, without an id or a blank line, is delivered":
    "1|a|- / 2|b|-|c / bc / 2",
  "complete is delivered, whatever its id": "1|a|- / 1|! / ! / 1",
  "complete is delivered at once, without an id": "1|a|- / ! / ! / 1",
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
  const delivered: StreamEvent[] = [];
  const cut = new ConnectionCursor(
    record.cursor,
    (event) => delivered.push(event),
  );
  cut.event({ type: "progress", node: "b", status: "" });
  assertEquals(delivered, []);
  assertEquals(await read(record, "b|2|-"), "b");
});

/** A block of a stream with one event: where its `id:` line is, if it has one. */
type Block = "first" | "last" | "none" | "empty";

/** A connection that is lost, or ends, after some bytes. */
interface Connection {
  /** Whether the service continues after the last id, or starts over. */
  readonly resumes: boolean;
  readonly length: number;
  readonly isLost: boolean;
  readonly chunkBytes: number;
}

/** The stream of a run from the block after an id on. */
function textAfter(blocks: readonly Block[], id: string | undefined): string {
  const start = id === undefined ? 0 : Number(id) + 1;
  const texts = blocks.map((id, index) => {
    const lines = [`data: {"event":"progress","node":"${index}"}`];
    if (id === "first") lines.unshift(`id: ${index}`);
    if (id === "last") lines.push(`id: ${index}`);
    if (id === "empty") lines.unshift("id:");
    return `${lines.join("\n")}\n\n`;
  });
  return `${texts.slice(start).join("")}data: {"event":"complete"}\n\n`;
}

/** The chunks of a connection. */
async function* chunksOf(
  text: string,
  { length, isLost, chunkBytes }: Connection,
): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text.slice(0, length));
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield await Promise.resolve(bytes.subarray(start, start + chunkBytes));
  }
  if (isLost) throw new Deno.errors.ConnectionReset();
}

/** Reads a stream, as long as it may be asked for again. Returns the blocks whose events were delivered. */
async function follow(
  blocks: readonly Block[],
  connections: readonly Connection[],
): Promise<{ readonly nodes: readonly number[]; readonly isWhole: boolean }> {
  const record = new StreamRecord();
  const nodes: number[] = [];
  for (const connection of connections) {
    const { lastEventId } = record.cursor;
    if (nodes.length > 0 && lastEventId === undefined) break;
    const id = connection.resumes ? lastEventId : undefined;
    const chunks = chunksOf(textAfter(blocks, id), connection);
    try {
      for await (const { events } of readRunEvents(chunks, record)) {
        for (const event of events) {
          if (event.type === "reply") return { nodes, isWhole: true };
          nodes.push(Number(event.node));
        }
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    }
  }
  return { nodes, isWhole: false };
}

const someBlocks = fc.oneof(
  fc.array(fc.constant<Block>("first"), { minLength: 1, maxLength: 12 }),
  fc.array(fc.constantFrom<Block>("first", "last", "none", "empty"), {
    maxLength: 8,
  }),
);
const someConnections = fc.tuple(
  fc.array(
    fc.record({
      resumes: fc.boolean(),
      length: fc.nat(400),
      isLost: fc.boolean(),
      chunkBytes: fc.integer({ min: 1, max: 200 }),
    }),
    { maxLength: 6 },
  ),
  fc.boolean(),
).map(([connections, resumes]): readonly Connection[] => [
  ...connections,
  { resumes, length: Infinity, isLost: false, chunkBytes: 64 },
]);

Deno.test("a stream over generated connections delivers its events in order, and all that have an id unless it cannot be resumed", async () => {
  let [cut, resumed] = [0, 0];
  const check = async (
    blocks: readonly Block[],
    connections: readonly Connection[],
  ) => {
    const { nodes, isWhole } = await follow(blocks, connections);
    const once = [...new Set(nodes)];
    assertEquals(once, once.toSorted((a, b) => a - b));
    // An event comes twice only if it has no id, or was lost before its id.
    const twice = nodes.filter((node, i) => nodes.indexOf(node) < i);
    assertEquals(twice.filter((node) => blocks[node] === "first"), []);
    const missing = [...blocks.entries()].filter(([node, id]) =>
      (id === "first" || id === "last") && !nodes.includes(node)
    );
    if (isWhole) assertEquals(missing, []);
    else cut++;
    // With ids alone, nothing is lost.
    if (blocks.some((id) => id !== "first")) return;
    assertEquals(isWhole, true);
    if (connections.length > 1) resumed++;
  };
  const property = fc.asyncProperty(someBlocks, someConnections, check);
  await fc.assert(property, { numRuns: times(10_000) });
  assertEquals([cut > times(200), resumed > times(500)], [true, true]);
});
