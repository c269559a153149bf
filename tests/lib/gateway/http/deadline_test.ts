import {
  assertEquals,
  assertFalse,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { Deadline, pause } from "../../../../lib/gateway/http/deadline.ts";

// No timer may outlive a test.
Deno.test.sanitizer({ ops: true, resources: true });

const REASON = new Error("Enough");

/** Resolves after the timers that are due by then. */
function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

Deno.test("Deadline aborts its signal when the time is over", async () => {
  const { signal } = new AbortController();
  const deadline = new Deadline(signal, 1, 0);
  await new Promise((resolve) =>
    deadline.signal.addEventListener("abort", resolve)
  );
  assertEquals(deadline.expired, true);
  deadline.end();
});

Deno.test("Deadline that was met is aborted by the outer signal alone", async () => {
  const controller = new AbortController();
  const deadline = new Deadline(controller.signal, 5, 0);
  deadline.meet();
  deadline.end();
  await after(20);
  assertFalse(deadline.signal.aborted);
  controller.abort(REASON);
  assertStrictEquals(deadline.signal.reason, REASON);
  assertFalse(deadline.expired);
  deadline.drop();
});

Deno.test("pause() rejects with the signal's reason when it is aborted, also before", async () => {
  const controller = new AbortController();
  const pending = pause(60_000, controller.signal);
  controller.abort(REASON);
  const late = pause(60_000, controller.signal);
  assertStrictEquals(await assertRejects(() => pending), REASON);
  assertStrictEquals(await assertRejects(() => late), REASON);
});
