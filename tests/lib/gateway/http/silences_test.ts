import { assertEquals } from "@std/assert";
import {
  type SilenceError,
  Silences,
} from "../../../../lib/gateway/http/silences.ts";
import { AwakeClock } from "../../../../lib/io.ts";
import { FakeClock } from "../../../support/clocks.ts";

Deno.test("Silences has one timer for all waits, and tells of the one that is too long", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  const silences = new Silences(clock, () => 10_000);
  const errors: SilenceError[] = [];
  const begin = () => silences.begin((error) => errors.push(error));
  for (let i = 0; i < 100; i++) {
    begin();
    fake.elapse(900);
    silences.end();
    assertEquals(fake.pending, 2); // with the tick of the clock
  }
  begin();
  for (let i = 0; i < 11; i++) fake.elapse(900);
  assertEquals(errors, []);
  fake.elapse(100);
  assertEquals(errors.map(({ milliseconds }) => milliseconds), [10_000]);
});

Deno.test("Silences heeds a limit that becomes shorter", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  let limit = 600_000;
  const silences = new Silences(clock, () => limit);
  silences.begin(() => {});
  silences.end();
  limit = 1_000;
  let exceeded = 0;
  silences.begin(() => exceeded++);
  fake.passTo(999);
  assertEquals(exceeded, 0);
  fake.passTo(1_000);
  assertEquals(exceeded, 1);
});

Deno.test("a clock that is disposed of leaves no timer behind", () => {
  using fake = new FakeClock();
  {
    using clock = new AwakeClock();
    const silences = new Silences(clock, () => 10_000);
    silences.begin(() => {});
    silences.end();
  }
  assertEquals(fake.pending, 0);
});
