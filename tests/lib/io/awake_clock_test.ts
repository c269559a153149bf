import { assertEquals } from "@std/assert";
import { AwakeClock } from "../../../lib/io.ts";
import { FakeClock } from "../../support/clocks.ts";
import { testRows } from "../../support/tables.ts";

/**
 * What happens, in seconds, the time that the clock then shows, and when it has ticked.
 * The process runs for a time, it is stopped for one and no timer has fired yet, or busy
 * up to a time, at which all timers fire that are due.
 */
testRows(
  "AwakeClock: {what}: it shows {shows} s and ticks at {ticks}",
  "what | shows | ticks",
  `
run 30.5                             | 30.5  | 5 10 15 20 25 30
run 2, stop 100                      | 6     |
run 2, stop 100, run 0               | 6     |
run 2, stop 100, run 10              | 16    | 107 112
busy 6                               | 6     |
busy 6, busy 12.5                    | 12    | 12.5
busy 12, run 18                      | 24    | 17 22 27
busy 7, busy 14, busy 20, run 10     | 28    | 14 20 25 30
`,
  ({ what, shows, ticks }) => {
    using fake = new FakeClock();
    using clock = new AwakeClock();
    const begun = clock.now;
    const ticked: number[] = [];
    clock.onTick = () => ticked.push(fake.time / 1_000);
    for (const step of what.split(", ")) {
      const [verb, seconds] = step.split(" ");
      const time = Number(seconds) * 1_000;
      if (verb === "run") fake.elapse(time);
      else if (verb === "stop") fake.time += time;
      else fake.passTo(time);
    }
    assertEquals((clock.now - begun) / 1_000, Number(shows));
    assertEquals(ticked.join(" "), ticks);
  },
);

Deno.test("AwakeClock leaves no timer when it is disposed of", () => {
  using fake = new FakeClock();
  const clock = new AwakeClock();
  assertEquals(fake.pending, 1);
  clock[Symbol.dispose]();
  assertEquals(fake.pending, 0);
});
