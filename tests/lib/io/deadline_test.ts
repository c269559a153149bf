import { assertEquals } from "@std/assert";
import { Deadline, TimeIsOver } from "../../../lib/io/deadline.ts";
import { FakeClock } from "../../support/clocks.ts";

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
  assertEquals(ended?.signal.aborted, false);
  assertEquals(new Deadline(1, outer.signal).signal.aborted, true);
});
