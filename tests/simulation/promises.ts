/**
 * What the program promises, whatever the service, the network and the users do. Each
 * promise is a function that yields what was broken, in words.
 *
 * @module
 */

import { type Exchange, isUnreachable, isUnsent } from "./exchange.ts";
import {
  AMBIGUOUS,
  API_KEY,
  NO_ROUTE,
  NOT_TAKEN,
  REFUSED,
  type ServicePlan,
} from "./plans.ts";
import { isRejected, type Seen, seenByEditor, seenByScript } from "./seen.ts";
import type { Run, Service } from "./service.ts";
import type { Editor, Script, Sent } from "./users.ts";
import type { World } from "./world.ts";

/** A story that was played to its end. */
interface Played {
  readonly plan: ServicePlan;
  readonly world: World;
  readonly service: Service;
  readonly user: Script | Editor;
}

/** A prompt: what its user has seen of it, and the truth. */
interface Prompt extends Seen {
  readonly run: Run | undefined;
  /** The requests that create its run, and those that follow it. */
  readonly posts: readonly Exchange[];
  readonly streams: readonly Exchange[];
}

interface Facts extends Played {
  readonly prompts: readonly Prompt[];
  /** The requests of an editor, by session. */
  readonly sessions: ReadonlyMap<string | undefined, readonly Sent[]>;
  /** Whether the user reads at once. */
  readonly isQuick: boolean;
  /** The limit of a script for each prompt, in milliseconds. */
  readonly limit: number;
}

type Broken = Generator<string>;

type Promises = Readonly<Record<string, (facts: Facts) => Broken>>;

const PROMISES: Promises = {
  "a prompt runs once": runsOnce,
  "fates and exit codes are true": tellsTheTruth,
  "a reply is that run's, whole, and shown once": repliesOnce,
  "progress is shown in order, none of it twice or left out": showsProgress,
  "every call ends in time": endsInTime,
  "every request of an editor is answered once": answersOnce,
  "a POST is repeated as decided": repeatsPosts,
  "a connection ahead is one, for 45 s, and costs nothing": opensAhead,
  "a service that says nothing is given up after 20 s": givesUpSilence,
  "a relay serves its client, whatever this machine does": reachesItself,
  "the key is nowhere": hidesTheKey,
  "nothing is left open": closesAll,
  "no error is left unhandled": handlesErrors,
};

/** Those to users who read at once: a slow or stuck reader delays the program. */
const PROMISES_TO_QUICK: Promises = {
  "a reply that came in time is shown": showsReplies,
  "a cancelled prompt is answered at once": answersCancelled,
  "the prompts of a session run one after the other": runsInTurn,
  "a session that is loaded shows its prompts": loadsSessions,
  "a session that is closed ends its prompts, and takes no others":
    closesSessions,
  "an answer keeps 30 ms from the updates before it": keepsDistance,
  "a run is followed as long as decided": followsRuns,
};

/** What was broken in a story, a line each. */
export function brokenIn(played: Played): string[] {
  const { service: { runs, exchanges }, user, world } = played;
  const isEditor = user.kind === "editor";
  const allSeen = isEditor
    ? seenByEditor(user, world.now)
    : seenByScript(user, world.now);
  const prompts = allSeen.map((seen) => {
    const run = runs.find(({ prompt }) => prompt === seen.prompt);
    return {
      ...seen,
      run,
      posts: exchanges.filter(({ prompt }) => prompt === seen.prompt),
      streams: exchanges.filter(({ url }) =>
        url.endsWith(`/${run?.id}/stream`)
      ),
    };
  });
  const isQuick = user.plan.reader.kind === "quick";
  const facts = {
    ...played,
    prompts,
    isQuick,
    limit: (isEditor ? undefined : user.plan.timeLimit) ?? Infinity,
    sessions: isEditor
      ? Map.groupBy(user.sent, ({ sessionId }) => sessionId)
      : new Map(),
  };
  const quick = isQuick ? Object.entries(PROMISES_TO_QUICK) : [];
  const promises = [...Object.entries(PROMISES), ...quick];
  return promises.flatMap(([name, promise]) =>
    Array.from(promise(facts), (what) => `${name}: ${what}`)
  );
}

