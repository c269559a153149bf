import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  LineTooLongError,
  readRunEvents,
  type RunEvent,
} from "../../../lib/gateway/run_events.ts";
import { StreamCursor } from "../../../lib/gateway/stream_cursor.ts";

const encoder = new TextEncoder();

/** Repeats a failure, whose report names the seed: `GENERATED_SEED=N deno task test`. */
const SEED = Deno.env.get("GENERATED_SEED");
const REPEATED = SEED === undefined ? {} : { seed: Number(SEED) };

/** The output of a reader of a stream. */
interface Told {
  readonly events: readonly (RunEvent | "too long")[];
  /** The last event id, whenever it changed; empty where there is none. */
  readonly cursors: readonly string[];
}

/** Reads a stream. Ids that are replaced within one chunk are not recorded. */
async function read(
  chunks: Iterable<Uint8Array>,
  maxLineBytes: number,
): Promise<Told> {
  const events: (RunEvent | "too long")[] = [];
  const cursors: string[] = [];
  const cursor = new StreamCursor();
  const look = () => cursors.push(cursor.lastEventId ?? "");
  look();
  const batches = readRunEvents(ReadableStream.from(chunks), {
    maxLineBytes,
    cursor,
  });
  try {
    for await (const batch of batches) {
      events.push(...batch);
      look();
    }
  } catch (error) {
    if (!(error instanceof LineTooLongError)) throw error;
    events.push("too long");
  }
  look();
  return { events, cursors: changes(cursors) };
}

function changes(values: readonly string[]): readonly string[] {
  return values.filter((value, i) => value !== values[i - 1]);
}

/** The output that does not depend on the chunks. */
function inTheEnd({ events, cursors }: Told): unknown {
  return { events, cursor: cursors.at(-1) };
}

/** The expected output, computed from the whole text. */
function expected(bytes: Uint8Array, maxLineBytes: number): Told {
  const ended = new TextDecoder().decode(bytes).split("\n");
  const rest = meaning(ended.pop() ?? "");
  const lines = ended.map((line) => meaning(line.replace(/\r$/, "")));
  // Latin-1 has a character for each byte.
  const long = new TextDecoder("latin1").decode(bytes).split("\n")
    .findIndex((line) => line.length > maxLineBytes);
  if (isEvent(rest)) lines.push(rest);
  const events: (RunEvent | "too long")[] = [];
  const cursors = [""];
  for (
    const [i, line] of lines.slice(0, long < 0 ? undefined : long).entries()
  ) {
    const before = lines.slice(0, i);
    const block = before.slice(before.lastIndexOf("blank") + 1);
    const delivered = block.some(isEvent);
    const pending = delivered ? undefined : block.findLast(isCursor);
    if (isEvent(line)) events.push(line);
    if (isEvent(line) && line.event === "complete") {
      return { events, cursors: changes(cursors) };
    }
    if (isCursor(line) && delivered) cursors.push(line.cursor);
    if ((isEvent(line) || line === "blank") && pending) {
      cursors.push(pending.cursor);
    }
  }
  if (long >= 0) events.push("too long");
  return { events, cursors: changes(cursors) };
}

interface Cursor {
  readonly cursor: string;
}

type Meaning = RunEvent | Cursor | "blank" | "";

const isEvent = (line: Meaning): line is RunEvent =>
  typeof line === "object" && "event" in line;
const isCursor = (line: Meaning): line is Cursor =>
  typeof line === "object" && "cursor" in line;

function meaning(line: string): Meaning {
  if (line === "") return "blank";
  const id = /^id: ?([^\0]*)$/.exec(line)?.[1];
  if (id !== undefined) return cursorOf(encoder.encode(id));
  const json = /^data:(.*)$/s.exec(line)?.[1];
  if (json === undefined) return "";
  let payload;
  try {
    payload = JSON.parse(json);
  } catch {
    return "";
  }
  const node = field(payload, "node");
  const status = field(payload, "status");
  switch (field(payload, "event")) {
    case "progress":
      return {
        event: "progress",
        node: typeof node === "string" ? node : "",
        status: typeof status === "string" ? status : "",
      };
    case "complete":
      return { event: "complete", reply: reply(payload) };
    default:
      return "";
  }
}

