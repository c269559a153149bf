import { assertEquals } from "@std/assert";
import {
  type SilenceError,
  Silences,
} from "../../../../lib/gateway/http/silences.ts";
import { AwakeClock } from "../../../../lib/io.ts";
import { FakeClock } from "../../../support/clocks.ts";

Deno.test("Silences has no timer of its own, and tells of the silence that is too long", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  let limit = 60_000;
  const silences = new Silences(clock, () => limit);
  const errors: SilenceError[] = [];
  const begin = () => silences.begin((error) => errors.push(error));
  for (let i = 0; i < 100; i++) {
    begin();
    fake.elapse(1_900);
    silences.end();
    assertEquals(fake.pending, 1); // the tick of the clock
  }
  limit = 10_000;
  begin();
  fake.elapse(9_999);
  assertEquals(errors, []);
  fake.elapse(1);
  assertEquals(errors.map(({ milliseconds }) => milliseconds), [10_000]);
});