/**
 * No mutant is found by this alone: a prompt that runs twice was sent twice, which
 * {@linkcode repeatsPosts} reports as well.
 */
function* runsOnce({ service }: Facts): Broken {
  const groups = Map.groupBy(service.runs, ({ prompt }) => prompt);
  for (const [prompt, { length }] of groups) {
    if (length > 1) yield `${prompt} ran ${length} times`;
  }
}

function* tellsTheTruth({ service, user, prompts, isQuick }: Facts): Broken {
  for (const prompt of prompts) {
    if (prompt.end === "failed" && !isFateTrue(prompt)) {
      const { message, fate, run } = prompt;
      yield `${prompt.prompt} "${message}" (${fate}), and it is ${run?.id}`;
    }
  }
  if (user.kind === "editor" || !user.hasEnded || !isQuick) return;
  const { code, error } = user;
  const runs = service.runs.length;
  const replies = prompts.filter(({ end }) => end === "reply").length;
  const truths: Readonly<Record<number, boolean>> = {
    0: replies === user.plan.prompts.length,
    1: true,
    3: runs === 0,
    4: runs === 0,
    5: !prompts.every(({ posts }) => posts.every(isUnsent)),
  };
  const hasFailed = prompts.some(({ end }) => end === "failed");
  if (!truths[code ?? NaN] || hasFailed !== (code !== 0)) {
    yield `exit code ${code} with ${replies} replies, ${runs} runs, ${error}`;
  }
}

function isFateTrue({ fate, run, posts, streams }: Prompt): boolean {
  const isGone = streams.some(({ status }) => status === 404 || status === 410);
  const truths: Readonly<Record<string, boolean>> = {
    "not run": run === undefined,
    refused: run === undefined,
    "may have run": !posts.every(isUnsent),
    "may go on": run !== undefined,
    failed: run !== undefined && (isGone ||
      run.completeAt !== undefined || isFailureLast(run)),
  };
  const hasNoRun = fate === undefined && run === undefined;
  return hasNoRun || truths[fate ?? "failed"] === true;
}

/** Whether no event of the run came after its last record of a failure. */
function isFailureLast({ events, furthest }: Run): boolean {
  const last = events.slice(0, furthest + 1).findLast(({ kind }) =>
    ["progress", "complete", "failure", "failed"].includes(kind)
  );
  return last?.kind === "failure" || last?.kind === "failed";
}

function* repliesOnce({ prompts }: Facts): Broken {
  for (const { prompt, replies, end, run } of prompts) {
    const { length } = replies;
    if (length > 1 || end === "reply" && length === 0) {
      yield `${prompt} has ${length} replies`;
    }
    for (const reply of replies) {
      if (reply !== run?.reply) {
        yield `${prompt} gets "${reply.slice(0, 80)}" for ${run?.id}`;
      }
    }
  }
}

function* showsReplies({ prompts, limit }: Facts): Broken {
  for (const { prompt, begunAt, end, message, run, streams } of prompts) {
    const at = run?.completeAt;
    if (at === undefined || end === "cancelled" || end === "reply") continue;
    // A limit on silence may be over in the same moment. One on old events is over with
    // the first lines that hold no new event, which may come just before the reply.
    const isTie = streams.some(({ openedAt = at, endedAt, ending }) =>
      ending !== "whole" && Math.abs(endedAt - at) < 5 ||
      endedAt >= at && at - openedAt > SILENCE - 50
    );
    if (!isTie && at + 50 < begunAt + limit) {
      yield `the reply to ${prompt} came at ${at} ms: ${message}`;
    }
  }
}

