import { assertEquals } from "@std/assert";
import {
  adviceToWait,
  type Attempt,
  type Attempts,
  isReplayOver,
  pauseLabel,
  pauseSentence,
  type Problem,
  problemOfStatus,
  retryPost,
  retryStream,
  silenceLimit,
  withAttempt,
} from "../../../../lib/gateway/failure/retry_policy.ts";
import { TIMEOUTS } from "../../../../lib/gateway/timeouts.ts";
import fc from "../../../support/generated.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const [BUSY, UNREACHABLE] = ["service busy", "service unreachable"] as const;

/** The statuses after which an operation is repeated, and why. */
const STATUSES = {
  "create thread": { 429: BUSY, 503: BUSY },
  "create run": { 429: BUSY },
  "stream run": { 429: BUSY, 502: UNREACHABLE, 503: BUSY, 504: UNREACHABLE },
} as const;

for (
  const operation of ["create thread", "create run", "stream run"] as const
) {
  const problems: Readonly<Record<number, Problem>> = STATUSES[operation];
  Deno.test(`"${operation}" is repeated after ${Object.keys(problems)}, and after no other status`, () => {
    for (let status = 100; status < 600; status++) {
      const problem = problemOfStatus(operation, status);
      assertEquals(problem, problems[status], `${status}`);
    }
  });
}

/** The pauses of a `POST` that fails so each time, on average and in seconds. */
const POSTS: Readonly<Record<Problem, readonly number[]>> = {
  "service busy": [0.5, 1, 2],
  "connection refused": [0.5, 1, 2],
  "no connection": [0.5, 1, 2],
  "connection closed": [0, 0.5, 1],
  "too many open files": [0.5, 1, 2, 4, 8, 15, 15, 15],
  "service unreachable": [],
  "certificate not valid": [],
  "connection lost": [],
  "stream ended": [],
  "stream silent": [],
};

for (const [name, pauses] of Object.entries(POSTS)) {
  const problem = name as Problem;
  Deno.test(`a POST is repeated after "${name}" ${pauses.length} times, and only if nothing was started`, () => {
    const retry = (count: number, fate: "not run" | "may have run") =>
      retryPost({ problem }, { fate, count }, TIMEOUTS);
    const drawn = [];
    for (let count = 1;; count++) {
      assertEquals(retry(count, "may have run"), undefined);
      const pause = retry(count, "not run");
      if (pause === undefined) break;
      assertEquals(pause.problem, problem);
      drawn.push((pause.least + pause.most) / 2 / SECOND);
    }
    assertEquals(drawn, pauses);
  });
}

Deno.test("the advice to wait is for pauses of more than 30 s, and prompts that did not run", () => {
  const advice = [30, 31, 3_600, 5_400, 1e9].map((seconds) =>
    adviceToWait({ retryAfter: seconds * SECOND }, "not run", TIMEOUTS)
  );
  assertEquals(advice, [
    undefined,
    ...["1 min", "60 min", "1 h 30 min", "more than a day"].map((time) =>
      `Try again in ${time}`
    ),
  ]);
  const late = { problem: "service busy", retryAfter: MINUTE } as const;
  assertEquals(adviceToWait(late, "may have run", TIMEOUTS), undefined);
  const post = { fate: "not run", count: 1 } as const;
  assertEquals(retryPost(late, post, TIMEOUTS), undefined);
});

/** The pauses that are asked for, and the range that they are drawn from, in seconds. */
const ASKED = [
  [0, 0.25, 0.75],
  [1, 1, 3],
  [5, 5, 7],
  [12, 12, 15],
  [28, 28, 33],
] as const;

for (const [asked, least, most] of ASKED) {
  Deno.test(`a pause of 0.5 s for which a service asks for ${asked} s is between ${least} and ${most} s`, () => {
    const hints = {
      problem: "service busy",
      retryAfter: asked * SECOND,
    } as const;
    const post = { fate: "not run", count: 1 } as const;
    assertEquals(retryPost(hints, post, TIMEOUTS), {
      problem: "service busy",
      least: least * SECOND,
      most: most * SECOND,
    });
  });
}

