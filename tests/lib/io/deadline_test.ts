import { assertEquals } from "@std/assert";
import { Timeout } from "../../../lib/io/deadline.ts";
import { FakeClock } from "../../support/clocks.ts";

Deno.test("Timeout expires once, and not when it is cleared", () => {
  using clock = new FakeClock();
  let expired = 0;
  new Timeout(1, () => expired++);
  new Timeout(1, () => expired += 10).clear();
  for (let i = 0; i < 10; i++) clock.pass();
  assertEquals(expired, 1);
});

Deno.test("Timeout that fires late expires after the grace period, however late that is", () => {
  using clock = new FakeClock();
  let expired = 0;
  new Timeout(1_000, () => expired++);
  clock.passTo(1_300); // The process was stopped, or busy.
  clock.passTo(6_000);
  assertEquals(expired, 0);
  clock.passTo(90_000);
  assertEquals(expired, 1);
});
