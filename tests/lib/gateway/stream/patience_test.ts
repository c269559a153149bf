import { assertEquals } from "@std/assert";
import { Patience } from "../../../../lib/gateway/stream/patience.ts";
import { TIMEOUTS } from "../../../../lib/gateway/http/timeouts.ts";
import { AwakeClock } from "../../../../lib/io.ts";
import { FakeClock } from "../../../support/clocks.ts";

/** A connection, and what happens to it. */
interface Ended {
  /** The seconds from its headers to its end, if it has headers. */
  readonly seconds?: number;
  /** The seconds that the attempt to connect took, if it failed. */
  readonly attempt?: number;
  readonly isFruitful?: boolean;
  /** Whether its stream ends by itself. */
  readonly isWhole?: boolean;
  /** The seconds for which the process is stopped meanwhile. */
  readonly stopped?: number;
}

/**
 * The pauses after these connections, in seconds and on average, up to the end of the
 * retries, if they end.
 */
function pausesAfter(connections: Iterable<Ended>): number[] {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  const patience = new Patience(TIMEOUTS, clock);
  const pauses: number[] = [];
  for (const connection of connections) {
    const attempt = patience.begin();
    if (connection.seconds !== undefined) patience.open(attempt);
    fake.elapse((connection.seconds ?? connection.attempt ?? 0) * 1000);
    fake.passTo(fake.time + (connection.stopped ?? 0) * 1000);
    if (connection.isFruitful) patience.renew(attempt);
    const drawn = patience.pauseAfter(attempt, connection.isWhole);
    if (drawn === undefined) return [...pauses, Infinity];
    const pause = (drawn.least + drawn.most) / 2;
    fake.elapse(pause);
    pauses.push(pause / 1000);
  }
  return pauses;
}

function repeat(connection: Ended, count = 99): readonly Ended[] {
  return Array(count).fill(connection);
}

const refused = {};
const short = { seconds: 4, isFruitful: true };
const fruitful = { seconds: 5, isFruitful: true };

/** The pauses that grow, then a number of the longest ones, then the end. */
function growing(count: number, first = 0.5): readonly number[] {
  return [first, 1, 2, 4, 8, ...Array(count).fill(15), Infinity];
}

type Case = readonly [
  connections: readonly Ended[],
  pauses: readonly number[],
];

const CASES: Readonly<Record<string, Case>> = {
  "2 minutes without an answer": [repeat(refused), growing(7)],
  "2 minutes of connections that each bring an event and end within 5 s": [
    repeat(short),
    growing(5, 1),
  ],
  "2 minutes of such connections and of refused ones": [
    [short, ...repeat(refused, 6), ...repeat(short)],
    growing(6, 1),
  ],
  "2 minutes that start over with an event on a connection of 5 s": [
    [...repeat(refused, 11), fruitful, fruitful, ...repeat(refused)],
    [...growing(6).slice(0, -1), 1, ...growing(7, 1)],
  ],
  "10 minutes without an event, with connections of a minute": [
    [fruitful, ...repeat({ seconds: 60 })],
    growing(5, 1), // They do not start over.
  ],
  "one more try if a connection was silent for all of the time": [
    repeat({ seconds: 3600 }),
    [1, Infinity],
  ],
  "the usual time, whether or not the process was stopped": [
    [{ seconds: 60 }, { seconds: 60, stopped: 3600 }, ...repeat(refused)],
    [1, 1, 2, 4, 8, ...Array(7).fill(15), Infinity],
  ],
  "five streams in a row that end at once with nothing new": [
    repeat({ seconds: 0, isWhole: true }),
    [1, 1, 2, 4, Infinity],
  ],
  "five such streams, of which none brings an event or lasts": [
    [
      ...repeat({ seconds: 0, isWhole: true }, 4),
      { seconds: 0, isWhole: true, isFruitful: true },
      ...repeat({ seconds: 0, isWhole: true }, 4),
      { seconds: 6, isWhole: true },
      ...repeat({ seconds: 0, isWhole: true }),
    ],
    [1, 1, 2, 4, 8, ...Array(9).fill(15), Infinity],
  ],
  "attempts of 127 s, as the system makes them where packets are dropped": [
    repeat({ attempt: 127 }),
    [0.5, Infinity],
  ],
};

for (const [when, [connections, pauses]] of Object.entries(CASES)) {
  Deno.test(`Patience gives up after ${when}`, () => {
    assertEquals(pausesAfter(connections), pauses);
  });
}

Deno.test("Patience has too much of old events 10 minutes after the headers", () => {
  using fake = new FakeClock();
  using clock = new AwakeClock();
  const patience = new Patience(TIMEOUTS, clock);
  fake.elapse(900_000);
  const attempt = patience.begin();
  patience.open(attempt);
  fake.elapse(590_000);
  assertEquals(patience.isTooOld(attempt), false);
  fake.passTo(fake.time + 900_000); // The process is stopped.
  assertEquals(patience.isTooOld(attempt), false);
  fake.elapse(20_000);
  assertEquals(patience.isTooOld(attempt), true);
});
