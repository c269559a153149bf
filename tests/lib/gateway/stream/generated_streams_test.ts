import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { times } from "../../../support/repetitions.ts";
import { explain } from "../../../../lib/gateway.ts";
import { NOT_UNDERSTOOD } from "../../../../lib/gateway/stream/reply_text.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { followRun } from "../../../../lib/gateway/stream/run_stream.ts";
import {
  type OpenStream,
  ServiceClient,
  type ServiceRequest,
} from "../../../../lib/gateway/http/service_client.ts";
import {
  ConnectionError,
  ServiceError,
} from "../../../../lib/gateway/failure/service_error.ts";
import type { StreamEvent } from "../../../../lib/gateway/turn_event.ts";
import {
  type Dialect,
  FAIL_IN_A_NODE,
  FAILURE,
  FAILURES,
  MESSAGES,
  SAY_NOTHING,
} from "../../../support/service/dialect.ts";
import { Exchange } from "../../../support/service/exchange.ts";
import {
  RemoteAgent,
  type RemoteAgentOptions,
  route,
  TEST_KEY,
  think,
} from "../../../support/service/remote_agent.ts";
import { QUICK_TIMEOUTS } from "../../../support/turns.ts";

/** A text in chunks of a size. */
async function* inChunks(
  text: string,
  size: number,
): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += size) {
    await undefined;
    yield bytes.subarray(start, start + size);
  }
}

/** The events of a stream that comes in chunks of a size. */
async function read(text: string, size: number): Promise<StreamEvent[]> {
  const batches = readRunEvents(inChunks(text, size));
  return (await Array.fromAsync(batches)).flat();
}

/** A line of a stream, and the event that it is, if it is one. */
interface Line {
  readonly text: string;
  readonly event?: StreamEvent | undefined;
}

interface Payload {
  readonly event?: unknown;
  readonly node?: unknown;
  readonly status?: unknown;
  readonly instructorState?: unknown;
}

function eventOf(payload: Payload): StreamEvent | undefined {
  const { event, node, status, instructorState } = payload;
  const text = (value: unknown) => typeof value === "string" ? value : "";
  if (event === "progress") {
    return { type: "progress", node: text(node), status: text(status) };
  }
  if (event !== "complete") return undefined;
  const explanation = text(Object(instructorState).explanation);
  const reply = /\S/.test(explanation) ? explanation : "Run completed.";
  return { type: "reply", text: reply };
}

const someText = fc.oneof(
  fc.constantFrom("", " ", "\n\t\u00a0", "日本 👩‍💻", "\u2028\ufeff", "\ud800"),
  fc.string({ unit: "binary", maxLength: 20 }),
);
/** Mostly a value of the right type. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: right, weight: 6 }, fc.jsonValue({ maxDepth: 2 }));
const kind = fc.constantFrom("progress", "progress", "progress", "complete");
const payload: fc.Arbitrary<Payload> = fc.record({
  event: mostly(kind),
  node: mostly(someText),
  status: mostly(someText),
  instructorState: mostly(fc.record({ explanation: mostly(someText) })),
}, { requiredKeys: [] });
/** Keys that would change a prototype if objects were built by assignment. */
const alien = fc.constantFrom(
  "",
  '"__proto__":{"event":"complete","node":"p"},',
  '"constructor":{"prototype":{"event":"complete"}},"toString":1,',
);
const data = fc.tuple(alien, payload).map(([alien, payload]) => ({
  json: `{${alien}${JSON.stringify({ id: 1, ...payload }).slice(1)}`,
  event: eventOf(payload),
}));
const noise = fc.oneof(
  fc.tuple(data, fc.nat(60)).map(([{ json }, end]) =>
    `data: ${json.slice(0, Math.min(end, json.length - 1))}`
  ),
  fc.jsonValue().map((value) => `data: ${JSON.stringify([value])}`),
  fc.tuple(fc.constantFrom("Data: ", " data: ", "data ", "\ufeffdata: "), data)
    .map(([field, { json }]) => field + json),
  fc.constantFrom("", ": comment", "event: complete", "retry: 1", "data", "id"),
  someText,
);
const line: fc.Arbitrary<Line> = fc.oneof(
  {
    arbitrary: fc.tuple(fc.constantFrom("data: ", "data:"), data)
      .map(([field, { json, event }]) => ({ text: field + json, event })),
    weight: 8,
  },
  { arbitrary: noise.map((text) => ({ text })), weight: 4 },
);
const lineEnd = fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\n\n\n\n\n");

