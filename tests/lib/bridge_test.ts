import { assert, assertEquals, assertFalse } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { runBridge } from "../../lib/bridge.ts";
import { answerFailedStart } from "../../lib/bridge/failed_start.ts";
import { FakeGateway } from "../support/fake_gateway.ts";
import { FakeClock } from "../support/clocks.ts";
import { redacted } from "../support/texts.ts";

const MIB = 1024 * 1024;

/** Requests with these ids, a chunk each; `onRead` is called before each one. */
async function* requests(ids: readonly unknown[], onRead = () => {}) {
  for (const id of ids) {
    onRead();
    const line = JSON.stringify({ id, method: "agents/list" });
    yield await Promise.resolve(new TextEncoder().encode(`${line}\n`));
  }
}

/** A standard output, and the messages that were written to it. */
class Output {
  text = "";
  readonly #turn: () => Promise<unknown>;

  constructor(turn: () => Promise<unknown> = () => setImmediate()) {
    this.#turn = turn;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#turn();
    this.text += new TextDecoder().decode(bytes);
  }

  // deno-lint-ignore no-explicit-any -- what a test expects, it asserts
  get messages(): readonly any[] {
    return this.text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  }
}

/** Runs the bridge; returns the ids of its answers. */
async function run(
  stdin: AsyncIterable<Uint8Array>,
  write?: () => Promise<unknown>,
  onInputEnd?: () => void,
): Promise<readonly unknown[]> {
  const stdout = new Output(write);
  const gateway = new FakeGateway();
  await runBridge({ stdin, stdout, gateway, onInputEnd });
  return stdout.messages.map(({ id }) => id);
}

Deno.test("runBridge() returns when the last answer is written, however slow the reader is", async () => {
  const sent = Array.from({ length: 800 }, (_, i) => i + 1);
  assertEquals(await run(requests(sent)), sent);
});

Deno.test("runBridge() reads no more requests while more than 1 MiB of answers is unread", async () => {
  const ids = Array<string>(20).fill("x".repeat(MIB / 4));
  const reading = Promise.withResolvers<void>();
  let read = 0;
  const answered = run(requests(ids, () => read++), () => reading.promise);
  await setImmediate();
  assert(read < 8, `${read} requests`);
  reading.resolve();
  assertEquals(await answered, ids);
});

Deno.test("runBridge() calls onInputEnd if an answer is not written when the input ends, and not otherwise", async () => {
  let calls = 0;
  const written = Promise.withResolvers<void>();
  async function* untilWritten() {
    yield* requests([1]);
    await written.promise;
    await setImmediate();
  }
  const write = () => Promise.resolve(written.resolve());
  await run(untilWritten(), write, () => calls++);
  assertEquals(calls, 0);
  await run(requests([1]), undefined, () => calls++);
  assertEquals(calls, 1);
});

const REASON = redacted("APP_API_KEY is not set");
const INITIALIZE = '{"id":1,"method":"initialize","params":{}}';
const ZED =
  '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"zed"}}}';
const OPEN = '{"id":2,"method":"session/new"}';
const LIST = '{"id":7,"method":"agents/list"}';

/** Answers these lines; returns the answers, in short. */
async function answer(
  lines: readonly string[],
  rest: AsyncIterable<Uint8Array> = ReadableStream.from([]),
): Promise<string> {
  async function* stdin() {
    yield new TextEncoder().encode(lines.join("\n") + "\n");
    yield* rest;
  }
  const stdout = new Output();
  await answerFailedStart({ stdin: stdin(), stdout, reason: REASON });
  return stdout.messages.map(({ id, result, error }) =>
    `${id} ${result?.protocolVersion ?? JSON.stringify(error)}`
  ).join(", ");
}

const ERROR = { code: -32010, message: REASON };
const REFUSED = JSON.stringify({ ...ERROR, data: { details: REASON } });

/** Requests before the end of the input, and their answers. */
const STARTS: readonly (readonly [lines: string[], answers: string])[] = [
  [[INITIALIZE, OPEN, OPEN], `1 1, 2 ${REFUSED}`],
  [[INITIALIZE, INITIALIZE], "1 1, 1 1"],
  [[LIST, INITIALIZE], `7 ${REFUSED}`],
  [[], ""],
  // Zed would show the data after the message.
  [[ZED, OPEN], `1 1, 2 ${JSON.stringify(ERROR)}`],
];
const NOISE = [
  ...['{"method":"session/new"}', '{"id":1,"result":{}}', "not JSON", ""],
  '{"id":true,"method":"invalid id"}',
];
Deno.test("answerFailedStart() answers initialize as always, and the first other request with the reason", async () => {
  for (const [lines, answers] of STARTS) {
    const noisy = lines.flatMap((line) => [...NOISE, line, ...NOISE]);
    assertEquals(await answer(noisy), answers);
  }
});

/** What is waited for, after which lines, and for how long in milliseconds. */
const LIMITS = [
  ["the first request", [], 1000],
  ["the request after initialize", [INITIALIZE], 10_000],
  ["the end after the last answer", [INITIALIZE, OPEN], 1000],
] as const;
Deno.test("answerFailedStart() waits for a while for each of these, and not for the end of the input", async () => {
  for (const [what, lines, limit] of LIMITS) {
    using clock = new FakeClock();
    await answer(lines);
    assertEquals(clock.time, 0, what);

    let hasReturned = false;
    const answered = answer(lines, new ReadableStream())
      .then(() => hasReturned = true);
    for (let i = 0; i < 10; i++) await setImmediate();
    assertFalse(hasReturned, what);
    for (let i = 0; i < 10 && clock.time < limit; i++) clock.pass();
    await answered;
    assertEquals(clock.time, limit, what);
  }
});
