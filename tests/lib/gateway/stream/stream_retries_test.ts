import { assertEquals } from "@std/assert";
import { StreamRetries } from "../../../../lib/gateway/stream/stream_retries.ts";
import { TIMEOUTS } from "../../../../lib/gateway/http/timeouts.ts";
import { skipTime } from "../../../support/clocks.ts";

/** A connection: the seconds from its headers to its end, if it has headers, and whether it brings an event. */
interface Ended {
  readonly seconds?: number;
  /** The seconds that the attempt to connect took, if it failed. */
  readonly attempt?: number;
  readonly isFruitful?: boolean;
}

/** The pauses after these connections, in seconds and on average, up to the end of the retries, if they end. */
function pausesAfter(connections: Iterable<Ended>): number[] {
  const retries = new StreamRetries(TIMEOUTS);
  const pauses: number[] = [];
  for (const { seconds, attempt = 0, isFruitful = false } of connections) {
    const askedAt = performance.now();
    const openedAt = seconds === undefined ? undefined : askedAt;
    skipTime((seconds ?? attempt) * 1000);
    if (isFruitful) retries.renew();
    const lastByteAt = openedAt;
    const drawn = retries.ended({ askedAt, openedAt, lastByteAt, isFruitful });
    if (drawn === undefined) return [...pauses, Infinity];
    const pause = (drawn.least + drawn.most) / 2;
    skipTime(pause);
    pauses.push(pause / 1000);
  }
  return pauses;
}

function repeat(connection: Ended, count = 2000): readonly Ended[] {
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
    growing(4, 1), // They do not start over.
  ],
  "one more try if all the time has passed, as in a process that was stopped": [
    repeat({ seconds: 3600 }),
    [1, Infinity],
  ],
  "attempts of 127 s, as the system makes them where packets are dropped": [
    repeat({ attempt: 127 }),
    [0.5, Infinity],
  ],
  "1,000 tries, however good the connections are": [
    repeat(fruitful),
    [...Array(1000).fill(1), Infinity],
  ],
};

for (const [when, [connections, pauses]] of Object.entries(CASES)) {
  Deno.test(`StreamRetries gives up after ${when}`, () => {
    assertEquals(pausesAfter(connections), pauses);
  });
}

Deno.test("StreamRetries is over when no event has come for 10 minutes", () => {
  const retries = new StreamRetries(TIMEOUTS);
  skipTime(500_000);
  assertEquals(retries.isOver, false);
  skipTime(100_000);
  assertEquals(retries.isOver, true);
  retries.renew();
  assertEquals(retries.isOver, false);
});