function* showsProgress({ plan: { ids, isIdLast }, prompts }: Facts): Broken {
  // Events without an id of their own may come twice, or be taken for old ones.
  const mayMiss = ids === "pairs" || ids === "some";
  for (const { prompt, nodes, run } of prompts) {
    if (nodes.some(([id]) => id !== run?.id)) {
      yield `${prompt} (${run?.id}) is shown ${nodes}`;
    }
    if (run === undefined || mayMiss && isIdLast) continue;
    const positions = nodes.map(([, position]) => Number(position));
    const once = Array.from(new Set(positions));
    const shown = mayMiss || isIdLast ? once : positions;
    const due = run.events.filter(({ kind }) => kind === "progress")
      .map(({ position }) => position)
      .filter((position) => !mayMiss || once.includes(position))
      .slice(0, shown.length);
    if (shown.join() !== due.join()) {
      yield `${prompt} is shown the events ${shown}, not ${due}`;
    }
  }
}

/** The longest silence of a stream, in milliseconds. */
const SILENCE = 600_000;

/** How late a limit may be noticed, and what is written after it, in milliseconds. */
const GRACE = 11_000;

function* endsInTime(
  { user, world, service, prompts, isQuick, limit }: Facts,
): Broken {
  if (!user.hasEnded) {
    const mayHang = user.plan.reader.kind === "stuck" && limit === Infinity;
    if (!mayHang) yield "it never ends";
    return;
  }
  const time = world.runningTime(0, world.now);
  if (time > (prompts.length + 1) * (limit + GRACE)) {
    yield `it took ${time} ms with a limit of ${limit} ms`;
  }
  for (const { operation, lastSign, endedAt } of service.exchanges) {
    const silence = world.runningTime(lastSign, endedAt);
    const isLong = operation === "stream run" && silence > SILENCE + GRACE;
    if (isQuick && isLong) yield `a stream was silent for ${silence} ms`;
  }
}

function* answersOnce({ user }: Facts): Broken {
  if (user.kind === "script") return;
  const { received, sent, plan, error } = user;
  if (error instanceof SyntaxError) yield `a broken line: ${error}`;
  const answers = received.filter(({ method }) => method === undefined);
  const isDue = user.hasEnded && plan.reader.kind !== "gone";
  for (const { id, method } of sent) {
    const count = answers.filter((answer) => answer.id === id).length;
    if (count > 1 || count === 0 && isDue) {
      yield `${method} ${id} has ${count} answers`;
    }
  }
}

/**
 * How long after its cancellation a prompt may be answered, in milliseconds: the distance
 * from its updates, of which a story has at most some tens.
 */
const AT_ONCE = 60;

function* answersCancelled({ prompts, world }: Facts): Broken {
  for (const seen of prompts) {
    const { prompt, cancelledAt = Infinity, endedAt, end, message } = seen;
    if (cancelledAt > endedAt) {
      const isWrong = end === "cancelled" && message === "";
      if (isWrong) yield `${prompt} is cancelled, and nobody asked for that`;
      continue;
    }
    const time = world.runningTime(cancelledAt, endedAt);
    if (time > AT_ONCE) yield `${prompt} is answered after ${time} ms`;
    // The prompt may have failed just before: its response is sent some time after its
    // last update.
    const isDropped = [...seen.posts, ...seen.streams].some((request) =>
      request.ending === "dropped" && request.endedAt > cancelledAt
    );
    if (isDropped && message !== "") yield `${prompt} fails by it: ${message}`;
  }
}

function* runsInTurn({ prompts }: Facts): Broken {
  for (const [index, { prompt, posts, sessionId }] of prompts.entries()) {
    const isEarly = prompts.slice(0, index).some((before) =>
      before.sessionId === sessionId &&
      posts.some(({ askedAt }) => askedAt < before.endedAt)
    );
    if (isEarly) {
      yield `${prompt} is sent before others are answered`;
    }
  }
}

function* loadsSessions({ user, sessions }: Facts): Broken {
  if (user.kind === "script") return;
  for (const [sessionId, requests] of sessions) {
    const [load, other] = requests.filter(({ method }) =>
      method === "session/load"
    );
    // Which of two loads an update belongs to is not told.
    if (load?.answer?.result === undefined || other !== undefined) continue;
    const prompts = requests.filter((request) =>
      request.prompt !== undefined && request.id < load.id &&
      !isRejected(request)
    ).map(({ prompt }) => prompt);
    const shown = user.received.filter(({ params }) =>
      params?.sessionId === sessionId &&
      params.update?.sessionUpdate === "user_message_chunk"
    ).map(({ params }) => params.update.content.text);
    if (shown.join() !== prompts.join()) {
      yield `${sessionId} is shown as ${shown}, not ${prompts}`;
    }
  }
}

