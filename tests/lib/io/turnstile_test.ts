import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { readWholeLines } from "../../../lib/io/lines.ts";
import { Turnstile } from "../../../lib/io/turnstile.ts";

const MIB = 1024 * 1024;

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

/** A stream of one line. */
function lineOf(length: number): AsyncIterable<Uint8Array> {
  return ReadableStream.from([
    new Uint8Array(length).fill(0x78),
    Uint8Array.of(10),
  ]);
}

/** Reads lines; `lines` has the lengths of those that came. */
function open(source: AsyncIterable<Uint8Array>, turnstile: Turnstile) {
  const batches = readWholeLines(source, { maxBytes: 2 * MIB, turnstile });
  const lines: number[] = [];
  const read = async () => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return;
      for (const line of value) lines.push(`${line}`.trimEnd().length);
      if (value.length > 0) return;
    }
  };
  return { lines, read, batches };
}

Deno.test("a line of more than 1 MiB is read when the reader of the one before it reads on or leaves; shorter ones need no turn", async () => {
  for (const leaves of [false, true]) {
    const turnstile = new Turnstile();
    const first = open(lineOf(MIB + 1), turnstile);
    const second = open(lineOf(MIB + 1), turnstile);
    const short = open(lineOf(MIB - 1), turnstile);

    await first.read();
    const reading = second.read();
    await short.read();
    await setImmediate();
    assertEquals([first.lines, second.lines, short.lines], [
      [MIB + 1],
      [],
      [MIB - 1],
    ]);
    if (leaves) await first.batches.return(undefined);
    else await first.read();
    await reading;
    assertEquals(second.lines, [MIB + 1]);
  }
});
