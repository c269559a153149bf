import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../support/clocks.ts";
import { GatedStream } from "../../support/service/gated_stream.ts";
import { gatewayTo, startService, turnOf } from "../../support/turns.ts";

Deno.test("a run of 1,000 events, ten a second, keeps as few timers as one of two", async () => {
  const gate = new GatedStream();
  await using service = startService({ stream: [gate.behaviour] });
  using clock = new FakeClock();
  await using gateway = gatewayTo(service, { idle: 600_000 });
  gate.progress("1", "");
  const counts: number[] = [];
  for await (const event of turnOf(gateway)) {
    if (event.type !== "progress") continue;
    counts.push(clock.pending);
    clock.passTo(clock.time + 100);
    if (counts.length < 1_000) gate.progress(`${counts.length + 1}`, "");
    else gate.complete("Done.");
  }
  const first = Math.max(...counts.slice(0, 2));
  assertEquals(counts.length, 1_000);
  assert(Math.max(...counts) <= first + 2, `${counts}`);
});
