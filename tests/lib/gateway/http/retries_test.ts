import { assertEquals } from "@std/assert";
import {
  around,
  draw,
  retryReason,
} from "../../../../lib/gateway/http/retries.ts";

const [BUSY, UNREACHABLE] = ["service busy", "service unreachable"] as const;

/** The statuses after which an operation is requested again, and why. */
const REPEATED = {
  "create thread": { 429: BUSY, 503: BUSY },
  "create run": { 429: BUSY },
  "stream run": { 429: BUSY, 502: UNREACHABLE, 503: BUSY, 504: UNREACHABLE },
} as const;

for (
  const operation of ["create thread", "create run", "stream run"] as const
) {
  const reasons: Readonly<Record<number, string>> = REPEATED[operation];
  Deno.test(`"${operation}" is repeated after ${Object.keys(reasons)}, and after no other status`, () => {
    for (let status = 100; status < 600; status++) {
      assertEquals(
        retryReason(operation, status),
        reasons[status],
        `${status}`,
      );
    }
  });
}

Deno.test("a pause is drawn around its length, by half of it to each side", () => {
  const { random } = Math;
  try {
    const drawn = [0, 0.5, 0.999].map((chance) => {
      Math.random = () => chance;
      return draw(around(4), 0);
    });
    assertEquals(drawn, [2, 4, 5.996]);
  } finally {
    Math.random = random;
  }
});

/** The least and the most of a pause that is asked for, in seconds. */
const ASKED = {
  "1": [1, 3],
  "5": [5, 7],
  "12": [12, 15],
  "28": [28, 33],
};

Deno.test("a pause that the service asks for is never shorter, and up to a quarter longer, between 2 and 5 s", () => {
  const { random } = Math;
  try {
    for (const [asked, range] of Object.entries(ASKED)) {
      const drawn = [0, 1].map((chance) => {
        Math.random = () => chance;
        return draw(around(1_000), Number(asked) * 1_000) / 1_000;
      });
      assertEquals(drawn[1], range[1]);
      assertEquals(drawn[0], range[0]);
    }
    assertEquals(draw(around(15_000), 1_000), 22_500); // Our own one is longer.
  } finally {
    Math.random = random;
  }
});
