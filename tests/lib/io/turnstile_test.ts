import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { Turnstile } from "../../../lib/io/turnstile.ts";

Deno.test("Turnstile.enter() lets one holder in at a time, in order", async () => {
  const turnstile = new Turnstile();
  const entered: number[] = [];
  const holders = [1, 2, 3].map(async (number) => {
    const turn = await turnstile.enter();
    entered.push(number);
    return turn;
  });

  for (const number of [1, 2, 3]) {
    await setImmediate();
    assertEquals(entered.at(-1), number);
    (await holders[number - 1])?.[Symbol.dispose]();
  }
});