/** An attempt to follow a run; its times are in seconds. */
interface Ended {
  /** From its headers to its end; `undefined` if it has none. */
  readonly open?: number | undefined;
  /** How long it waited before that. */
  readonly wait?: number;
  readonly hasNews?: boolean;
  readonly isWhole?: boolean;
}

/** The pauses after these attempts, on average and in seconds, up to the end of them. */
function pausesAfter(all: readonly Ended[]): readonly number[] {
  let now = 0;
  let attempts: Attempts | undefined;
  const pauses: number[] = [];
  for (const { open, wait = 0, hasNews, isWhole = false } of all) {
    const last: Attempt = { askedAt: now, endedAt: now, isWhole };
    now += wait * SECOND;
    if (open !== undefined) last.openedAt = now;
    now += (open ?? 0) * SECOND;
    if (open !== undefined && hasNews) last.newestAt = now;
    last.endedAt = now;
    attempts = withAttempt(attempts, last, TIMEOUTS);
    const state = { mayRepeat: false, retryField: 0, attempts };
    const retry = retryStream({ problem: "stream ended" }, state, TIMEOUTS);
    if (retry === undefined) return [...pauses, Infinity];
    const pause = (retry.least + retry.most) / 2;
    now += pause;
    pauses.push(pause / SECOND);
  }
  return pauses;
}

function repeat(ended: Ended, count = 99): readonly Ended[] {
  return Array(count).fill(ended);
}

const refused = {};
const short = { open: 4, hasNews: true };
const steady = { open: 5, hasNews: true };
const empty = { open: 0, isWhole: true };

/** The pauses that grow, then a number of the longest ones, then the end. */
function growing(count: number, first = 0.5): readonly number[] {
  return [first, 1, 2, 4, 8, ...Array(count).fill(15), Infinity];
}

const ATTEMPTS: Readonly<
  Record<string, readonly [readonly Ended[], readonly number[]]>
> = {
  "2 minutes without an answer": [repeat(refused), growing(7)],
  "2 minutes of streams that each bring an event and end within 5 s": [
    repeat(short),
    growing(5, 1),
  ],
  "2 minutes of such streams, counted from the end of the first": [
    [...repeat(refused, 8), { wait: 9, ...short }, ...repeat(short)],
    growing(10),
  ],
  "2 minutes that start over with a stream of 5 s, and pauses that do with its event":
    [
      [...repeat(refused, 11), steady, short, { open: 5 }, ...repeat(refused)],
      [...growing(6).slice(0, -1), ...growing(8, 1)],
    ],
  "2 minutes at once, if there was an answer": [
    [short, { wait: 119, open: 1 }],
    [1, Infinity],
  ],
  "10 minutes without an event, with streams of a minute": [
    [...repeat({ open: 60, hasNews: true }, 9), ...repeat({ open: 60 })],
    [...Array(8).fill(1), ...growing(5, 1)],
  ],
  "one more attempt if a stream was silent for all of the time": [
    repeat({ open: 3600 }),
    [1, Infinity],
  ],
  "five streams in a row that end at once with nothing new": [
    repeat(empty),
    [1, 1, 2, 4, Infinity],
  ],
  "five such streams, of which none breaks, brings an event or lasts": [
    [
      ...repeat(empty, 4),
      { ...empty, hasNews: true },
      ...repeat(empty, 4),
      { ...empty, open: 6 },
      ...repeat(empty, 2),
      { ...empty, isWhole: false },
      ...repeat(empty),
    ],
    [1, 1, 2, 4, 8, ...Array(12).fill(15), Infinity],
  ],
  "attempts of 127 s, as the system makes them where packets are dropped": [
    repeat({ wait: 127 }),
    [0.5, Infinity],
  ],
};

