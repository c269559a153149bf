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
  const encoder = new TextEncoder();
  for (const id of ids) {
    onRead();
    const line = JSON.stringify({ id, method: "agents/list" });
    yield await Promise.resolve(encoder.encode(`${line}\n`));
  }
}

Deno.test("runBridge() returns when the last answer is written, however slow the reader is", async () => {
  const sent = Array.from({ length: 800 }, (_, i) => i + 1);
  let written = "";
  const stdout = {
    async write(bytes: Uint8Array) {
      await setImmediate();
      written += new TextDecoder().decode(bytes);
    },
  };

  const stdin = requests(sent);
  await runBridge({ stdin, stdout, gateway: new FakeGateway() });

  const ids = written.trimEnd().split("\n").map((line) => JSON.parse(line).id);
  assertEquals(ids, sent);
});

Deno.test("runBridge() reads no more requests while more than 1 MiB of answers is unread", async () => {
  const id = "x".repeat(MIB / 4);
  const { promise: reading, resolve } = Promise.withResolvers<void>();
  let read = 0;
  let written = 0;
  const stdout = {
    async write(bytes: Uint8Array) {
      await reading;
      written += bytes.length;
    },
  };

  const stdin = requests(Array(20).fill(id), () => read++);
  const ended = runBridge({ stdin, stdout, gateway: new FakeGateway() });
  await setImmediate();
  assert(read < 8, `${read} requests`);
  resolve();
  await ended;

  assertEquals(read, 20);
  assert(written > 20 * id.length);
});

Deno.test("runBridge() calls onInputEnd if an answer is not written when the input ends", async () => {
  let calls = 0;
  await runBridge({
    stdin: requests([1]),
    stdout: { write: () => setImmediate() },
    gateway: new FakeGateway(),
    onInputEnd: () => calls++,
  });
  assertEquals(calls, 1);
});

Deno.test("runBridge() does not call onInputEnd if all answers were written before", async () => {
  const written = Promise.withResolvers<void>();
  async function* stdin() {
    yield* requests([1]);
    await written.promise;
    await setImmediate();
  }
  const write = () => Promise.resolve(written.resolve());

  let calls = 0;
  await runBridge({
    stdin: stdin(),
    stdout: { write },
    gateway: new FakeGateway(),
    onInputEnd: () => calls++,
  });
  assertEquals(calls, 0);
});

const reason = "APP_API_KEY is not set";
const INITIALIZE = '{"id":1,"method":"initialize","params":{}}';
const OPEN = '{"id":2,"method":"session/new"}';

/** Answers these lines; returns the answers, in short. */
async function answer(
  lines: readonly string[],
  rest: AsyncIterable<Uint8Array> = ReadableStream.from([]),
): Promise<string[]> {
  let written = "";
  async function* stdin() {
    yield new TextEncoder().encode(lines.join("\n") + "\n");
    yield* rest;
  }
  const stdout = {
    async write(bytes: Uint8Array) {
      await setImmediate(); // the end of the input has been read by then
      written += new TextDecoder().decode(bytes);
    },
  };
  await answerFailedStart({ stdin: stdin(), stdout, reason: redacted(reason) });
  return written.split("\n").slice(0, -1).map((line) => {
    const { id, result, error } = JSON.parse(line);
    if (result !== undefined) return `${id} version ${result.protocolVersion}`;
    const hasDetails = error.data?.details === error.message;
    const data = hasDetails ? "" : " without details";
    return `${id} ${error.code} ${error.message}${data}`;
  });
}

const NOISE = [
  ...['{"method":"session/new"}', '{"id":1,"result":{}}', "not JSON", ""],
  '{"id":true,"method":"invalid id"}',
];

Deno.test("answerFailedStart() answers initialize as always, and the first other request with the reason", async () => {
  const refusal = `-32010 ${reason}`;
  const list = '{"id":7,"method":"agents/list"}';
  for (
    const [lines, answers] of [
      [[INITIALIZE, OPEN, OPEN], ["1 version 1", `2 ${refusal}`]],
      [[INITIALIZE, INITIALIZE], ["1 version 1", "1 version 1"]],
      [[list, INITIALIZE], [`7 ${refusal}`]],
      [[], []],
    ] as const
  ) {
    const noisy = lines.flatMap((line) => [...NOISE, line, ...NOISE]);
    assertEquals(await answer(noisy), [...answers]);
  }
});

Deno.test("answerFailedStart() sends Zed no data, which it would show after the message", async () => {
  const clientInfo = { name: "zed", version: "1.0.0" };
  const params = { protocolVersion: 1, clientInfo };
  const initialize = { id: 1, method: "initialize", params };
  assertEquals(await answer([JSON.stringify(initialize), OPEN]), [
    "1 version 1",
    `2 -32010 ${reason} without details`,
  ]);
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