/** What opens a session again, or closes it. */
const CHANGES = ["session/load", "session/resume", "session/close"];

function* closesSessions({ sessions }: Facts): Broken {
  const order = ({ answer }: Sent) => answer?.order ?? Infinity;
  for (const requests of sessions.values()) {
    let isOpen = true;
    for (const [index, request] of requests.entries()) {
      const { prompt, method } = request;
      const isTaken = prompt !== undefined && !isRejected(request);
      if (isTaken && !isOpen) yield `${prompt} is taken`;
      if (!CHANGES.includes(method)) continue;
      const isClosing = isOpen && method === "session/close";
      isOpen = method !== "session/close";
      const open = requests.slice(0, index).find((before) =>
        before.prompt !== undefined && order(before) > order(request)
      );
      if (isClosing && open) yield `it is answered before ${open.prompt}`;
    }
  }
}

function* keepsDistance({ prompts }: Facts): Broken {
  for (const { prompt, shownAt, endedAt, sessionId } of prompts) {
    if (shownAt === undefined || sessionId === undefined) continue;
    const distance = endedAt - shownAt;
    if (distance < 30) {
      yield `${prompt} is answered ${distance} ms after its update`;
    }
  }
}

function* repeatsPosts(
  { service, user, world, prompts, isQuick, limit }: Facts,
): Broken {
  const posts = service.exchanges.filter(({ operation }) =>
    operation === "create run" ||
    operation === "create thread" && user.kind === "script"
  );
  const groups = Map.groupBy(posts, ({ prompt }) => prompt ?? "the thread");
  for (const [name, exchanges] of groups) {
    const seen = prompts.find(({ prompt }) => prompt === name);
    const mayEnd = limit !== Infinity || !isQuick ||
      seen?.cancelledAt !== undefined;
    for (const [index, exchange] of exchanges.entries()) {
      const { failure, status, endedAt } = exchange;
      if (failure === AMBIGUOUS) continue;
      const next = exchanges[index + 1];
      const pause = pauseAfter(exchange, index);
      const outcome = `${name} (${status ?? failure})`;
      if (next === undefined) {
        const isLeft = pause !== undefined && !mayEnd;
        if (isLeft) yield `${outcome} is not sent again`;
        continue;
      }
      const time = next.askedAt - endedAt;
      const isLate = isQuick &&
        world.runningTime(endedAt, next.askedAt) > (pause ?? 0) + 10_000;
      if (pause === undefined || time < pause - 1 || isLate) {
        yield `${outcome} is sent again after ${time} ms`;
      }
    }
  }
}

/** The pauses before the repetitions of a `POST`, in milliseconds. */
const PAUSES = [500, 1_000, 2_000];
const PAUSES_NOT_TAKEN = [0, 500, 1_000];

/** The least pause before a `POST` is sent again; `undefined` if it is not. */
function pauseAfter(exchange: Exchange, index: number): number | undefined {
  const { operation, status, failure = "", retryAfter } = exchange;
  const isClosed = NOT_TAKEN.includes(failure);
  const isRefused = failure === REFUSED || failure === NO_ROUTE;
  const isBusy = status === 429 ||
    status === 503 && operation === "create thread";
  const usual = (isClosed ? PAUSES_NOT_TAKEN : PAUSES)[index];
  if (usual === undefined || !(isClosed || isRefused || isBusy)) return;
  if (!isBusy) return usual / 2;
  return retryAfter > 30 ? undefined : Math.max(usual / 2, retryAfter * 1_000);
}

/**
 * The shortest silence after which a stream may count as lost, in milliseconds: 60 s, less
 * the part of a stop of the process that its clock cannot notice.
 */
const LOSS = 53_000;