Deno.test("readRunEvents() reads the events of generated streams up to the reply, and nothing else (interface 4.1)", async () => {
  const check = async (
    lines: readonly (readonly [Line, string])[],
    size: number,
  ) => {
    const text = lines.map(([{ text }, end]) => text + end).join("");
    const events = lines.flatMap(([{ event }]) => event ?? []);
    const reply = events.findIndex(({ type }) => type === "reply");
    const expected = reply < 0 ? events : events.slice(0, reply + 1);
    assertEquals(await read(`: start\n${text}`, size), expected);
  };
  const lines = fc.array(fc.tuple(line, lineEnd), { maxLength: 12 });
  const size = fc.integer({ min: 1, max: 500 });
  await fc.assert(fc.asyncProperty(lines, size, check), {
    numRuns: times(10_000),
  });
});

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const DEEP_OBJECT = '{"a":'.repeat(80_000) + "0" + "}".repeat(80_000);
const NOTICE = { type: "reply", text: "Run completed." } as const;
const UNREAD = { ...NOTICE, note: NOT_UNDERSTOOD };

const NESTED: Readonly<Record<string, readonly [string, StreamEvent?]>> = {
  "instead of an object": [DEEP],
  "as an unknown event": [DEEP_OBJECT],
  "that is not closed": ['{"event":'.repeat(100_000)],
  "as the event": [`{"event":${DEEP}}`],
  "as the node": [`{"event":"progress","node":${DEEP},"status":"s"}`, {
    type: "progress",
    node: "",
    status: "s",
  }],
  "as the state": [
    `{"event":"complete","instructorState":{"explanation":${DEEP_OBJECT}}}`,
    NOTICE,
  ],
  "as the messages": [`{"event":"complete","messages":${DEEP}}`, UNREAD],
  "as a content": [
    `{"event":"complete","messages":[{"content":${DEEP}}]}`,
    UNREAD,
  ],
};

for (const [where, [json, event]] of Object.entries(NESTED)) {
  Deno.test(`readRunEvents() bears JSON of 80,000 levels and more ${where}`, async () => {
    const events = await read(`data: ${json}\n`, 65_536);
    assertEquals(events, event === undefined ? [] : [event]);
  });
}

/** A client that gets its streams from a test, without pauses. */
abstract class StreamClient extends ServiceClient {
  constructor() {
    const timeouts = { ...QUICK_TIMEOUTS, reconnect: [0] };
    super({ baseUrl: "http://localhost", apiKey: TEST_KEY, timeouts }, {});
  }

  abstract chunksOf(request: ServiceRequest): AsyncGenerator<Uint8Array>;

  override stream(request: ServiceRequest): Promise<OpenStream> {
    return Promise.try(() => {
      const chunks = this.chunksOf(request);
      return { chunks, headers: new Headers(), drop() {} };
    });
  }
}

