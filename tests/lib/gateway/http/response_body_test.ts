import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { AwakeClock } from "../../../../lib/io.ts";
import { readBody } from "../../../../lib/gateway/http/response_body.ts";
import {
  SilenceError,
  Silences,
} from "../../../../lib/gateway/http/silences.ts";
import { FakeClock } from "../../../support/clocks.ts";

const NEVER = new AbortController().signal;
const REASON = new Error("Enough");

/** Resolves after all pending microtasks. */
async function nextTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** A body that is pulled, and the promise that it was cancelled. */
function bodyOf(
  pull: (controller: ReadableByteStreamController) => void | Promise<void>,
) {
  const cancelled = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    type: "bytes",
    pull,
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  return { response: new Response(stream), cancelled: cancelled.promise };
}

/** A body of chunks of 10 bytes, then silence. */
function silentAfter(chunks: number) {
  let left = chunks;
  return bodyOf(async (controller) => {
    if (left-- > 0) controller.enqueue(new Uint8Array(10));
    else await new Promise(() => {});
  });
}

/** A body in which each read gets the next number, in some bytes. */
function countingBody(bytes: number, reads = Infinity) {
  const counter = { reads: 0 };
  const { response } = bodyOf((controller) => {
    if (counter.reads === reads) {
      controller.close();
      controller.byobRequest?.respond(0);
    } else {
      controller.enqueue(new Uint8Array(bytes).fill(counter.reads++));
    }
  });
  return { response, counter };
}

Deno.test("readBody() drops the rest of a body that is left", async () => {
  const { response, cancelled } = silentAfter(3);
  const chunks = readBody(response, NEVER);
  await chunks.next();
  await chunks.return(undefined);
  await cancelled;
});

for (const count of [-1, 0, 1]) {
  Deno.test(`readBody() drops a body after an abort, before read ${count + 1} begins`, async () => {
    const { response, cancelled } = silentAfter(1);
    const controller = new AbortController();
    if (count < 0) controller.abort(REASON);
    const chunks = readBody(response, controller.signal);
    for (let i = 0; i < count; i++) await chunks.next();
    const pending = chunks.next();
    controller.abort(REASON);
    assertStrictEquals(await assertRejects(() => pending), REASON);
    await cancelled;
  });
}

Deno.test("readBody() yields nothing after an abort, not even what has arrived", async () => {
  const { response } = countingBody(10);
  const controller = new AbortController();
  const chunks = readBody(response, controller.signal);
  await chunks.next();
  await nextTask();
  controller.abort(REASON);
  assertStrictEquals(await assertRejects(() => chunks.next()), REASON);
});

Deno.test("readBody() drops a body that nobody reads after an abort", async () => {
  const controller = new AbortController();
  const { response, cancelled } = silentAfter(1);
  readBody(response, controller.signal);
  controller.abort(REASON);
  await cancelled;
});

Deno.test("readBody() reads an answer without a body", async () => {
  assertEquals(await Array.fromAsync(readBody(new Response(null), NEVER)), []);
});

Deno.test("readBody() reads a chunk when it is requested, and not before", async () => {
  const { response, counter } = countingBody(1000);
  const chunks = readBody(response, NEVER);

  assertEquals((await chunks.next()).value?.length, 1000);
  await nextTask();

  assertEquals(counter.reads, 1);
  await chunks.return(undefined);
});

Deno.test("readBody() hands on what came before a failure, and then the failure", async () => {
  let pulls = 0;
  const { response } = bodyOf((controller) => {
    if (pulls++ > 0) throw REASON;
    controller.enqueue(Uint8Array.of(1));
  });
  const chunks = readBody(response, NEVER);
  assertEquals([...(await chunks.next()).value ?? []], [1]);
  assertStrictEquals(await assertRejects(() => chunks.next()), REASON);
});

Deno.test("readBody() keeps every byte, for all sizes and speeds", async () => {
  for (const bytes of [1, 7, 4096, 5000, 100_000]) {
    const { response } = countingBody(bytes, 50);
    const seen = new Uint8Array(50 * bytes);
    let length = 0;
    let turn = 0;
    for await (const chunk of readBody(response, NEVER)) {
      seen.set(chunk, length);
      length += chunk.length;
      if (turn++ % 3 === 0) await nextTask();
    }
    assertEquals(length, 50 * bytes);
    assertEquals(
      seen.findIndex((value, i) => value !== Math.floor(i / bytes)),
      -1,
    );
  }
});

Deno.test("readBody() fails, and drops the body, after a silence that is too long: time in which a chunk is awaited and the process runs", async () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  const arrivals: (() => void)[] = [];
  const { response, cancelled } = bodyOf(async (controller) => {
    await new Promise<void>((resolve) => arrivals.push(resolve));
    controller.enqueue(new Uint8Array(1));
  });
  const silences = new Silences(clock, () => 40_000);
  const chunks = readBody(response, NEVER, silences);
  for (let i = 0; i < 3; i++) {
    const next = chunks.next();
    await nextTask();
    fake.elapse(30_000);
    fake.passTo(fake.time + 1_000_000); // The process is stopped.
    fake.elapse(1_000);
    arrivals.pop()?.();
    assertEquals((await next).done, false);
    assert(silences.longest < 40_000);
    fake.elapse(100_000); // Nobody waits.
  }
  const rejection = assertRejects(() => chunks.next(), SilenceError);
  await nextTask();
  fake.elapse(45_000); // The clock ticks every 5 s.
  await rejection;
  await cancelled;
});
