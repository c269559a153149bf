import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { followRun } from "../../../lib/gateway/run_stream.ts";
import {
  type OpenStream,
  ServiceClient,
  type ServiceRequest,
} from "../../../lib/gateway/service_client.ts";
import {
  ConnectionError,
  ServiceError,
} from "../../../lib/gateway/service_error.ts";
import { QUICK_TIMEOUTS } from "../../support/quick_gateway.ts";

/** Repeats a failure, whose report names the seed: `GENERATED_SEED=N deno task test`. */
const SEED = Deno.env.get("GENERATED_SEED");
const REPEATED = SEED === undefined ? {} : { seed: Number(SEED) };

/** A block of a stream: its events, and where its `id:` line is, if it has one. */
interface Block {
  readonly id: "first" | "last" | "none" | "empty";
  readonly events: number;
}

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

/** The lines of a run's stream; each event and each id has a name of its own. */
function linesOf(blocks: readonly Block[]): string[] {
  const lines = blocks.flatMap(({ id, events }, block) => {
    const idLine = id === "none"
      ? []
      : id === "empty"
      ? ["id:"]
      : [`id: ${block}`];
    const dataLines = Array.from(
      { length: events },
      (_, i) =>
        `data: ${JSON.stringify({ event: "progress", node: `${block}.${i}` })}`,
    );
    const both = id === "last"
      ? [...dataLines, ...idLine]
      : [...idLine, ...dataLines];
    return [...both, ""];
  });
  return [...lines, 'data: {"event":"complete","messages":["done"]}', ""];
}

/** The service's answer to a request with this `Last-Event-ID`. */
function textFor(
  blocks: readonly Block[],
  lastEventId: string | undefined,
  resumes: boolean,
): string {
  const lines = linesOf(blocks);
  if (!resumes || lastEventId === undefined) return `${lines.join("\n")}\n`;
  const id = lines.indexOf(`id: ${lastEventId}`);
  const start = lines.indexOf("", id) + 1;
  return `${lines.slice(start).join("\n")}\n`;
}

/** The end of a turn: all events, and whether the run was lost. */
interface Outcome {
  readonly nodes: readonly string[];
  readonly requests: readonly (string | undefined)[];
  readonly lost: boolean;
}

/** The expected outcome of a turn, computed from whole blocks of the whole text. */
function expected(
  blocks: readonly Block[],
  answers: readonly Answer[],
): Outcome {
  const nodes: string[] = [];
  const requests: (string | undefined)[] = [];
  const known = new Set<string>(); // ids that were delivered
  let cursor: string | undefined;
  for (const answer of answers) {
    requests.push(cursor);
    if (typeof answer !== "object") continue;
    const resumed = cursor !== undefined;
    const earlier = new Set(known);
    const text = textFor(blocks, cursor, answer.resumes)
      .slice(0, answer.length);
    const lines = text.split("\n");
    const rest = lines.pop() ?? "";
    // A line without an end counts only if it is whole JSON and the end is clean.
    if (answer.end === "close" && /^data: .*\}$/.test(rest)) lines.push(rest);
    let old = resumed; // the last id before the first event is the cursor
    let block: string[] = []; // the nodes of the block that wait for its id
    let id: string | undefined; // of the block
    let hasId = false;
    let hasEvent = false;
    const commit = () => {
      if (id === undefined || old) return;
      cursor = id === "" ? undefined : id;
      if (id !== "") known.add(id);
      id = undefined;
    };
    const deliver = () => {
      for (const node of block) {
        if (!old) nodes.push(node);
        hasEvent = true;
        commit();
      }
      block = [];
    };
    for (const line of lines) {
      if (line.includes("complete")) {
        deliver();
        return { nodes, requests, lost: false };
      }
      if (line.startsWith("id:")) {
        id = line.slice(4);
        hasId = true;
        if (resumed && id !== "") old = earlier.has(id);
        if (resumed && id !== "") deliver();
        if (hasEvent) commit();
      } else if (line === "") {
        deliver();
        commit();
        id = undefined;
        hasId = false;
        hasEvent = false;
      } else {
        deliver();
        block = [JSON.parse(line.slice(6)).node];
        if (hasId || !resumed) deliver();
      }
    }
    if (answer.end === "close") deliver();
    if (cursor === undefined && (text !== "" || answer.end === "close")) {
      return { nodes, requests, lost: true };
    }
  }
  return { nodes, requests, lost: true };
}