/** Follows a run. Returns its nodes and its reply, in order, and why it failed. */
async function follow(client: ServiceClient, path: string) {
  const headers = { accept: "text/event-stream" };
  const request = { operation: "stream run", path, headers } as const;
  const run = { threadId: "t", runId: "r", request, apiKey: TEST_KEY };
  const texts: string[] = [];
  try {
    for await (const batch of followRun(client, run)) {
      for (const event of batch) {
        if (event.type === "progress") texts.push(event.node);
        if (event.type === "reply") texts.push(event.text);
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { texts, failure: explain(error.failure) };
  }
  return { texts };
}

/**
 * A block of a stream with one event. The key says where its `id:` line is, if
 * it has one.
 */
type Block = "first" | "last" | "none" | "empty";

/** How a request for the stream is answered. */
type Answer =
  /** A front that is slow or unreachable: no byte arrives. */
  | number
  | "unreachable"
  | {
    /** Whether the service continues after `Last-Event-ID`, or starts over. */
    readonly resumes: boolean;
    /** The number of bytes after which the connection is lost. */
    readonly length: number;
    readonly end: "close" | "break";
    readonly chunkBytes: number;
  };

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

/** A client whose requests for a stream are answered by a script. */
class ScriptedClient extends StreamClient {
  readonly #blocks: readonly Block[];
  readonly #answers: Iterator<Answer>;

  constructor(blocks: readonly Block[], answers: readonly Answer[]) {
    super();
    this.#blocks = blocks;
    this.#answers = answers.values();
  }

  chunksOf({ headers }: ServiceRequest): AsyncGenerator<Uint8Array> {
    const answer = this.#answers.next().value;
    const failure = {
      operation: "stream run",
      reason: "no",
      fate: "may go on",
    } as const;
    if (typeof answer === "number") {
      throw new ServiceError({ ...failure, status: answer });
    }
    if (typeof answer !== "object") throw new ConnectionError(failure);
    const { resumes, length, end, chunkBytes } = answer;
    const id = resumes ? headers?.["last-event-id"] : undefined;
    const text = textAfter(this.#blocks, id).slice(0, length);
    return (async function* () {
      yield* inChunks(text, chunkBytes);
      if (end === "break") throw new TypeError("broken");
    })();
  }
}

const lossyAnswer = fc.oneof(
  fc.constantFrom<Answer>(429, 502, 503, 504, "unreachable"),
  {
    arbitrary: fc.record({
      resumes: fc.boolean(),
      length: fc.nat(400),
      end: fc.constantFrom("close" as const, "break" as const),
      chunkBytes: fc.integer({ min: 1, max: 200 }),
    }),
    weight: 3,
  },
);

/** Answers, the last of which is the whole rest of the stream. */
const someAnswers = fc.tuple(
  fc.array(lossyAnswer, { maxLength: 6 }),
  fc.boolean(),
).map(([lossy, resumes]): readonly Answer[] => [
  ...lossy,
  { resumes, length: Infinity, end: "close", chunkBytes: 64 },
]);

const someBlocks = fc.oneof(
  fc.array(fc.constant<Block>("first"), { minLength: 1, maxLength: 12 }),
  fc.array(fc.constantFrom<Block>("first", "last", "none", "empty"), {
    maxLength: 8,
  }),
);

Deno.test("followRun() delivers the events of generated runs in order, and all that have an id unless it tells of a loss", async () => {
  let lost = 0;
  let resumed = 0;
  const check = async (
    blocks: readonly Block[],
    answers: readonly Answer[],
  ) => {
    const client = new ScriptedClient(blocks, answers);
    const { texts, failure } = await follow(client, "/");
    const nodes = texts.map(Number).filter(Number.isInteger);
    const isLost = failure !== undefined;
    const once = [...new Set(nodes)];
    assertEquals(once, once.toSorted((a, b) => a - b));
    // An event comes twice only if it is delivered, and lost before its id.
    const twice = nodes.filter((node, i) => nodes.indexOf(node) < i);
    assertEquals(twice.filter((node) => blocks[node] !== "last"), []);
    const missing = [...blocks.entries()].filter(([node, id]) =>
      (id === "first" || id === "last") && !nodes.includes(node)
    );
    if (!isLost) assertEquals(missing, []);
    lost += Number(isLost);
    // With ids alone, nothing is lost once the first one has come.
    const hasFirst = answers.every((answer) =>
      typeof answer !== "object" || answer.length > 60
    );
    if (!hasFirst || blocks.some((id) => id !== "first")) return;
    assertEquals(isLost, false);
    resumed++;
  };
  const property = fc.asyncProperty(someBlocks, someAnswers, check);
  await fc.assert(property, { numRuns: times(10_000) });
  // Enough of each kind
  const [few, many] = [times(500), times(9000)];
  assertEquals([lost > few, lost < many, resumed > few], [true, true, true]);
});

/** A prompt, and after how many events its first stream breaks. */
interface Turn {
  readonly prompt: string;
  readonly lostAfter: number | undefined;
}

/** A client of a service in memory. */
class DirectClient extends StreamClient {
  readonly #agent: RemoteAgent;
  /** The number of events after which the next stream is lost. */
  lostAfter: number | undefined;

  constructor(options: RemoteAgentOptions) {
    super();
    this.#agent = new RemoteAgent(options);
  }

  request(
    method: "GET" | "POST",
    path: string,
    init: { readonly headers?: HeadersInit; readonly body?: string } = {},
  ): Response {
    const headers = new Headers(init.headers);
    headers.set("x-api-key", TEST_KEY);
    const target = route(path, "");
    const { operation } = target ?? {};
    const { body = "" } = init;
    return this.#agent.answer(
      new Exchange({ operation, method, path, headers, body, connection: "" }),
      target,
    );
  }

  chunksOf({ path, headers = {} }: ServiceRequest): AsyncGenerator<Uint8Array> {
    const response = this.request("GET", path, { headers });
    const chunks = eventsIn(response, this.lostAfter);
    this.lostAfter = undefined;
    return chunks;
  }
}

/** The chunks of a stream, one for each event, until the stream is lost. */
async function* eventsIn(
  { body }: Response,
  lostAfter = Infinity,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of body ?? []) {
    if (count++ >= lostAfter) throw new TypeError("lost");
    yield chunk;
  }
}

/** Runs a turn. Returns its nodes, and its reply or why it failed. */
async function take(
  client: DirectClient,
  threadId: string,
  { prompt, lostAfter }: Turn,
): Promise<string[]> {
  const runs = `/threads/${threadId}/runs`;
  const created = client.request("POST", runs, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agentName: "the-brain", prompt, wait: false }),
  });
  const { run_id } = await created.json();
  client.lostAfter = lostAfter;
  const path = `${runs}/${run_id}/stream`;
  const { texts, failure } = await follow(client, path);
  return failure === undefined ? texts : [...texts, failure];
}

