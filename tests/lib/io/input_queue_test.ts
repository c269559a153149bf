import { assertEquals, assertRejects } from "@std/assert";
import { type Entry, InputQueue } from "../../../lib/io/input_queue.ts";
import { InputError } from "../../../lib/io/standard_streams.ts";
import { redacted } from "../../support/texts.ts";

const text = (text: string): Entry => ({ kind: "text", text });

Deno.test("InputQueue.next() returns entries in order, whether they waited or the reader did", async () => {
  const queue = new InputQueue();
  queue.add(text("one"));
  queue.add({ kind: "refused", reason: redacted("no") });
  assertEquals(await queue.next(), text("one"));
  assertEquals(await queue.next(), { kind: "refused", reason: redacted("no") });

  const next = queue.next();
  assertEquals(queue.isAwaited, true);
  queue.add(text("two"));
  assertEquals(queue.isAwaited, false);
  assertEquals(await next, text("two"));
});

Deno.test("InputQueue.next() returns the end after the entries that wait, again and again", async () => {
  const queue = new InputQueue();
  queue.add(text("one"));
  queue.close();
  queue.add(text("too late"));
  assertEquals(await queue.next(), text("one"));
  assertEquals(await queue.next(), { kind: "end" });
  assertEquals(await queue.next(), { kind: "end" });
});

Deno.test("InputQueue.next() resolves with an end that comes later", async () => {
  for (const method of ["end", "close"] as const) {
    const queue = new InputQueue();
    const next = queue.next();
    queue[method]();
    assertEquals(await next, { kind: "end" });
  }
});

Deno.test("InputQueue.next() rejects with a failure of the input after the entries that wait", async () => {
  const queue = new InputQueue();
  const next = queue.next();
  queue.fail(new InputError("gone"));
  await assertRejects(() => next, InputError, "gone");

  const other = new InputQueue();
  other.add(text("one"));
  other.fail(new InputError("gone"));
  assertEquals(await other.next(), text("one"));
  await assertRejects(() => other.next(), InputError, "gone");
});

Deno.test("InputQueue.dropWaiting() counts the entries, and drops an end() but no close()", async () => {
  const queue = new InputQueue();
  queue.add(text("one"));
  queue.add({ kind: "refused", reason: redacted("no") });
  queue.end();
  assertEquals(queue.hasEnded, true);
  assertEquals(queue.dropWaiting(), 2);
  assertEquals(queue.hasEnded, false);
  queue.add(text("two"));
  assertEquals(queue.waiting, [text("two")]);

  queue.end();
  queue.close();
  queue.end();
  assertEquals(queue.dropWaiting(), 1);
  assertEquals(await queue.next(), { kind: "end" });
});