/** The statuses of a stream's `GET` after which it is sent again. */
const AGAIN: readonly unknown[] = [undefined, 200, 429, 502, 503, 504];

function* followsRuns(
  { plan: { ids, isIdLast }, prompts, limit, world }: Facts,
): Broken {
  // Whether each event has an id, on a line before its data.
  const hasAllIds = ids !== "none" && ids !== "some" && !isIdLast;
  for (const seen of prompts) {
    const { prompt, run, streams, begunAt, endedAt, end } = seen;
    yield* checkPauses(streams, hasAllIds, world);
    const last = streams.at(-1);
    if (run === undefined || last === undefined || end !== "failed") continue;
    // The reply may come in the moment in which it is given up.
    if (run.completeAt !== undefined) continue;
    if (endedAt - begunAt >= limit - 1 || isFailureLast(run)) continue;
    // A script shows no progress after its first reply.
    const hasNews = streams.some(({ news }) => news > 0);
    const mayLose = hasNews && !hasAllIds;
    if (!AGAIN.includes(last.status) || mayLose) continue;
    if (!mayGiveUp(streams, endedAt, world)) {
      yield `${prompt} is given up too soon`;
    }
  }
}

/**
 * How much earlier a limit may be noticed, in milliseconds: each of three stops may be
 * noticed by the lateness of a tick, which comes every 5 s.
 */
const TOLERANCE = 19_000;

/** Whether a run may be given up after these attempts to follow it. */
function mayGiveUp(
  attempts: readonly Exchange[],
  endedAt: number,
  world: World,
): boolean {
  const [first] = attempts;
  const last = attempts.at(-1);
  const timeSince = (time = first?.askedAt ?? 0) =>
    world.runningTime(time, endedAt);
  const openTime = ({ openedAt = Infinity, endedAt }: Exchange) =>
    world.runningTime(openedAt, endedAt);
  const withNews = attempts.filter(({ news }) => news > 0);
  const steady = withNews.findLast((attempt) => openTime(attempt) >= 5_000);
  const isOld = timeSince(withNews.at(-1)?.newestAt) >= SILENCE - TOLERANCE;
  const isAlive = last?.ending === "dropped" && last.status === 200 &&
    timeSince(last.lastSign) < LOSS;
  if (isAlive) return isOld && openTime(last) >= SILENCE - TOLERANCE;
  const lastFive = attempts.slice(-5);
  const hasNoMore = lastFive.length === 5 &&
    lastFive.every((attempt) => isEmpty(attempt, openTime(attempt)));
  return isOld || hasNoMore ||
    timeSince(steady?.endedAt) >= 120_000 - TOLERANCE;
}

/**
 * Whether a stream, open for so long, ended by itself, at once and with nothing new. Over
 * `https:`, only a line `data:` shows that it was not reset.
 */
function isEmpty(
  { ending, news, status, url, hasData }: Exchange,
  time: number,
): boolean {
  const isWhole = ending === "whole" && (hasData || url.startsWith("http:"));
  return status === 200 && isWhole && news === 0 && time < 5_000;
}

/** What a field `retry:` says in each story, in milliseconds. */
const RETRY_FIELD = 3_000;

/** The pauses between attempts that fail one after the other, in milliseconds. */
const GROWING = [0, 1_000, 2_000, 4_000, 8_000, 15_000];

function* checkPauses(
  attempts: readonly Exchange[],
  hasAllIds: boolean,
  world: World,
): Broken {
  let empty = 0;
  let failed = 0;
  let hasNews = false;
  let hasRetry = false;
  for (const [index, attempt] of attempts.entries()) {
    const next = attempts[index + 1];
    if (next === undefined) return;
    const { status, news, endedAt, openedAt = 0, retryAfter } = attempt;
    hasNews ||= news > 0;
    if (hasNews && hasAllIds && !next.headers.has("last-event-id")) {
      yield "a stream is asked for again without its last id";
    }
    // It may be noticed late that the process was stopped meanwhile.
    const openTime = endedAt - openedAt;
    empty = isEmpty(attempt, openTime) ? empty + 1 : 0;
    failed = news > 0 || openTime >= 5_000 ? 0 : failed + 1;
    if (empty >= 5) yield `${empty} empty streams, and another one`;
    if (!AGAIN.includes(status)) yield `${status}, and another`;
    hasRetry ||= attempt.hasRetry;
    const asked = Math.max(
      Math.min(30, retryAfter) * 1_000,
      hasRetry ? RETRY_FIELD : 0,
      (GROWING[Math.min(failed, GROWING.length) - 1] ?? 0) / 2,
    );
    const time = next.askedAt - endedAt;
    const running = world.runningTime(endedAt, next.askedAt);
    if (time < asked - 1 || running > asked + 30_000) {
      yield `the next attempt comes ${time} ms after ${status}`;
    }
  }
}