for (const [when, [attempts, pauses]] of Object.entries(ATTEMPTS)) {
  Deno.test(`a run is given up after ${when}`, () => {
    assertEquals(pausesAfter(attempts), pauses);
  });
}

const anyAttempt: fc.Arbitrary<Ended> = fc.record({
  open: fc.option(fc.constantFrom(0, 1, 4.9, 5, 60, 700), { nil: undefined }),
  wait: fc.constantFrom(0, 0, 20, 127),
  hasNews: fc.boolean(),
  isWhole: fc.boolean(),
});

Deno.test("a run is never given up within 2 minutes, but for empty streams, and always 10 minutes after its last event", () => {
  fc.assert(fc.property(fc.array(anyAttempt, { minLength: 1 }), (all) => {
    const news = all.findLastIndex((it) => it.open !== undefined && it.hasNews);
    const pauses = pausesAfter(all);
    const count = pauses.at(-1) === Infinity ? pauses.length : Infinity;
    const made = all.slice(0, Math.min(count, all.length));
    const times = made.map(({ open = 0, wait = 0 }, i) =>
      open + wait + Math.min(pauses[i] ?? 0, 15)
    );
    const total = times.reduce((sum, time) => sum + time, 0);
    const old = times.slice(news + 1, -1).reduce((sum, time) => sum + time, 0);
    const isEmpty = made.slice(-5).every(({ open = 9, hasNews, isWhole }) =>
      open < 5 && !hasNews && isWhole
    );
    if (count < Infinity) return total >= 120 || isEmpty;
    return old < 600;
  }));
});

Deno.test("the stream of a run is requested again after its problem if no event can come twice, after the pause that it asks for", () => {
  const last = { askedAt: 0, openedAt: 0, newestAt: 0, endedAt: 0 };
  const attempts = withAttempt(
    undefined,
    { ...last, isWhole: false },
    TIMEOUTS,
  );
  const state = { mayRepeat: false, retryField: 4 * SECOND, attempts };
  const hints = { problem: "stream silent" } as const;
  for (const [asked = 0, least, most] of [[3, 4, 6], [5, 5, 7], [99, 30, 35]]) {
    const late = { ...hints, retryAfter: asked * SECOND };
    const retry = retryStream(late, state, TIMEOUTS);
    assertEquals(
      [retry?.least, retry?.most],
      [least, most].map((time = 0) => time * SECOND),
    );
  }
  const twice = { ...state, mayRepeat: true };
  assertEquals(retryStream(hints, twice, TIMEOUTS), undefined);
  assertEquals(retryStream({}, state, TIMEOUTS), undefined);
});

Deno.test("old events are too many 10 minutes after the headers of their stream", () => {
  const times = [10 * MINUTE - 1, 10 * MINUTE];
  const isOver = times.map((time) => isReplayOver(time, TIMEOUTS));
  assertEquals(isOver, [false, true]);
});

/** How many comments came, the longest silence and its limit, in seconds. */
const LIMITS = [
  [2, 1, 600],
  [3, 1, 60],
  [3, 30, 120],
  [9, 300, 600],
] as const;

for (const [comments, longest, limit] of LIMITS) {
  Deno.test(`after ${comments} comments and a silence of ${longest} s, one of ${limit} s is a loss`, () => {
    const state = { mayRepeat: false, comments, longest: longest * SECOND };
    const twice = { ...state, mayRepeat: true };
    assertEquals(silenceLimit(state, TIMEOUTS), limit * SECOND);
    assertEquals(silenceLimit(twice, TIMEOUTS), 10 * MINUTE);
  });
}

Deno.test("pauseLabel() and pauseSentence() say why there is a pause, and how long it is in whole seconds", () => {
  const label = pauseLabel("service busy", 5_100);
  assertEquals(label, "service busy, again in 6 s");
  const sentence = pauseSentence("too many open files", 65_000);
  assertEquals(sentence, "Too many files are open; again in 1 min 5 s");
});
