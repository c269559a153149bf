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

/** The moments at which a timeout of 60 s expires, in seconds, after some time passed. */
const EXPIRED: Readonly<
  Record<string, readonly [(fake: FakeClock) => void, number]>
> = {
  "in a process that runs": [() => {}, 60],
  "after a stop of 30 s, later by that": [
    (fake) => fake.passTo(30 * SECOND),
    30 - 6 + 60,
  ],
  "at least 5 s after a stop beyond its end": [
    (fake) => {
      fake.elapse(58 * SECOND);
      fake.passTo(100 * SECOND);
    },
    105,
  ],
  "once later by 5 s, however often it is late": [
    (fake) => {
      fake.elapse(58 * SECOND);
      fake.passTo(61 * SECOND);
      fake.passTo(67 * SECOND);
    },
    67,
  ],
};

for (const [when, [pass, expected]] of Object.entries(EXPIRED)) {
  Deno.test(`a timeout of AwakeClock expires ${when}`, () => {
    using fake = new FakeClock();
    using clock = new AwakeClock();
    let expired: number | undefined;
    clock.startTimeout(60 * SECOND, () => expired = fake.time / SECOND);
    pass(fake);
    fake.elapse(300 * SECOND);
    assertEquals(expired, expected);
  });
}

Deno.test("a timeout of AwakeClock that is stopped, or without an end, does not expire", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  let expired = 0;
  const stop = clock.startTimeout(SECOND, () => expired++);
  clock.startTimeout(Infinity, () => expired++);
  stop();
  fake.elapse(100 * SECOND);
  assertEquals(expired, 0);
});

Deno.test("AwakeClock leaves no timer when it is disposed of", () => {
  using fake = new FakeClock();
  const clock = new AwakeClock();
  assertEquals(fake.pending, 1);
  clock.startTimeout(SECOND, () => {});
  assertEquals(fake.pending, 2);
  clock[Symbol.dispose]();
  assertEquals(fake.pending, 0);
  clock.startTimeout(SECOND, () => {});
  assertEquals(fake.pending, 0);
});