/** An id as a header holds it. */
function cursorOf(id: Uint8Array): Meaning {
  if (id.length > 1024) return "";
  const fits = id.every((byte) => byte === 9 || (byte > 31 && byte !== 127));
  return fits ? { cursor: String.fromCharCode(...id) } : "";
}

function reply(payload: unknown): string {
  const list = field(payload, "messages");
  const messages = Array.isArray(list) ? list : [];
  const said = messages.filter((message) =>
    ["role", "type"].some((name) =>
      ["assistant", "ai", "AIMessage", "AIMessageChunk"].some((who) =>
        field(message, name) === who
      )
    )
  );
  const texts = [
    field(field(payload, "instructorState"), "explanation"),
    ...(said.length > 0 ? said : messages).map(textOf).reverse(),
  ];
  return texts.filter((text) => typeof text === "string")
    .find((text) => /\S/.test(text)) ?? "Run completed.";
}

function textOf(message: unknown): unknown {
  const content = field(message, "content");
  const texts = Array.isArray(content) &&
    content.filter((part) => field(part, "type") === "text")
      .map((part) => field(part, "text"))
      .filter((text) => typeof text === "string").join("");
  return [message, content, field(message, "text"), texts]
    .find((text) => typeof text === "string");
}

/** An object's own field. */
function field(value: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(Object(value))).get(name);
}

