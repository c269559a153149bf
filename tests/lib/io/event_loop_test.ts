import { assertEquals } from "@std/assert";
import { FakeClock } from "../../support/clocks.ts";

Deno.test("shareEventLoop() takes a turn after 50 ms of work, and none for a slow start", async () => {
  using clock = new FakeClock();
  // Another specifier is another module, which nobody has called yet.
  const { shareEventLoop } = await import(
    "../../../lib/io/event_loop.ts?started=now"
  ) as typeof import("../../../lib/io/event_loop.ts");
  clock.time += 10_000; // The program took so long to start.
  assertEquals(shareEventLoop(), undefined);
  clock.time += 49;
  assertEquals(shareEventLoop(), undefined);
  clock.time += 1;
  const turn = shareEventLoop();
  assertEquals(turn instanceof Promise, true);
  await turn;
  assertEquals(shareEventLoop(), undefined);
});