/** How long a connection may be open ahead, in milliseconds. */
const AHEAD = 45_000;

function* opensAhead({ service, world, plan }: Facts): Broken {
  const visits = service.network.visits;
  // A request on a line that vanishes, or in an outage, comes to nobody.
  const mayVanish = plan.troubles.some(({ kind }) =>
    kind === "sleep" || kind === "outage"
  );
  let unusedUntil = -Infinity;
  for (const { openedAt, near, isUsed } of visits) {
    if (openedAt === undefined) continue;
    const { writtenAt, closedAt = world.now } = near;
    const end = writtenAt ?? closedAt;
    if (writtenAt !== undefined) {
      const age = writtenAt - openedAt;
      if (age >= AHEAD) yield `one is used after ${age} ms`;
      const time = world.runningTime(writtenAt, closedAt);
      const isLost = !mayVanish && !isUsed && time > 20_000 + GRACE;
      if (isLost) yield `one is kept for ${time} ms`;
    }
    if (end <= openedAt + 5) continue; // A fresh one is used at once.
    const time = world.runningTime(openedAt, end);
    if (time > AHEAD + 1_000) yield `one is open for ${time} ms`;
    if (openedAt + 5 < unusedUntil) yield "two are open";
    unusedUntil = end;
  }
  for (const exchange of service.exchanges) {
    const { askedAt, endedAt, isRelayed, ending } = exchange;
    if (!isRelayed || ending !== "broken" || !isUnreachable(exchange)) continue;
    const isTried = visits.some((visit) =>
      visit.askedAt >= askedAt && visit.askedAt <= endedAt
    );
    if (!isTried) yield "a request fails by it, and no other one was tried";
  }
}

function* givesUpSilence({ service, world }: Facts): Broken {
  for (const exchange of service.asked) {
    const { isRelayed, wasHeard, askedAt, endedAt, operation } = exchange;
    const time = world.runningTime(askedAt, endedAt);
    const isLong = isRelayed && !wasHeard && time > 20_000 + GRACE;
    if (isLong) yield `${operation} ends after ${time} ms`;
  }
}

function* reachesItself({ service: { asked }, user }: Facts): Broken {
  for (const [index, exchange] of asked.entries()) {
    const { url, endedAt, isRelayed, hasPort, wasNeedless } = exchange;
    if (wasNeedless) yield `${url} leaves a connection that lives`;
    if (!isRelayed || hasPort || exchange.ending !== "broken") continue;
    const next = asked.slice(index + 1).find((later) => later.url === url);
    if (next === undefined || next.askedAt > endedAt + 1) {
      yield `${url} came to no relay, and is not asked for again at once`;
    }
  }
  if (
    /connect to itself|Too many open files|time is over/i.test(user.text)
  ) yield "its failure is told to the user";
}

function* hidesTheKey({ user }: Facts): Broken {
  if (user.text.includes(API_KEY.slice(0, 12))) yield "it is in the output";
}

function* closesAll({ service, user }: Facts): Broken {
  if (!user.hasEnded || user.error !== undefined) return;
  const { clients, open } = service.network;
  const requests = service.asked.filter(({ isOver }) => !isOver).length;
  if (requests + clients + open > 0) {
    yield `${requests} requests, ${clients} clients, ${open} sockets`;
  }
}

function* handlesErrors({ world }: Facts): Broken {
  yield* world.unhandled.map(String);
}
