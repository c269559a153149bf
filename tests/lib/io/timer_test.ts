import { assertEquals, assertRejects } from "@std/assert";
import { startTimer, within } from "../../../lib/io/timer.ts";
import { FakeClock } from "../../support/clocks.ts";

Deno.test("startTimer() calls each function once, not before its time, in the order in which they are due", () => {
  using clock = new FakeClock();
  const called: number[] = [];
  for (const milliseconds of [60, 0, 30, 90, 30.5]) {
    startTimer(milliseconds, () => called.push(milliseconds));
  }
  clock.passTo(30);
  assertEquals(called, [0, 30]);
  clock.passTo(90);
  assertEquals(called, [0, 30, 30.5, 60, 90]);
});

Deno.test("startTimer() does not call a function whose timer was stopped, not even by another one that is due at the same time", async () => {
  const called: string[] = [];
  const last = Promise.withResolvers<void>();
  const stopFirst = startTimer(10, () => called.push("first"));
  startTimer(20, () => stopSecond());
  const stopSecond = startTimer(20, () => called.push("second"));
  startTimer(30, last.resolve);
  stopFirst();
  await last.promise;
  assertEquals(called, []);
});

Deno.test("startTimer() can be called when a timer is due", async () => {
  const last = Promise.withResolvers<string>();
  startTimer(1, () => startTimer(1, () => last.resolve("called")));
  startTimer(60_000, () => last.resolve("late"))();
  assertEquals(await last.promise, "called");
});

Deno.test("startTimer() calls a function that fell due while another one was busy", async () => {
  using clock = new FakeClock();
  const last = Promise.withResolvers<void>();
  startTimer(1, () => clock.time += 50);
  startTimer(10, last.resolve);
  clock.pass();
  clock.pass();
  await last.promise;
});

Deno.test("within() yields the result in time, and else what is late", async () => {
  const never = new Promise<string>(() => {});
  assertEquals(await within(60_000, Promise.resolve("a"), () => "late"), "a");
  assertEquals(await within(1, never, () => "late"), "late");
  await assertRejects(
    () =>
      within(1, never, () => {
        throw new Error("late");
      }),
    Error,
    "late",
  );
});
