import { assertEquals } from "@std/assert";
import { AwakeClock } from "../../../lib/io.ts";
import { FakeClock } from "../../support/clocks.ts";

const SECOND = 1_000;

Deno.test("AwakeClock counts all of the time in which the process runs", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  for (const seconds of [1, 4, 1, 30, 0.5]) {
    const before = clock.now;
    fake.elapse(seconds * SECOND);
    assertEquals(clock.now - before, seconds * SECOND);
  }
});

Deno.test("AwakeClock counts at most 6 s of a stop, before and after it notices it", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  fake.elapse(2 * SECOND);
  fake.time += 100 * SECOND; // No timer has fired yet.
  assertEquals(clock.now, 6 * SECOND);
  fake.elapse(0);
  assertEquals(clock.now, 6 * SECOND);
  fake.elapse(10 * SECOND);
  assertEquals(clock.now, 16 * SECOND);
});

Deno.test("AwakeClock takes a tick that is up to 1 s late for a busy process", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  fake.passTo(6 * SECOND);
  assertEquals(clock.now, 6 * SECOND);
  fake.passTo(12.5 * SECOND);
  assertEquals(clock.now, 12 * SECOND);
});

/** The seconds at which a clock ticks within half a minute, after what happens first. */
const TICKS: Readonly<
  Record<string, readonly [(fake: FakeClock) => void, ...number[]]>
> = {
  "every 5 s": [() => {}, 5, 10, 15, 20, 25, 30],
  "not at the end of a stop": [
    (fake) => fake.passTo(12 * SECOND),
    ...[17, 22, 27],
  ],
  "at the second tick that is late": [
    (fake) => {
      fake.passTo(7 * SECOND);
      fake.passTo(14 * SECOND);
      fake.passTo(20 * SECOND);
    },
    ...[14, 20, 25, 30],
  ],
};

for (const [when, [pass, ...ticks]] of Object.entries(TICKS)) {
  Deno.test(`AwakeClock ticks ${when}`, () => {
    using fake = new FakeClock();
    using clock = new AwakeClock();
    const ticked: number[] = [];
    clock.onTick = () => ticked.push(fake.time / SECOND);
    pass(fake);
    fake.elapse(30 * SECOND - fake.time);
    assertEquals(ticked, ticks);
  });
}

Deno.test("AwakeClock leaves no timer when it is disposed of", () => {
  using fake = new FakeClock();
  const clock = new AwakeClock();
  assertEquals(fake.pending, 1);
  clock[Symbol.dispose]();
  assertEquals(fake.pending, 0);
});
