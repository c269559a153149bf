import { assertEquals, assertRejects } from "@std/assert";
import { TimeIsOver } from "../../../lib/io/deadline.ts";
import { TimeLimit } from "../../../lib/io/time_limit.ts";
import { FakeClock } from "../../support/clocks.ts";

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
const never = new Promise<void>(() => {});

/** Asserts that a limit gives up writing 5 s from now, and not before. */
async function givesUp(
  clock: FakeClock,
  ended: Promise<boolean>,
): Promise<void> {
  let value: boolean | undefined;
  ended.then((it) => value = it);
  for (const [time, isEnded] of [[4_999, undefined], [1, false]] as const) {
    clock.elapse(time);
    await turn();
    assertEquals(value, isEnded);
  }
}

Deno.test("TimeLimit aborts its signal when the time is over, and gives up writing 5 s later; a process that was stopped reads first", async () => {
  for (const late of [0, 60_000]) {
    using clock = new FakeClock();
    using limit = new TimeLimit(2_000);
    const ended = limit.endsInTime(never);
    clock.time = 1_999 + late;
    clock.pass();
    assertEquals(limit.signal.aborted, late === 0);
    if (late > 0) clock.passTo(clock.time + 5_000);
    assertEquals(limit.signal.reason instanceof TimeIsOver, true);
    await givesUp(clock, ended);
  }
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

Deno.test("TimeLimit leaves no timer when it is disposed of, and starts none without a time", () => {
  using clock = new FakeClock();
  for (const [time, ...pending] of [[2_000, 1, 1], [undefined, 0, 0]]) {
    const limit = new TimeLimit(time);
    const before = clock.pending;
    void limit.endsInTime(never);
    clock.passTo(2_000);
    assertEquals([before, clock.pending], pending);
    limit[Symbol.dispose]();
    assertEquals(clock.pending, 0);
  }
});