const text = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\n\t\u00a0",
    "plan",
    "日本 👩‍💻",
    "\u2028\ufeff",
    "\ud800",
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);
/** Mostly a value of the right type. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: right, weight: 6 }, {
    arbitrary: fc.oneof(text, fc.jsonValue({ maxDepth: 2 })),
    weight: 1,
  });
const some = <T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
) => fc.record(model, { requiredKeys: [] });
const who = mostly(
  fc.constantFrom("assistant", "ai", "AIMessage", "user", "text"),
);
const part = some({ type: who, text: mostly(text) });
const message = some({
  role: who,
  type: who,
  content: mostly(fc.oneof(text, fc.array(mostly(part), { maxLength: 3 }))),
  text: mostly(text),
});
const payload = some({
  event: mostly(
    fc.constantFrom("progress", "progress", "progress", "complete"),
  ),
  node: mostly(text),
  status: mostly(text),
  instructorState: mostly(some({ explanation: mostly(text) })),
  messages: mostly(fc.array(mostly(message), { maxLength: 3 })),
});
/** Keys that would change a prototype if objects were built by assignment. */
const alien = fc.constantFrom(
  "",
  '"__proto__":{"event":"complete","node":"p"},',
  '"constructor":{"prototype":{"event":"complete"}},"toString":1,',
  '"event":"complete",',
);
const json = fc.tuple(alien, payload).map(([alien, payload]) =>
  JSON.stringify(payload).replace("{", `{${alien}`).replace(",}", "}")
);
const line = fc.oneof(
  { arbitrary: json.map((json) => `data: ${json}`), weight: 8 },
  { arbitrary: json.map((json) => `data:${json}`), weight: 2 },
  fc.tuple(json, fc.nat(60)).map(([json, end]) =>
    `data: ${json.slice(0, end)}`
  ),
  fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}`),
  fc.tuple(fc.constantFrom("Data: ", " data: ", "data ", "\ufeffdata: "), json)
    .map((parts) => parts.join("")),
  fc.constantFrom(
    "",
    "",
    "",
    ": comment",
    "event: complete",
    "retry: 1",
    "data",
    "data:",
    "id",
  ),
  fc.tuple(
    fc.constantFrom("id:", "id: ", "id:  "),
    fc.constantFrom("", "1", "2 ", "é", "\0", "\r", "x".repeat(1025)),
  )
    .map((parts) => parts.join("")),
  text,
);
const bytes = fc.oneof(
  { arbitrary: line.map((line) => encoder.encode(line)), weight: 12 },
  { arbitrary: fc.uint8Array({ maxLength: 12 }), weight: 1 },
);
const lineEnd = fc.constantFrom(
  "\n",
  "\n",
  "\n",
  "\r\n",
  "\r",
  "\r\r\n",
  "\n\n",
)
  .map((end) => encoder.encode(end));
const stream = fc.tuple(
  fc.constantFrom("", "", "\ufeff", "\ufeff\ufeff").map((mark) =>
    encoder.encode(mark)
  ),
  fc.array(fc.tuple(bytes, lineEnd), { maxLength: 12 }),
  bytes,
).map(([mark, lines, rest]) => join([mark, ...lines.flat(), rest]));

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Cuts bytes at these places; two cuts in one place make an empty chunk. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = places.map((place) => place % (bytes.length + 1))
    .sort((a, b) => a - b);
  return [...ends, bytes.length]
    .map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

Deno.test("readRunEvents() tells of 10,000 generated streams what a model tells that has the whole text at hand (interface 4.1)", async () => {
  await fc.assert(
    fc.asyncProperty(
      stream,
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.constantFrom(30, 100, 1000, 1_000_000),
      async (bytes, places, maxLineBytes) => {
        assertEquals(
          inTheEnd(await read(cut(bytes, places), maxLineBytes)),
          inTheEnd(expected(bytes, maxLineBytes)),
        );
      },
    ),
    { numRuns: 10_000, ...REPEATED },
  );
});

Deno.test("readRunEvents() tells the same of 300 generated streams a byte at a time", async () => {
  await fc.assert(
    fc.asyncProperty(stream, async (bytes) => {
      assertEquals(
        await read(cut(bytes, [...bytes.keys()]), 1000),
        expected(bytes, 1000),
      );
    }),
    { numRuns: 300, ...REPEATED },
  );
});

Deno.test("readRunEvents() keeps a U+FEFF in a reply wherever the stream is cut", async () => {
  const line = 'data: {"event":"complete","messages":["a\ufeffb"]}\n';
  const stream = encoder.encode(`\ufeff${line}`);
  for (let place = 0; place <= stream.length; place++) {
    const chunks = cut(stream, [place]);
    const { events } = await read(chunks, 1000);
    assertEquals(
      events,
      [{ event: "complete", reply: "a\ufeffb" }],
      `cut at byte ${place}`,
    );
  }
});

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const DEEP_OBJECT = '{"a":'.repeat(100_000) + "0" + "}".repeat(100_000);
const NESTED: readonly (readonly [string, string, readonly RunEvent[]])[] = [
  ["instead of an object", DEEP, []],
  ["as an unknown event", DEEP_OBJECT, []],
  ["that is not closed", '{"event":'.repeat(100_000), []],
  ["as the event", `{"event":${DEEP}}`, []],
  ["as the node", `{"event":"progress","node":${DEEP},"status":"s"}`, [
    { event: "progress", node: "", status: "s" },
  ]],
  [
    "as the explanation",
    `{"event":"complete","instructorState":{"explanation":${DEEP_OBJECT}}}`,
    [
      { event: "complete", reply: "Run completed." },
    ],
  ],
  ["as the messages", `{"event":"complete","messages":${DEEP}}`, [
    { event: "complete", reply: "Run completed." },
  ]],
  [
    "as the content of a message",
    `{"event":"complete","messages":["M",{"content":${DEEP}}]}`,
    [
      { event: "complete", reply: "M" },
    ],
  ],
];

for (const [where, json, events] of NESTED) {
  Deno.test(`readRunEvents() bears JSON of 100,000 levels ${where}`, async () => {
    const next = { event: "complete", reply: "next" } as const;
    const text =
      `data: ${json}\ndata: {"event":"complete","messages":["next"]}\n`;
    const complete = events.at(-1)?.event === "complete";

    const told = await read(
      cut(encoder.encode(text), [1000, 65_536]),
      10_000_000,
    );
    assertEquals(
      told.events,
      complete ? [...events] : [...events, next],
    );
  });
}
