import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { readText } from "../../../lib/gateway/response_text.ts";
import { readBody } from "../../../lib/gateway/response_body.ts";

/** A body of `count` chunks, then silence. `cancelled` resolves when it is cancelled. */
function bodyOf(chunks: number) {
  const cancelled = Promise.withResolvers<void>();
  const response = new Response(
    new ReadableStream({
      type: "bytes",
      async pull(controller) {
        if (chunks-- > 0) controller.enqueue(new Uint8Array(10));
        else await cancelled.promise;
      },
      cancel: () => cancelled.resolve(),
    }, { highWaterMark: 0 }),
  );
  return { response, cancelled: cancelled.promise };
}

Deno.test("readBody() drops the rest of a body that is left", async () => {
  const { response, cancelled } = bodyOf(3);
  const { signal } = new AbortController();
  const text = await readText(readBody(response, signal), 15);
  assertEquals(text.cut, true);
  await cancelled;
});

for (const read of [0, 1] as const) {
  Deno.test(`readBody() drops a body after an abort when ${read} chunks were read`, async () => {
    const { response, cancelled } = bodyOf(1);
    const controller = new AbortController();
    const reason = new Error("Enough");
    const chunks = readBody(response, controller.signal);
    for (let i = 0; i < read; i++) await chunks.next();
    const pending = chunks.next();
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => pending), reason);
    await cancelled;
  });
}

Deno.test("readBody() drops an unread body after an abort", async () => {
  const { response, cancelled } = bodyOf(1);
  const controller = new AbortController();
  readBody(response, controller.signal);
  controller.abort();
  await cancelled;
});

Deno.test("readBody() drops a body that comes after the abort", async () => {
  const { response, cancelled } = bodyOf(1);
  const reason = new Error("Enough");
  const chunks = readBody(response, AbortSignal.abort(reason));
  await cancelled;
  assertStrictEquals(await assertRejects(() => chunks.next()), reason);
});

Deno.test("readBody() reads an answer without a body", async () => {
  const chunks = readBody(new Response(null), new AbortController().signal);
  assertEquals(await Array.fromAsync(chunks), []);
});

/** A body in which each read gets the next number, in `size` bytes. */
function countingBody(bytes: number, reads = Infinity) {
  const counter = { reads: 0 };
  const response = new Response(
    new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (counter.reads === reads) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else {
          controller.enqueue(new Uint8Array(bytes).fill(counter.reads++));
        }
      },
    }, { highWaterMark: 0 }),
  );
  return { response, counter };
}

/** Resolves after all pending microtasks. */
async function nextTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("readBody() joins the bytes that arrive while a chunk is in use", async () => {
  const { response } = countingBody(2, 4);
  const chunks = readBody(response, new AbortController().signal);

  const { value: first } = await chunks.next();
  const used = [...first ?? []];
  await nextTask();
  const { value: rest } = await chunks.next();

  assertEquals([used, [...rest ?? []]], [[0, 0], [1, 1, 2, 2, 3, 3]]);
  assertEquals((await chunks.next()).done, true);
});

Deno.test("readBody() reads 64 KiB ahead, and no more", async () => {
  const { response, counter } = countingBody(1000);
  const chunks = readBody(response, new AbortController().signal);

  await chunks.next();
  await nextTask();

  // One chunk was consumed, 65 were read ahead, and one waits for room.
  assertEquals(counter.reads, 67);
  assertEquals((await chunks.next()).value?.length, 65_000);
  await chunks.return(undefined);
});

Deno.test("readBody() asks for twice as much after each full buffer, up to 64 KiB", async () => {
  const asked: number[] = [];
  const response = new Response(
    new ReadableStream({
      type: "bytes",
      pull(controller) {
        const { byobRequest } = controller;
        const { byteLength = 0 } = byobRequest?.view ?? {};
        // The tenth read is not filled, and does not shrink the next buffer.
        asked.push(byteLength);
        if (asked.length < 12) {
          byobRequest?.respond(asked.length === 10 ? 1 : byteLength);
        } else {
          controller.close();
          byobRequest?.respond(0);
        }
      },
    }, { highWaterMark: 0 }),
  );

  const chunks = readBody(response, new AbortController().signal);
  let length = 0;
  for await (const chunk of chunks) length += chunk.length;

  const KIB = 1024;
  const grown = [1, 2, 4, 8, 16, 32, 64].map((size) => size * KIB);
  assertEquals(asked, [...grown, ...Array(5).fill(64 * KIB)]);
  assertEquals(length, (127 + 2 * 64 + 64) * KIB + 1);
});

Deno.test("readBody() hands on what came before a failure, and then the failure", async () => {
  const failure = new Error("broken");
  const response = new Response(
    new ReadableStream({
      type: "bytes",
      start(controller) {
        controller.enqueue(Uint8Array.of(1));
      },
      pull: () => Promise.reject(failure),
    }, { highWaterMark: 0 }),
  );
  const chunks = readBody(response, new AbortController().signal);

  assertEquals([...(await chunks.next()).value ?? []], [1]);
  assertStrictEquals(await assertRejects(() => chunks.next()), failure);
});

Deno.test("readBody() keeps every byte, for all sizes and speeds", async () => {
  for (const bytes of [1, 7, 4096, 5000, 100_000]) {
    const { response } = countingBody(bytes, 50);
    const seen = new Uint8Array(50 * bytes);
    let length = 0;
    let turn = 0;
    for await (
      const chunk of readBody(response, new AbortController().signal)
    ) {
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
