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

Deno.test("startTimeout() that fires late calls its function after the grace period, however late that is", () => {
  using clock = new FakeClock();
  let expired = 0;
  startTimeout(1_000, () => expired++);
  clock.passTo(1_300); // The process was stopped, or busy.
  clock.passTo(6_000);
  assertEquals(expired, 0);
  clock.passTo(90_000);
  assertEquals(expired, 1);
});

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
