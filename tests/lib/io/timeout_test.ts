import { assertEquals, assertRejects } from "@std/assert";
import { pause, startTimeout, within } from "../../../lib/io/timeout.ts";
import { FakeClock } from "../../support/clocks.ts";
import { programOutput } from "../../support/program_output.ts";
import { stub } from "../../support/stubs.ts";

/** A timeout, how late it fires, and how long it then waits. */
const LATE = [
  { ms: 400, isLimit: true, late: 300, grace: 1_500 },
  { ms: 400, late: 9_000, grace: 0 },
  { ms: 1_000, late: 100, grace: 0 },
  { ms: 1_000, late: 300, grace: 1_500 },
  { ms: 1_000, late: 900, grace: 4_500 },
  { ms: 1_000, late: 9_000, grace: 5_000 },
];

for (const { ms, late, grace, ...options } of LATE) {
  Deno.test(`startTimeout() of ${ms} ms${options.isLimit ? ", a limit," : ""} that fires ${late} ms late waits ${grace} ms more, once`, () => {
    using clock = new FakeClock();
    let expired = 0;
    startTimeout(ms, () => expired++, options);
    clock.passTo(ms + late); // The process was stopped, or busy.
    if (grace > 0) {
      assertEquals(expired, 0);
      clock.elapse(grace - 1);
      assertEquals(expired, 0);
      clock.passTo(90_000); // Late again.
    }
    clock.elapse(90_000);
    assertEquals(expired, 1);
  });
}

Deno.test("startTimeout() of minutes ends in time, and once stopped, nothing of it is left after 2 s", () => {
  using clock = new FakeClock();
  let expired = NaN;
  startTimeout(600_001, () => expired = clock.time);
  startTimeout(1, () => expired = 1)(); // is stopped
  clock.elapse(600_000);
  assertEquals(expired, NaN);
  clock.elapse(1);
  assertEquals(expired, 600_001);
  const { timeout } = AbortSignal;
  using _ = stub(AbortSignal, {
    timeout(milliseconds) {
      assertEquals(milliseconds, 2_000);
      return timeout(milliseconds);
    },
  });
  startTimeout(600_000, () => {})();
});

Deno.test("startTimeout() takes any time: Infinity never ends, a negative one is 0", async () => {
  startTimeout(Infinity, () => assertEquals("never", "ended"))();
  for (const time of [-5, 0.2]) {
    await new Promise<void>((resolve) => startTimeout(time, resolve));
  }
});

Deno.test("a timeout that was stopped neither keeps the process alive nor holds memory that grows", async () => {
  const program = `
    import { startTimeout } from "${
    import.meta.resolve("../../../lib/io/timeout.ts")
  }";
    for (let i = 0; i < 50_000; i++) startTimeout(600_000, () => {})();
    startTimeout(1, () => console.log(Deno.memoryUsage().rss));
  `;
  const { stdout, stderr } = await programOutput(
    [Deno.execPath(), "eval", "-q", "--no-config", program],
    { signal: AbortSignal.timeout(60_000) }, // It would live for ten minutes.
  );
  assertEquals(stderr, "");
  const mebibytes = Number(stdout) / 2 ** 20;
  assertEquals(mebibytes > 10 && mebibytes < 256, true, `${mebibytes} MiB`);
});

Deno.test("pause() ends when its signal is aborted", async () => {
  const reason = new Error("dropped");
  const dropping = new AbortController();
  const paused = pause(600_000, dropping.signal);
  dropping.abort(reason);
  assertEquals(await assertRejects(() => paused), reason);
  assertEquals(await assertRejects(() => pause(0, dropping.signal)), reason);
  await pause(1);
});

Deno.test("within() yields the result in time, and else what is late", async () => {
  const never = new Promise<string>(() => {});
  assertEquals(await within(60_000, Promise.resolve("a"), () => "late"), "a");
  assertEquals(await within(1, never, () => "late"), "late");
  const fail = () => {
    throw new Error("late");
  };
  await assertRejects(() => within(1, never, fail), Error, "late");
});
