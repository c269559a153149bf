import { assert, assertEquals } from "@std/assert";
import { startTimer } from "../../lib/timer.ts";

Deno.test("startTimer() calls each function once, not before its time, in the order in which they are due", async () => {
  const called: number[] = [];
  const started = performance.now();
  const last = Promise.withResolvers<void>();

  for (const milliseconds of [60, 0, 30, 90, 30.5]) {
    startTimer(milliseconds, () => {
      called.push(milliseconds);
      assert(performance.now() - started >= milliseconds);
      if (milliseconds === 90) last.resolve();
    });
  }
  await last.promise;

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
