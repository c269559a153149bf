import { assertEquals } from "@std/assert";
import fc from "../../../support/generated.ts";
import { times } from "../../../support/repetitions.ts";
import { NOT_UNDERSTOOD } from "../../../../lib/gateway/stream/reply_text.ts";
import { readRunEvents } from "../../../../lib/gateway/stream/run_events.ts";
import { followRun } from "../../../../lib/gateway/stream/run_stream.ts";
import {
  type OpenStream,
  ServiceClient,
} from "../../../../lib/gateway/http/service_client.ts";
import type { ServiceRequest } from "../../../../lib/gateway/http/requests.ts";
import { ServiceError } from "../../../../lib/gateway/failure/service_error.ts";
import type { StreamEvent } from "../../../../lib/gateway/turn_event.ts";
import { TEST_KEY } from "../../../support/service/remote_agent.ts";
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

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const DEEP_OBJECT = '{"a":'.repeat(80_000) + "0" + "}".repeat(80_000);
const NOTICE = { type: "reply", text: "Run completed." } as const;
const UNREAD = { ...NOTICE, note: NOT_UNDERSTOOD };

const NESTED: Readonly<Record<string, readonly [string, StreamEvent?]>> = {
  "instead of an object": [DEEP],
  "that is not closed": ['{"event":'.repeat(100_000)],
  "as the node": [`{"event":"progress","node":${DEEP},"status":"s"}`, {
    type: "progress",
    node: "",
    status: "s",
  }],
  "as the state": [
    `{"event":"complete","instructorState":{"explanation":${DEEP_OBJECT}}}`,
    NOTICE,
  ],
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

/** Follows a run. Returns its nodes and its reply, in order, and whether it failed. */
async function follow(client: ServiceClient) {
  const request = { operation: "stream run", path: "/" } as const;
  const texts: string[] = [];
  try {
    for await (const batch of followRun(client, request)) {
      for (const event of batch) {
        if (event.type === "progress") texts.push(event.node);
        if (event.type === "reply") texts.push(event.text);
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { texts, isLost: true };
  }
  return { texts, isLost: false };
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

/** A client whose requests for a stream are answered by a script, without pauses. */
class ScriptedClient extends ServiceClient {
  readonly #blocks: readonly Block[];
  readonly #answers: Iterator<Answer>;

  constructor(blocks: readonly Block[], answers: readonly Answer[]) {
    const timeouts = { ...QUICK_TIMEOUTS, reconnect: [0] };
    super({ baseUrl: "http://localhost", apiKey: TEST_KEY, timeouts }, {});
    this.#blocks = blocks;
    this.#answers = answers.values();
  }

  override async stream({ headers }: ServiceRequest): Promise<OpenStream> {
    const answer = await this.#answers.next().value;
    const failure = {
      operation: "stream run",
      stage: "open",
      reason: "no",
      retry: "no",
    } as const;
    if (typeof answer === "number") {
      throw new ServiceError({ ...failure, status: answer });
    }
    if (typeof answer !== "object") throw new ServiceError(failure);
    const { resumes, length, end, chunkBytes } = answer;
    const id = resumes ? headers?.["last-event-id"] : undefined;
    const text = textAfter(this.#blocks, id).slice(0, length);
    const chunks = async function* () {
      yield* inChunks(text, chunkBytes);
      if (end === "break") throw new TypeError("broken");
    };
    return { chunks: chunks(), headers: new Headers(), drop() {} };
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
    const { texts, isLost } = await follow(client);
    const nodes = texts.map(Number).filter(Number.isInteger);
    const once = [...new Set(nodes)];
    assertEquals(once, once.toSorted((a, b) => a - b));
    // An event comes twice only if it has no id, or was lost before its id.
    const twice = nodes.filter((node, i) => nodes.indexOf(node) < i);
    assertEquals(twice.filter((node) => blocks[node] === "first"), []);
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
