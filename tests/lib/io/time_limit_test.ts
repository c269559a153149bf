import { assertEquals, assertRejects } from "@std/assert";
import { TimeIsOver } from "../../../lib/io/deadline.ts";
import { TimeLimit } from "../../../lib/io/time_limit.ts";
import { FakeClock } from "../../support/clocks.ts";

/** What a promise has resolved with, once it has. */
function watch<T>(promise: Promise<T>): { value?: T } {
  const watched: { value?: T } = {};
  promise.then((value) => watched.value = value);
  return watched;
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
const never = () => new Promise<void>(() => {});

Deno.test("TimeLimit aborts its signal when the time is over, and gives up writing 5 s later", async () => {
  using clock = new FakeClock();
  using limit = new TimeLimit(2_000);
  const written = watch(limit.endsInTime(never()));
  clock.passTo(1_999);
  assertEquals(limit.signal.aborted, false);
  clock.passTo(2_000);
  assertEquals(limit.signal.reason instanceof TimeIsOver, true);

  clock.elapse(4_999);
  await turn();
  assertEquals(written, {});
  clock.elapse(1);
  await turn();
  assertEquals(written, { value: false });
});

Deno.test("TimeLimit lets a process that was stopped read first, and then gives it 5 s for writing", async () => {
  using clock = new FakeClock();
  using limit = new TimeLimit(2_000);
  const written = watch(limit.endsInTime(never()));
  clock.time = 60_000;
  clock.pass();
  assertEquals(limit.signal.aborted, false);
  clock.passTo(65_000);
  assertEquals(limit.signal.aborted, true);
  clock.elapse(4_999);
  await turn();
  assertEquals(written, {});
  clock.elapse(1);
  await turn();
  assertEquals(written, { value: false });
});

Deno.test("TimeLimit.endsInTime() waits for a task that writes nothing, and for each write of less than a second", async () => {
  using clock = new FakeClock();
  using limit = new TimeLimit(2_000);
  let written: string | undefined;
  const ended = watch(limit.endsInTime(never(), () => written));
  clock.elapse(20_000);
  for (const next of ["one", "two", undefined, "three"]) {
    written = next;
    clock.elapse(1_000);
    await turn();
    assertEquals(ended, {});
  }
  clock.elapse(1_000);
  await turn();
  assertEquals(ended, { value: false });
});

Deno.test("TimeLimit.endsInTime() waits for a write, and rejects with its error, before and after the end", async () => {
  using clock = new FakeClock();
  using limit = new TimeLimit(2_000);
  const gone = () => Promise.reject(new Deno.errors.BrokenPipe());
  for (const time of [0, 2_000]) {
    clock.passTo(time);
    assertEquals(await limit.endsInTime(Promise.resolve()), true);
    await assertRejects(() => limit.endsInTime(gone()), Deno.errors.BrokenPipe);
  }
});

Deno.test("TimeLimit without a time starts no timer and never gives up", async () => {
  using clock = new FakeClock();
  using limit = new TimeLimit(undefined);
  assertEquals(clock.pending, 0);
  assertEquals(await limit.endsInTime(Promise.resolve()), true);
});

Deno.test("TimeLimit that is disposed of leaves no timer", () => {
  using clock = new FakeClock();
  new TimeLimit(2_000)[Symbol.dispose]();
  assertEquals(clock.pending, 0);

  const over = new TimeLimit(2_000);
  void over.endsInTime(never());
  clock.passTo(2_000);
  assertEquals(clock.pending, 1);
  over[Symbol.dispose]();
  assertEquals(clock.pending, 0);
});