/** What a turn has to deliver. */
function expected(
  { prompt, lostAfter }: Turn,
  earlier: readonly string[],
  ids: RemoteAgentOptions["ids"],
): string[] {
  const { steps, reply } = think(prompt, earlier);
  const nodes = steps.map(({ node }) => node);
  const last = prompt === FAIL_IN_A_NODE
    ? `the run failed: ${FAILURE}`
    : prompt === SAY_NOTHING
    ? "Run completed."
    : reply;
  if (lostAfter === undefined || ids === true) return [...nodes, last];
  const lost = nodes.slice(0, lostAfter);
  // Under new ids, all events come again.
  return ids === "random" ? [...lost, ...nodes, last] : [
    ...lost,
    "the connection to http://localhost broke (lost); the run may still go on at the service",
  ];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  prompt: fc.constantFrom(
    ...["hello", "6 * 7", "what did I say before?", SAY_NOTHING],
    ...[FAIL_IN_A_NODE, "日本 👩‍💻\n\n", "\u2028data: {}"],
  ),
  lostAfter: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
});
const dialect: fc.Arbitrary<Dialect> = fc.record({
  messages: fc.constantFrom(...keysOf(MESSAGES)),
  failure: fc.constantFrom(...keysOf(FAILURES)),
});

function keysOf<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}

Deno.test("followRun() delivers in generated conversations, in the dialects of real services, what each turn said, and nothing of another", async () => {
  const check = async (
    turns: readonly Turn[],
    dialect: Dialect,
    ids: boolean | "random",
  ) => {
    const client = new DirectClient({ dialect, ids });
    const { thread_id } = await client.request("POST", "/threads").json();
    const earlier: string[] = [];
    for (const turn of turns) {
      const texts = await take(client, thread_id, turn);
      assertEquals(texts, expected(turn, earlier, ids));
      earlier.push(turn.prompt);
    }
  };
  const property = fc.asyncProperty(
    fc.array(turn, { minLength: 1, maxLength: 3 }),
    dialect,
    fc.constantFrom(true, false, "random" as const),
    check,
  );
  await fc.assert(property, { numRuns: times(10_000) });
});
