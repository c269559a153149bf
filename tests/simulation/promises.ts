/**
 * What the program promises, whatever the service, the network and the users do. Each
 * promise is a function that yields what was broken, in words.
 *
 * @module
 */

import {
  type Exchange,
  isNotTaken,
  isUnreachable,
  isUnsent,
} from "./exchange.ts";
import { AMBIGUOUS, API_KEY, type ServicePlan } from "./plans.ts";
import {
  isRejected,
  jsonEvents,
  type ScriptEvent,
  type Seen,
  seenBy,
} from "./seen.ts";
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
  /** All requests that create runs. */
  readonly posts: readonly Exchange[];
  /**
   * Whether the user reads at once. A slow or stuck reader delays the program, so limits
   * and pauses are held against quick readers only.
   */
  readonly isQuick: boolean;
  /** The limit of a script for each prompt, in milliseconds. */
  readonly limit: number | undefined;
}

type Broken = Generator<string>;

const PROMISES: Readonly<Record<string, (facts: Facts) => Broken>> = {
  "a prompt runs once": runsOnce,
  "fates and exit codes are true": tellsTheTruth,
  "a reply is that run's, whole, and shown once": repliesOnce,
  "a reply that came in time is shown": showsReplies,
  "progress is shown in order, none of it twice or left out": showsProgress,
  "every call ends in time": endsInTime,
  "every request of an editor is answered once": answersOnce,
  "a cancelled prompt is answered at once": answersCancelled,
  "the prompts of a session run one after the other": forEditors(runsInTurn),
  "a session that is loaded shows its prompts": forEditors(loadsSessions),
  "a session that is closed ends its prompts, and takes no others": forEditors(
    closesSessions,
  ),
  "an answer keeps 30 ms from the updates before it": forEditors(keepsDistance),
  "a POST is repeated as decided": repeatsPosts,
  "a run is followed as long as decided": followsRuns,
  "a connection ahead is one, for 45 s, and costs nothing": opensAhead,
  "a service that says nothing is given up after 20 s": givesUpSilence,
  "a relay serves its client, whatever this machine does": reachesItself,
  "the key is nowhere": hidesTheKey,
  "nothing is left open": closesAll,
  "no error is left unhandled": handlesErrors,
};

/** What was broken in a story, a line each. */
export function brokenIn(played: Played): string[] {
  const { service: { runs, exchanges }, user, world } = played;
  const posts = exchanges.filter((one) => one.operation === "create run");
  const prompts = seenBy(user, world.now).map((seen) => {
    const run = runs.find(({ prompt }) => prompt === seen.prompt);
    return {
      ...seen,
      run,
      posts: posts.filter(({ prompt }) => prompt === seen.prompt),
      streams: exchanges.filter(({ operation, url }) =>
        operation === "stream run" && url.split("/").at(-2) === run?.id
      ),
    };
  });
  const facts = {
    ...played,
    prompts,
    posts,
    isQuick: user.plan.reader.kind === "quick",
    limit: user.kind === "script" ? user.plan.timeLimit : undefined,
  };
  return Object.entries(PROMISES).flatMap(([name, promise]) =>
    Array.from(promise(facts), (what) => `${name}: ${what}`)
  );
}