/** A client whose requests for a stream are answered by a script. */
class ScriptedClient extends ServiceClient {
  readonly requests: (string | undefined)[] = [];
  readonly #blocks: readonly Block[];
  readonly #answers: readonly Answer[];

  constructor(blocks: readonly Block[], answers: readonly Answer[]) {
    const options = { baseUrl: "http://localhost", apiKey: "key" };
    super({ ...options, timeouts: QUICK_TIMEOUTS }, {});
    this.#blocks = blocks;
    this.#answers = answers;
  }

  override stream(request: ServiceRequest): Promise<OpenStream> {
    const { operation } = request;
    const lastEventId = request.headers?.["last-event-id"];
    const answer = this.#answers[this.requests.length];
    this.requests.push(lastEventId);
    if (typeof answer === "number") {
      const error = new ServiceError("no", { operation, status: answer });
      return Promise.reject(error);
    }
    if (typeof answer !== "object") {
      return Promise.reject(new ConnectionError("no", { operation }));
    }
    const { resumes, length, end, chunkBytes } = answer;
    const text = textFor(this.#blocks, lastEventId, resumes);
    const bytes = new TextEncoder().encode(text.slice(0, length));
    const chunks = async function* () {
      for (let start = 0; start < bytes.length; start += chunkBytes) {
        await undefined;
        yield bytes.subarray(start, start + chunkBytes);
      }
      if (end === "break") throw new TypeError("broken");
    };
    return Promise.resolve({ chunks: chunks(), drop: () => {} });
  }

  override async wait(): Promise<void> {
    // At once.
  }
}

async function follow(
  blocks: readonly Block[],
  answers: readonly Answer[],
): Promise<Outcome> {
  const client = new ScriptedClient(blocks, answers);
  const request = { operation: "stream run", path: "/" } as const;
  const run = { threadId: "t", runId: "r", request };
  const nodes: string[] = [];
  let lost = false;
  const ends: Promise<void>[] = [];
  try {
    for await (
      const events of followRun(client, run, (end) => ends.push(end))
    ) {
      for (const event of events) {
        if (event.event === "progress") nodes.push(event.node);
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    lost = true;
  }
  await Promise.all(ends);
  return { nodes, requests: client.requests, lost };
}

const block = (ids: readonly Block["id"][]): fc.Arbitrary<Block> =>
  fc.record({
    id: fc.constantFrom(...ids),
    events: fc.integer({ min: 0, max: 2 }),
  });

const answer: fc.Arbitrary<Answer> = fc.oneof(
  {
    arbitrary: fc.constantFrom(429, 502, 503, 504, "unreachable" as const),
    weight: 1,
  },
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

/** Answers, the last of which is the whole rest of the stream, or a refusal. */
const answers = fc.tuple(
  fc.array(answer, { maxLength: 6 }),
  fc.boolean(),
).map(([lost, resumes]): readonly Answer[] => [
  ...lost,
  { resumes, length: Infinity, end: "close", chunkBytes: 64 },
]);

Deno.test("followRun() delivers of 10,000 generated runs over lost connections what a model delivers", async () => {
  let lost = 0;
  let resumed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(block(["first", "first", "first", "last", "none", "empty"]), {
        maxLength: 8,
      }),
      answers,
      async (blocks, answers) => {
        const outcome = await follow(blocks, answers);
        assertEquals(outcome, expected(blocks, answers));
        lost += Number(outcome.lost);
        resumed += Number(outcome.requests.some((id) => id !== undefined));
      },
    ),
    { numRuns: 10_000, ...REPEATED },
  );
  // Enough cases of each kind to be meaningful.
  assertEquals([lost > 1000, resumed > 1000], [true, true]);
});

Deno.test("followRun() delivers every event of 2,000 generated runs with ids once and in order, whatever is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constant<Block>({ id: "first", events: 1 }), {
        minLength: 1,
        maxLength: 12,
      }),
      // The first id gets through.
      answers.map((answers) =>
        answers.map((answer): Answer =>
          typeof answer === "object"
            ? { ...answer, length: answer.length + 60 }
            : answer
        )
      ),
      async (blocks, answers) => {
        const { nodes, lost } = await follow(blocks, answers);
        assertEquals(lost, false);
        assertEquals(nodes, blocks.map((_, i) => `${i}.0`));
      },
    ),
    { numRuns: 2000, ...REPEATED },
  );
});
