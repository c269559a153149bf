import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { readBody } from "../../../../lib/gateway/http/response_body.ts";

const NEVER = new AbortController().signal;
const REASON = new Error("Enough");

/** Resolves after all pending microtasks. */
async function nextTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * A body of which each read gets the next number, as often as `bytes` says, and what
 * becomes of it. After `reads` it ends, falls silent, or fails.
 */
function bodyOf(
  bytes: number,
  reads = Infinity,
  end: "end" | "silence" | "failure" = "end",
) {
  const cancelled = Promise.withResolvers<void>();
  const state = { count: 0, cancelled: cancelled.promise };
  const body = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (state.count < reads) {
        controller.enqueue(new Uint8Array(bytes).fill(state.count++));
        return;
      }
      if (end === "silence") await new Promise(() => {});
      if (end === "failure") throw REASON;
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  return { body, state };
}

Deno.test("readBody() drops the rest of a body that is left", async () => {
  const { body, state } = bodyOf(10, 3, "silence");
  const chunks = readBody({ body }, NEVER);
  await chunks.next();
  await chunks.return(undefined);
  await state.cancelled;
});

for (const count of [-1, 0, 1]) {
  Deno.test(`readBody() drops a body after an abort, before read ${count + 1} begins`, async () => {
    const { body, state } = bodyOf(10, 1, "silence");
    const controller = new AbortController();
    if (count < 0) controller.abort(REASON);
    const chunks = readBody({ body }, controller.signal);
    for (let i = 0; i < count; i++) await chunks.next();
    const pending = chunks.next();
    controller.abort(REASON);
    assertStrictEquals(await assertRejects(() => pending), REASON);
    await state.cancelled;
  });
}

Deno.test("readBody() yields nothing after an abort, not even what has arrived", async () => {
  const controller = new AbortController();
  const chunks = readBody(bodyOf(10), controller.signal);
  await chunks.next();
  await nextTask();
  controller.abort(REASON);
  assertStrictEquals(await assertRejects(() => chunks.next()), REASON);
});

Deno.test("readBody() drops a body that nobody reads after an abort", async () => {
  const controller = new AbortController();
  const { body, state } = bodyOf(10, 1, "silence");
  readBody({ body }, controller.signal);
  controller.abort(REASON);
  await state.cancelled;
});

Deno.test("readBody() reads an answer without a body", async () => {
  assertEquals(await Array.fromAsync(readBody({ body: null }, NEVER)), []);
});

Deno.test("readBody() reads a chunk when it is requested, and not before; it hands on what came before a failure, and then the failure", async () => {
  const { body, state } = bodyOf(1000, 1, "failure");
  const chunks = readBody({ body }, NEVER);
  assertEquals((await chunks.next()).value?.length, 1000);
  await nextTask();
  assertEquals(state.count, 1);
  assertStrictEquals(await assertRejects(() => chunks.next()), REASON);
});

Deno.test("readBody() keeps every byte, for all sizes and speeds", async () => {
  for (const bytes of [1, 7, 4096, 5000, 100_000]) {
    const seen: number[] = [];
    let turn = 0;
    for await (const chunk of readBody(bodyOf(bytes, 50), NEVER)) {
      for (const byte of chunk) seen.push(byte);
      if (turn++ % 3 === 0) await nextTask();
    }
    assertEquals(seen.length, 50 * bytes);
    const wrong = seen.findIndex((byte, i) => byte !== Math.floor(i / bytes));
    assertEquals(wrong, -1);
  }
});