/** A promise to editors that read at once. */
function forEditors(promise: (user: Editor, facts: Facts) => Broken) {
  return function* (facts: Facts): Broken {
    const { user, isQuick } = facts;
    if (user.kind === "editor" && isQuick) yield* promise(user, facts);
  };
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

function* tellsTheTruth(facts: Facts): Broken {
  const { service, user, prompts, posts, isQuick, world } = facts;
  for (const prompt of prompts) {
    if (prompt.end === "failed" && !isFateTrue(prompt, world)) {
      const { message, fate, run } = prompt;
      yield `${prompt.prompt} "${message}" (${fate}), and it is ${run?.id}`;
    }
  }
  if (user.kind === "editor" || !user.hasEnded) return;
  const { code, plan: { json, reader } } = user;
  if (json && isQuick) {
    const due = codeOfCall(jsonEvents(user));
    if (code !== due) yield `exit code ${code}, not ${due}`;
  }
  const runs = service.runs.length;
  const replies = prompts.filter(({ end }) => end === "reply").length;
  const truths: Readonly<Record<number, boolean>> = {
    0: replies === user.prompts.length,
    1: true,
    3: runs === 0,
    4: runs === 0,
    5: !posts.every(isUnsent),
  };
  if ((isQuick || reader.kind === "slow") && !truths[code ?? NaN]) {
    yield `exit code ${code} with ${replies} replies, ${runs} runs, ${user.error}`;
  }
}

/** The exit code of a call by what it told: a 5 stays, and 3 and 4 are about all of it. */
function codeOfCall(events: readonly ScriptEvent[]): number {
  let code = 0;
  let hasRun = false;
  for (const event of events) {
    if (event.type === "error" && code !== 5) code = codeOfError(event);
    hasRun ||= event.type === "reply" || event.fate === "failed";
    if (hasRun && (code === 3 || code === 4)) code = 5;
  }
  return code;
}

function codeOfError({ fate, status }: ScriptEvent): number {
  if (fate === "not run") return 3;
  if (fate === "refused") return status === 401 || status === 403 ? 4 : 1;
  return fate === "failed" ? 1 : 5;
}

function isFateTrue(
  { fate, run, posts, streams }: Prompt,
  world: World,
): boolean {
  const truths: Readonly<Record<string, boolean>> = {
    "not run": run === undefined,
    refused: run === undefined,
    "may have run": !posts.every(isUnsent),
    "may go on": run !== undefined,
    failed: run !== undefined &&
      (run.hasFailed || run.completeAt !== undefined ||
        hasHeardFailure(run, streams, world)),
  };
  const hasNoRun = fate === undefined && run === undefined;
  return hasNoRun || truths[fate ?? "failed"] === true;
}

/** The shortest silence that counts as a loss, less what is not noticed of a stop. */
const LOSS = 53_000;

/** Whether the service said that a run failed, and then ended the stream or fell silent. */
function hasHeardFailure(
  run: Run,
  streams: readonly Exchange[],
  world: World,
): boolean {
  const last = streams.at(-1);
  if (last === undefined) return false;
  const { status, ending, lastSign, endedAt } = last;
  if (status === 404 || status === 410) return true;
  const isLost = world.runningTime(lastSign, endedAt) >= LOSS;
  return isFailureLast(run) && (ending !== "dropped" || isLost);
}

/** Whether no event of the run came after its last record of a failure. */
function isFailureLast({ events, furthest }: Run): boolean {
  const kind = events.slice(0, furthest + 1).findLast(({ kind }) =>
    ["progress", "complete", "failure", "failed"].includes(kind)
  )?.kind;
  return kind === "failure" || kind === "failed";
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

function* showsReplies({ prompts, isQuick, limit = Infinity }: Facts): Broken {
  for (const { prompt, begunAt, end, message, run, streams } of prompts) {
    const at = run?.completeAt;
    if (at === undefined || end === "cancelled" || end === "reply") continue;
    // A limit on silence may be over in the same moment.
    const on = streams.findLast(({ completeAt }) => completeAt);
    const isTie = on !== undefined && on.ending !== "whole" &&
      on.endedAt - at < 5;
    if (isQuick && !isTie && at + 50 < begunAt + limit) {
      yield `the reply to ${prompt} came at ${at} ms: ${message}`;
    }
  }
}

function* showsProgress({ plan: { ids, isIdLast }, prompts }: Facts): Broken {
  for (const { prompt, nodes, run } of prompts) {
    if (nodes.some((node) => node.split(".")[0] !== run?.id)) {
      yield `${prompt} (${run?.id}) is shown ${nodes}`;
    }
    if (run === undefined) continue;
    const shown = nodes.map((node) => Number(node.split(".")[1]));
    const once = Array.from(new Set(shown));
    if (ids === "pairs" || ids === "some") {
      // Only events without an id, which have odd positions, may come twice.
      const isTwice = shown.some((n, i) =>
        (ids === "pairs" || n % 2 === 0) && shown.indexOf(n) < i
      );
      const isInOrder = once.every((n, i) => n > (once[i - 1] ?? -1));
      if (!isIdLast && (isTwice || !isInOrder)) {
        yield `${prompt} is shown the events ${shown}`;
      }
      continue;
    }
    const unique = isIdLast ? once : shown;
    const all = run.events.filter(({ kind }) => kind === "progress")
      .map(({ position }) => position).slice(0, unique.length);
    if (unique.join() !== all.join()) {
      yield `${prompt} is shown the events ${shown}, not ${all}`;
    }
  }
}

/** The longest that a run may be followed after the service's last byte, in milliseconds. */
const MOST = 45 * 60_000;

/** The longest silence of a stream, in milliseconds. */
const SILENCE = 600_000;

/** How late a limit may be noticed, and what is written after it, in milliseconds. */
const GRACE = 11_000;

function* endsInTime(facts: Facts): Broken {
  const { user, world, service: { exchanges }, isQuick, limit } = facts;
  if (!user.hasEnded) {
    const mayHang = user.plan.reader.kind === "stuck" && limit === undefined;
    if (!mayHang) yield "it never ends";
    return;
  }
  if (user.kind === "script" && limit !== undefined) {
    const operations = user.prompts.length + (user.plan.isPiped ? 1 : 0);
    const time = world.runningTime(0, world.now);
    if (time > operations * (limit + GRACE)) {
      yield `it took ${time} ms with a limit of ${limit} ms`;
    }
  }
  if (!isQuick) return;
  for (const { operation, lastSign, endedAt } of exchanges) {
    const silence = world.runningTime(lastSign, endedAt);
    if (operation === "stream run" && silence > SILENCE + GRACE) {
      yield `a stream was silent for ${Math.round(silence / 1000)} s`;
    }
  }
  if (limit !== undefined) return;
  const actions = user.kind === "script"
    ? [0]
    : [user.plan.end, ...user.sent.map(({ at }) => at)];
  const signs = exchanges.map(({ lastSign }) => lastSign);
  const time = world.runningTime(Math.max(...actions, ...signs), world.now);
  if (time > MOST) yield `it ended ${time / 1000} s after the last byte`;
}

function* answersOnce({ user, isQuick }: Facts): Broken {
  if (user.kind === "script") {
    const last = user.lines.findLast(({ isError }) => !isError)?.text ?? "";
    const isWhole = /"type":"(reply|error)"/.test(last) || !user.hasEnded;
    if (user.plan.json && isQuick && !isWhole) {
      yield "JSON Lines end without an end";
    }
    return;
  }
  const { received, sent, plan } = user;
  if (user.error instanceof SyntaxError) yield `a broken line: ${user.error}`;
  const answers = received.filter(({ method }) => method === undefined);
  const isDue = user.hasEnded && plan.reader.kind !== "gone";
  for (const { id, method } of sent) {
    const count = answers.filter((answer) => answer.id === id).length;
    if (count > 1 || count === 0 && isDue) {
      yield `${method} ${id} has ${count} answers`;
    }
  }
  for (const { id } of answers) {
    const isKnown = id === null || sent.some((request) => request.id === id);
    if (!isKnown) yield `an answer to ${id}`;
  }
  yield* checkUpdates(user);
}

/** Each update belongs to a request of its session that is not answered yet. */
function* checkUpdates({ sent, received }: Editor): Broken {
  const answered = new Set<unknown>();
  for (const message of received) {
    if (message.method === undefined) answered.add(message.id);
    if (message.method !== "session/update") continue;
    const { sessionId, update } = message.params;
    if (update.sessionUpdate === "session_info_update") continue;
    const isExpected = sent.some(({ id, method, sessionId: session, at }) =>
      session === sessionId && !answered.has(id) && at <= message.at &&
      (method === "session/prompt" || method === "session/load")
    );
    if (!isExpected) yield `nobody waits for ${JSON.stringify(message.params)}`;
  }
}

/**
 * How long after its cancellation a prompt may be answered, in milliseconds: the distance
 * from its updates, of which a story has at most some tens.
 */
const AT_ONCE = 60;

function* answersCancelled({ prompts, isQuick, world }: Facts): Broken {
  for (const seen of isQuick ? prompts : []) {
    const { prompt, cancelledAt, endedAt, replies, end, message } = seen;
    const isAsked = cancelledAt !== undefined && cancelledAt <= endedAt;
    if (end === "cancelled" && message === "" && !isAsked) {
      yield `${prompt} is cancelled, and nobody asked for that`;
    }
    if (!isAsked) continue;
    const time = world.runningTime(cancelledAt, endedAt);
    if (time > AT_ONCE) yield `${prompt} is answered after ${time} ms`;
    if (end === "reply") continue;
    if (replies.length > 0) yield `${prompt} has a reply, and no end_turn`;
    // The prompt may have failed just before: its response is sent some time after its
    // last update.
    const isDropped = [...seen.posts, ...seen.streams].some((request) =>
      request.ending === "dropped" && request.endedAt > cancelledAt
    );
    if (isDropped && message !== "") yield `${prompt} fails by it: ${message}`;
  }
}

function* runsInTurn({ sent }: Editor, { posts }: Facts): Broken {
  for (const { prompt, askedAt } of posts) {
    const index = sent.findIndex((request) => request.prompt === prompt);
    for (const { prompt: before, sessionId, answer } of sent.slice(0, index)) {
      if (before === undefined || sessionId !== sent[index]?.sessionId) {
        continue;
      }
      if (answer === undefined || answer.at > askedAt) {
        yield `${prompt} is sent before ${before} is answered`;
      }
    }
  }
}

function* loadsSessions({ sent, received }: Editor): Broken {
  for (const { id, at, sessionId, method, answer } of sent) {
    if (method !== "session/load" || answer?.result === undefined) continue;
    const ofSession = sent.filter((request) => request.sessionId === sessionId);
    const loads = ofSession.filter((request) => request.method === method);
    if (loads.length > 1) continue; // Which of them an update belongs to is not told.
    const prompts = ofSession.filter((request) =>
      request.prompt !== undefined && request.id < id && !isRejected(request)
    ).map(({ prompt }) => prompt);
    const shown = received.filter((message) =>
      message.at >= at && message.params?.sessionId === sessionId &&
      message.params.update?.sessionUpdate === "user_message_chunk"
    ).map(({ params }) => params.update.content.text);
    if (shown.join() !== prompts.join()) {
      yield `${sessionId} is shown as ${shown}, not ${prompts}`;
    }
  }
}

/** What opens a session again, or closes it. */
const CHANGES = ["session/load", "session/resume", "session/close"];

function* closesSessions({ sent, received }: Editor): Broken {
  const order = ({ answer }: Sent) =>
    answer === undefined ? -1 : received.indexOf(answer);
  const groups = Map.groupBy(sent, ({ sessionId }) => sessionId);
  for (const requests of groups.values()) {
    let isOpen = true;
    for (const [index, request] of requests.entries()) {
      const { prompt, answer, method } = request;
      if (prompt !== undefined && !isOpen) {
        const isTaken = answer !== undefined && answer.error?.code !== -32002;
        if (isTaken) yield `${prompt} is taken`;
      }
      if (!CHANGES.includes(method)) continue;
      const wasOpen = isOpen;
      isOpen = method !== "session/close";
      if (isOpen || !wasOpen) continue;
      for (const before of requests.slice(0, index)) {
        const isLate = before.prompt !== undefined &&
          order(request) < order(before);
        if (isLate) yield `it is answered before ${before.prompt}`;
      }
    }
  }
}

function* keepsDistance(
  { sent, received }: Editor,
  { posts }: Facts,
): Broken {
  for (const request of sent) {
    const { method, sessionId, answer, prompt } = request;
    if (method !== "session/prompt" || answer === undefined) continue;
    const isLoaded = sent.some((other) =>
      other.method === "session/load" && other.sessionId === sessionId
    );
    // One that was cancelled while it waited has no updates.
    const hasBegun = posts.some((post) => post.prompt === prompt);
    if (isRejected(request) || isLoaded || !hasBegun) continue;
    const last = received.slice(0, received.indexOf(answer))
      .findLast(({ params }) => params?.sessionId === sessionId);
    if (last === undefined || last.at < request.at) continue;
    const distance = answer.at - last.at;
    if (distance < 30) {
      yield `${prompt} is answered ${distance} ms after its update`;
    }
  }
}

/** The pauses before the repetitions of a `POST`, in milliseconds. */
const PAUSES = [500, 1_000, 2_000];
const PAUSES_NOT_TAKEN = [0, 500, 1_000];

function* repeatsPosts(facts: Facts): Broken {
  const { service, user, world, prompts, isQuick, limit } = facts;
  const groups = Map.groupBy(
    service.exchanges.filter(({ operation }) =>
      operation === "create run" ||
      operation === "create thread" && user.kind === "script"
    ),
    ({ prompt }) => prompt ?? "the thread",
  );
  for (const [name, exchanges] of groups) {
    const seen = prompts.find(({ prompt }) => prompt === name);
    const mayEnd = limit !== undefined || !isQuick ||
      seen?.cancelledAt !== undefined;
    for (const [index, exchange] of exchanges.entries()) {
      if (exchange.failure === AMBIGUOUS) continue;
      const next = exchanges[index + 1];
      const pause = pauseAfter(exchange, index);
      const outcome = `${name} (${exchange.status ?? exchange.failure})`;
      if (next === undefined) {
        if (pause !== undefined && !mayEnd) {
          yield `${outcome} is not sent again`;
        }
      } else if (pause === undefined) {
        yield `${outcome} is sent again`;
      } else {
        const time = next.askedAt - exchange.endedAt;
        const running = world.runningTime(exchange.endedAt, next.askedAt);
        const isLate = isQuick && running > pause.most + 3_000;
        if (time < pause.least - 1 || isLate) {
          yield `${outcome} is sent again after ${time} ms`;
        }
      }
    }
  }
}

/** The pause before a `POST` is sent again; `undefined` if it is not. */
function pauseAfter(
  exchange: Exchange,
  index: number,
): { readonly least: number; readonly most: number } | undefined {
  const { operation, status, retryAfter = 0 } = exchange;
  const isClosed = isNotTaken(exchange);
  const isRefused = isUnreachable(exchange) &&
    /refused \(os|No route/.test(exchange.failure ?? "");
  const isBusy = status === 429 ||
    status === 503 && operation === "create thread";
  const usual = (isClosed ? PAUSES_NOT_TAKEN : PAUSES)[index];
  if (usual === undefined || !(isClosed || isRefused || isBusy)) return;
  const asked = isBusy ? retryAfter * 1_000 : 0;
  if (asked > 30_000) return undefined;
  const added = Math.min(Math.max(asked / 4, 2_000), 5_000);
  const most = asked === 0 ? 0 : asked + added;
  return {
    least: Math.max(usual / 2, asked),
    most: Math.max(usual * 1.5, most),
  };
}

/** The statuses of a stream's `GET` after which it is sent again. */
const AGAIN: readonly unknown[] = [undefined, 200, 429, 502, 503, 504];

function* followsRuns(facts: Facts): Broken {
  const { plan: { ids, isIdLast }, prompts, limit = Infinity, world } = facts;
  // Whether each event has an id, on a line before its data.
  const hasAllIds = ids !== "none" && ids !== "some" && !isIdLast;
  for (const seen of facts.isQuick ? prompts : []) {
    const { prompt, run, streams, begunAt, endedAt, end } = seen;
    yield* checkPauses(streams, hasAllIds, world);
    const last = streams.at(-1);
    if (run === undefined || last === undefined || end !== "failed") continue;
    if (endedAt - begunAt >= limit - 1 || isFailureLast(run)) continue;
    // A script shows no progress after its first reply.
    const hasNews = streams.some(({ news }) => news > 0);
    const mayLose = hasNews && !hasAllIds;
    if (!AGAIN.includes(last.status) || mayLose) continue;
    const reason = whyTooSoon(streams, endedAt, world);
    if (reason !== undefined) yield `${prompt} is given up ${reason}`;
  }
}

/**
 * How much earlier a limit may be noticed, in milliseconds: each of three stops may be
 * noticed by the lateness of a tick, which comes every 5 s.
 */
const TOLERANCE = 19_000;

/** Why a run was given up too soon; `undefined` if it was not. */
function whyTooSoon(
  attempts: readonly Exchange[],
  endedAt: number,
  world: World,
): string | undefined {
  const [first] = attempts;
  const last = attempts.at(-1);
  if (last?.ending === "dropped" && last.status === 200) {
    const silence = world.runningTime(last.lastSign, endedAt);
    const open = world.runningTime(last.openedAt ?? 0, endedAt);
    if (silence < LOSS && open < SILENCE - TOLERANCE) {
      return `while its stream is alive, open for ${Math.round(open)} ms`;
    }
  }
  const openTime = ({ openedAt = Infinity, endedAt }: Exchange) =>
    world.runningTime(openedAt, endedAt);
  const newest = attempts.findLast(({ news }) => news > 0);
  const steady = attempts.findLast((attempt) =>
    attempt.news > 0 && openTime(attempt) >= 5_000
  );
  const start = first?.askedAt ?? 0;
  const failing = world.runningTime(steady?.endedAt ?? start, endedAt);
  const old = world.runningTime(newest?.newestAt ?? start, endedAt);
  const lastFive = attempts.slice(-5);
  const hasNoMore = lastFive.length === 5 &&
    lastFive.every((attempt) => isEmpty(attempt, openTime(attempt)));
  if (hasNoMore || failing >= 120_000 - TOLERANCE) return undefined;
  if (old >= SILENCE - TOLERANCE) return undefined;
  const times = [failing, old].map((time) => `${Math.round(time / 1000)} s`);
  return `after ${times[0]} of failures, ${times[1]} after an event`;
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
    const { status, news, endedAt, openedAt = 0, retryAfter = 0 } = attempt;
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
    const isGivenUp = !isRelayed || wasHeard || time <= 20_000 + GRACE;
    if (!isGivenUp) yield `${operation} ends after ${time} ms`;
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
  const left = {
    requests: service.asked.filter((one) => one.ending === undefined).length,
    clients: service.network.clients,
    sockets: service.network.open,
  };
  for (const [what, count] of Object.entries(left)) {
    if (count !== 0) yield `${count} ${what}`;
  }
}

function* handlesErrors({ world }: Facts): Broken {
  for (const error of world.unhandled) yield String(error);
}
