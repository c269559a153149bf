import { assert, assertEquals } from "@std/assert";
import { Silences } from "../../../../lib/gateway/http/silences.ts";
import { AwakeClock } from "../../../../lib/io.ts";
import { FakeClock } from "../../../support/clocks.ts";

Deno.test("Silences has no timer of its own, and tells of the silence that is too long: time in which a chunk is awaited and the process runs", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  let limit = 40_000;
  const silences = new Silences(clock, () => limit);
  const errors: string[] = [];
  silences.onExceeded = ({ message }) => errors.push(message);
  for (let i = 0; i < 100; i++) {
    silences.begin();
    fake.elapse(30_000);
    fake.passTo(fake.time + 1_000_000); // The process is stopped.
    fake.elapse(1_000);
    silences.end();
    assert(silences.longest < 40_000);
    fake.elapse(100_000); // Nobody waits.
    assertEquals(fake.pending, 1); // the tick of the clock
  }
  limit = 10_000;
  silences.begin();
  fake.elapse(9_999);
  assertEquals(errors, []);
  fake.elapse(5_001); // The clock ticks every 5 s.
  assertEquals(errors, ["Nothing came from the service for 10 s"]);
});
