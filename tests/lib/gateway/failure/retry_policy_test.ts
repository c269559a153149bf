import { assertEquals } from "@std/assert";
import type { RemoteOperation } from "../../../../lib/gateway/failure/fate.ts";
import {
  type Attempt,
  type Attempts,
  type Problem,
  problemOfStatus,
  type Retry,
  retryPost,
  retryStream,
  silenceLimit,
  withAttempt,
} from "../../../../lib/gateway/failure/retry_policy.ts";
import { testRows } from "../../../support/tables.ts";

const SECOND = 1000;

/** The statuses after which an operation is repeated, and why. */
testRows(
  '"{operation}" is repeated after these statuses, and no others: 429: {429}, 502: {502}, 503: {503}, 504: {504}',
  "operation | 429 | 502 | 503 | 504",
  `
create thread | service busy | -                   | service busy | -
create run    | service busy | -                   | -            | -
stream run    | service busy | service unreachable | service busy | service unreachable
`,
  (row: Readonly<Record<string, string>>) => {
    for (let status = 100; status < 600; status++) {
      const operation = row.operation as RemoteOperation;
      const problem = problemOfStatus(operation, status) ?? "-";
      assertEquals(problem, row[`${status}`] ?? "-", `${status}`);
    }
  },
);

/** Words like `3x15`, as often as they say. */
function repeated(text: string): readonly string[] {
  return text.split(" ").flatMap((word) => {
    const [count, repeated = word] = word.split("x");
    return repeated === word ? [word] : Array(Number(count)).fill(repeated);
  });
}

/** The middle of the range that a pause is drawn from, in seconds. */
function middleOf({ least, most }: Retry): number {
  return (least + most) / 2 / SECOND;
}

/** The pauses of a `POST` that fails so each time, on average and in seconds. */
testRows(
  'a POST is repeated after "{problem}" and pauses of {pauses}, and only if nothing was started',
  "problem | pauses",
  `
service busy          | 0.5 1 2 end
connection refused    | 0.5 1 2 end
no connection         | 0.5 1 2 end
connection closed     | 0 0.5 1 end
too many open files   | 0.5 1 2 4 8 15 15 15 end
service unreachable   | end
certificate not valid | end
connection lost       | end
stream ended          | end
stream silent         | end
`,
  ({ problem: name, pauses }) => {
    const problem = name as Problem;
    for (const [index, pause] of pauses.split(" ").entries()) {
      const post = { fate: "not run", count: index + 1 } as const;
      const unclear = { ...post, fate: "may have run" } as const;
      const retry = retryPost({ problem }, post);
      assertEquals(retry?.problem, pause === "end" ? undefined : problem);
      assertEquals(`${retry === undefined ? "end" : middleOf(retry)}`, pause);
      assertEquals(retryPost({ problem }, unclear), undefined);
    }
  },
);

/** What `Retry-After` asks for, and the range of a pause of 0.5 s then. */
testRows(
  "a service that asks for a pause of {seconds} s gets one of {range} ms",
  "seconds | range",
  `
0  | 250 750
1  | 1000 3000
5  | 5000 7000
12 | 12000 15000
28 | 28000 33000
30 | 30000 35000
31 | none
`,
  (row) => {
    const retryAfter = Number(row.seconds) * SECOND;
    const hints = { problem: "service busy", retryAfter } as const;
    const post = { fate: "not run", count: 1 } as const;
    const retry = retryPost(hints, post);
    const range = retry ? `${retry.least} ${retry.most}` : "none";
    assertEquals(range, row.range);
  },
);

/** The pauses after these attempts, on average and in seconds, up to the end of them. */
function pausesAfter(all: readonly string[]): readonly number[] {
  let now = 0;
  let attempts: Attempts | undefined;
  const pauses: number[] = [];
  for (const text of all) {
    const [, wait = 0, open = ""] = /^(?:(\d+):)?(\d*)/.exec(text) ?? [];
    const isWhole = text.includes(".");
    const last: Attempt = { askedAt: now, endedAt: now, isWhole };
    now += Number(wait) * SECOND;
    if (open !== "") last.openedAt = now;
    now += Number(open) * SECOND;
    if (text.includes("+")) last.newestAt = now;
    last.endedAt = now;
    attempts = withAttempt(attempts, last);
    const state = { mayRepeat: false, retryField: 0, attempts };
    const retry = retryStream({ problem: "stream ended" }, state);
    if (retry === undefined) return [...pauses, Infinity];
    pauses.push(middleOf(retry));
    now += middleOf(retry) * SECOND;
  }
  return pauses;
}

/**
 * Attempts: the seconds that a stream was open (`-` if it was not), after those that it
 * was waited for; `+` if it brought an event, `.` if it ended as a whole answer.
 */
testRows(
  "a run is given up after {when}",
  "when | attempts | pauses",
  `
2 minutes without an answer                                           | 99x-                          | 0.5 1 2 4 8 7x15 Infinity
2 minutes of streams that each bring an event and end within 5 s      | 99x4+                         | 1 1 2 4 8 5x15 Infinity
2 minutes of such streams, counted from the end of the first          | 8x- 9:4+ 99x4+                | 0.5 1 2 4 8 10x15 Infinity
2 minutes that start over with 5 s, and pauses that do with its event | 11x- 5+ 4+ 5 99x-             | 0.5 1 2 4 8 6x15 1 1 2 4 8 8x15 Infinity
2 minutes at once, if there was an answer                             | 4+ 119:1                      | 1 Infinity
10 minutes without an event, with streams of a minute                 | 9x60+ 99x60                   | 8x1 1 1 2 4 8 5x15 Infinity
one more attempt if a stream was silent for all of the time           | 99x3600                       | 1 Infinity
five streams in a row that end at once with nothing new               | 99x0.                         | 1 1 2 4 Infinity
five such streams, of which none breaks, brings an event or lasts     | 4x0. 0+. 4x0. 6. 2x0. 0 99x0. | 1 1 2 4 8 12x15 Infinity
attempts of 127 s, as the system makes them where packets are dropped | 99x127:-                      | 0.5 Infinity
`,
  (row) => {
    const pauses = pausesAfter(repeated(row.attempts));
    assertEquals(pauses, repeated(row.pauses).map(Number));
  },
);

Deno.test("the stream of a run is requested again after the longest pause that the stream or the answer asks for, at most 30 s", () => {
  const attempts = withAttempt(undefined, {
    ...{ askedAt: 0, openedAt: 0, newestAt: 0, endedAt: 0, isWhole: false },
  });
  const state = { mayRepeat: false, retryField: 4 * SECOND, attempts };
  const ranges = [3, 5, 99].map((asked) => {
    const retryAfter = asked * SECOND;
    const hints = { problem: "stream silent", retryAfter } as const;
    const retry = retryStream(hints, state);
    return [retry?.least, retry?.most];
  });
  assertEquals(ranges, [[4_000, 6_000], [5_000, 7_000], [30_000, 35_000]]);
});

/** How many comments came, the longest silence and its limit, in seconds. */
const LIMITS = [[2, 1, 600], [3, 1, 60], [3, 30, 120], [9, 300, 600]] as const;

Deno.test("silenceLimit() is four times the longest silence after three comments, from a minute to ten", () => {
  for (const [comments, longest, limit] of LIMITS) {
    const state = { mayRepeat: false, comments, longest: longest * SECOND };
    const twice = { ...state, mayRepeat: true };
    assertEquals(silenceLimit(state), limit * SECOND);
    assertEquals(silenceLimit(twice), 600 * SECOND);
  }
});
