import { assertEquals } from "@std/assert";
import {
  Deadline,
  startTimeout,
  TimeIsOver,
} from "../../../lib/io/deadline.ts";
import { FakeClock } from "../../support/clocks.ts";

Deno.test("startTimeout() calls its function once, and not if it was stopped", () => {
  using clock = new FakeClock();
  let expired = 0;
  startTimeout(1, () => expired++);
  startTimeout(1, () => expired += 10)();
  for (let i = 0; i < 10; i++) clock.pass();
  assertEquals(expired, 1);
});

/** How late a timer fires, and how long it then waits. */
const LATE = [
  { late: 100, grace: 0 },
  { late: 300, grace: 1_500 },
  { late: 900, grace: 4_500 },
  { late: 9_000, grace: 5_000 },
];

for (const { late, grace } of LATE) {
  Deno.test(`startTimeout() that fires ${late} ms late waits ${grace} ms more, once`, () => {
    using clock = new FakeClock();
    let expired = 0;
    startTimeout(1_000, () => expired++);
    clock.passTo(1_000 + late); // The process was stopped, or busy.
    if (grace > 0) {
      assertEquals(expired, 0);
      clock.elapse(grace - 1);
      assertEquals(expired, 0);
      clock.passTo(90_000); // Late again.
    }
    assertEquals(expired, 1);
  });
}

Deno.test("Deadline aborts its signal when its time is over or the outer signal is aborted, and not after its end", () => {
  using clock = new FakeClock();
  const outer = new AbortController();
  const [late, dropped, ended] = Array.from(
    { length: 3 },
    (_, index) => new Deadline(index === 0 ? 1_000 : 9_000, outer.signal),
  );
  clock.pass();
  ended?.[Symbol.dispose]();
  outer.abort("dropped");
  assertEquals(late?.signal.reason instanceof TimeIsOver, true);
  assertEquals(late?.signal.reason.milliseconds, 1_000);
  assertEquals(dropped?.signal.reason, "dropped");
  assertEquals([late?.isOver, dropped?.isOver], [true, false]);
  assertEquals(ended?.signal.aborted, false);
  assertEquals(new Deadline(1, outer.signal).signal.aborted, true);
});
