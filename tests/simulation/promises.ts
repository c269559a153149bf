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
} from "./network.ts";
import { AMBIGUOUS, API_KEY, type ServicePlan } from "./plans.ts";
import {
  jsonEvents,
  OWN_ERRORS,
  promptsOf,
  type ScriptEvent,
  type Seen,
} from "./seen.ts";
import type { Run, Service } from "./service.ts";
import type { EditorResult, ScriptResult, Sent } from "./users.ts";
import type { World } from "./world.ts";

/** A story that was played to its end. */
export interface Played {
  readonly plan: ServicePlan;
  readonly world: World;
  readonly service: Service;
  readonly user: ScriptResult | EditorResult;
}

type Broken = Generator<string>;

export const PROMISES: Readonly<Record<string, (played: Played) => Broken>> = {
  "a prompt runs once": runsOnce,
  "fates and exit codes are true": tellsTheTruth,
  "a reply is that run's, whole, and shown once": repliesOnce,
  "a reply that came in time is shown": showsReplies,
  "progress is shown in order, none of it twice or left out": showsProgress,
  "every call ends in time": endsInTime,
  "every request of an editor is answered once": answersOnce,
  "a cancelled prompt is answered at once": answersCancelled,
  "the prompts of a session run one after the other": runsInTurn,
  "a session that is loaded shows its prompts": loadsSessions,
  "a session that is closed ends its prompts, and takes no others":
    closesSessions,
  "an answer keeps 30 ms from the updates before it": keepsDistance,
  "a POST is repeated as decided": repeatsPosts,
  "a run is followed as long as decided": followsRuns,
  "a connection ahead is one, for 45 s, and costs nothing": opensAhead,
  "a service that says nothing is given up after 20 s": givesUpSilence,
  "a relay serves its client, whatever this machine does": reachesItself,
  "the key is nowhere": hidesTheKey,
  "nothing is left open": closesAll,
  "no error is left unhandled": handlesErrors,
};

/** Whether all that is written is read, sooner or later. */
function isRead({ user: { plan } }: Played): boolean {
  return plan.reader.kind === "quick" || plan.reader.kind === "slow";
}

/**
 * Whether the user reads at once. A slow or stuck reader delays the program, so limits
 * and pauses are held against quick readers only.
 */
function isQuick({ user: { plan } }: Played): boolean {
  return plan.reader.kind === "quick";
}

/** What was broken in a story, a line each. */
export function brokenIn(played: Played): string[] {
  return Object.entries(PROMISES).flatMap(([name, promise]) =>
    Array.from(promise(played), (what) => `${name}: ${what}`)
  );
}

/**
 * No mutant is found by this alone: a prompt that runs twice was sent twice, which
 * {@linkcode repeatsPosts} reports as well.
 */
function* runsOnce({ service }: Played): Broken {
  const prompts = new Set(service.runs.map(({ prompt }) => prompt));
  for (const prompt of prompts) {
    const runs = service.runs.filter((run) => run.prompt === prompt);
    if (runs.length > 1) yield `${prompt} ran ${runs.length} times`;
  }
}

function* tellsTheTruth(played: Played): Broken {
  const { service, user, plan } = played;
  for (const seen of promptsOf(played.user)) {
    if (seen.end === "failed") yield* checkFate(played, seen);
  }
  if (user.kind === "editor" || !isRead(played) || !user.hasEnded) return;
  const { code } = user;
  if (user.plan.json && isQuick(played)) {
    const due = codeOfCall(jsonEvents(user));
    if (code !== due) yield `exit code ${code}, not ${due}`;
  }
  const runs = service.runs.length;
  const requests = createRuns(service);
  switch (code) {
    case 0: {
      const replied = promptsOf(played.user).filter(({ end }) =>
        end === "reply"
      );
      if (replied.length < user.prompts.length) {
        yield `exit code 0 with ${replied.length} replies`;
      }
      break;
    }
    case 3:
    case 4:
      if (runs > 0) {
        yield `exit code ${code} (nothing was started) with ${runs} runs`;
      }
      break;
    case 5:
      if (requests.every(isUnsent)) {
        yield "exit code 5 (may have run), and no request was ever sent";
      }
      break;
    case 1:
      break;
    default:
      yield `exit code ${code}, ${user.error}, by a service with ids ${plan.ids}`;
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

function* checkFate(played: Played, seen: Seen): Broken {
  const { service } = played;
  const { prompt, fate, message } = seen;
  const run = service.runs.find((run) => run.prompt === prompt);
  const requests = createRuns(service).filter((one) => one.prompt === prompt);
  const says = `${prompt} "${message}"`;
  switch (fate) {
    case "not run":
    case "refused":
      if (run !== undefined) yield `${says}, and it runs as ${run.id}`;
      break;
    case "may have run":
      if (requests.every(isUnsent)) yield `${says}, and was never sent`;
      break;
    case "may go on":
      if (run === undefined) yield `${says}, and it never ran`;
      break;
    case "failed":
    case undefined: {
      const isTrue = run === undefined && fate === undefined ||
        run?.hasFailed || run?.completeAt !== undefined ||
        run !== undefined && hasHeardFailure(played, run);
      if (!isTrue) yield `${says}, and ${run?.id} goes on`;
      break;
    }
    default:
      yield `${says} has the fate ${fate}`;
  }
}

/** The shortest silence that counts as a loss, less what is not noticed of a stop. */
const LOSS = 53_000;

/** Whether the service said that a run failed, and then ended the stream or fell silent. */
function hasHeardFailure(played: Played, run: Run): boolean {
  const last = streamsOf(played, run).at(-1);
  if (last?.status === 404 || last?.status === 410) return true;
  if (last === undefined || !isFailureLast(run)) return false;
  const silence = runningTime(played, lastSign(last), last.endedAt);
  return last.ending !== "dropped" || silence >= LOSS;
}

/** Whether no event of the run came after its last record of a failure. */
function isFailureLast({ events, furthest }: Run): boolean {
  const kind = events.slice(0, furthest + 1).findLast(({ kind }) =>
    ["progress", "complete", "failure", "failed"].includes(kind)
  )?.kind;
  return kind === "failure" || kind === "failed";
}

function* repliesOnce(played: Played): Broken {
  for (const { prompt, replies, end } of promptsOf(played.user)) {
    const run = played.service.runs.find((run) => run.prompt === prompt);
    if (replies.length > 1) yield `${prompt} has ${replies.length} replies`;
    if (end === "reply" && replies.length === 0) yield `${prompt} has none`;
    for (const reply of replies) {
      if (reply !== run?.reply) {
        yield `${prompt} gets "${reply.slice(0, 80)}" for ${run?.id}`;
      }
    }
  }
}

function* showsReplies(played: Played): Broken {
  const { user, service } = played;
  if (user.plan.reader.kind !== "quick") return;
  const limit = user.kind === "script" ? user.plan.timeLimit : undefined;
  for (const { prompt, begunAt, end, message } of promptsOf(played.user)) {
    const run = service.runs.find((run) => run.prompt === prompt);
    if (run?.completeAt === undefined || end === "cancelled") continue;
    // A limit on silence may be over in the same moment.
    const on = streamsOf(played, run).findLast(({ completeAt }) => completeAt);
    const isTie = on !== undefined && on.endedAt - run.completeAt < 5;
    if (isTie && on.ending !== "whole") continue;
    const isInTime = run.completeAt + 50 < begunAt + (limit ?? Infinity);
    if (isInTime && end !== "reply") {
      yield `the reply to ${prompt} came at ${run.completeAt} ms: ${message}`;
    }
  }
}

function* showsProgress(played: Played): Broken {
  const { ids, isIdLast } = played.plan;
  for (const { prompt, nodes } of promptsOf(played.user)) {
    const run = played.service.runs.find((run) => run.prompt === prompt);
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

function* endsInTime(played: Played): Broken {
  const { user, world, service } = played;
  const { reader } = user.plan;
  const limit = user.kind === "script" ? user.plan.timeLimit : undefined;
  if (!user.hasEnded) {
    if (reader.kind !== "stuck" || limit !== undefined) yield "it never ends";
    return;
  }
  const streams = service.exchanges.filter((e) => e.operation === "stream run");
  for (const exchange of isQuick(played) ? streams : []) {
    const silence = runningTime(played, lastSign(exchange), exchange.endedAt);
    if (silence > SILENCE + GRACE) {
      yield `a stream was silent for ${Math.round(silence / 1000)} s`;
    }
  }
  if (user.kind === "script" && limit !== undefined) {
    const operations = user.prompts.length + (user.plan.isPiped ? 1 : 0);
    const most = operations * (limit + GRACE);
    const time = runningTime(played, 0, world.now);
    if (time > most) yield `it took ${time} ms with a limit of ${limit} ms`;
  } else if (isQuick(played)) {
    const lastAction = user.kind === "editor"
      ? user.sent.reduce((at, sent) => Math.max(at, sent.at), user.plan.end)
      : 0;
    const last = service.exchanges.map(lastSign)
      .reduce((a, b) => Math.max(a, b), lastAction);
    const time = runningTime(played, last, world.now);
    if (time > MOST) yield `it ended ${time / 1000} s after the last byte`;
  }
}

function* answersOnce({ user }: Played): Broken {
  if (user.kind === "script") {
    const isRead = user.plan.reader.kind === "quick";
    const last = user.lines.findLast(({ isError }) => !isError);
    const hasEnd = /"type":"(reply|error)"/.test(last?.text ?? "");
    if (user.plan.json && isRead && user.hasEnded && !hasEnd) {
      yield "JSON Lines end without an end";
    }
    return;
  }
  const { received, sent, plan } = user;
  if (user.error instanceof SyntaxError) yield `a broken line: ${user.error}`;
  const answers = received.filter(({ method }) => method === undefined);
  for (const { id, method } of sent) {
    const count = answers.filter((answer) => answer.id === id).length;
    const isDue = user.hasEnded && plan.reader.kind !== "gone";
    if (count > 1 || count === 0 && isDue) {
      yield `${method} ${id} has ${count} answers`;
    }
  }
  for (const answer of answers) {
    const isKnown = sent.some(({ id }) => id === answer.id);
    if (!isKnown && answer.id !== null) yield `an answer to ${answer.id}`;
  }
  yield* checkUpdates(user);
}

/** Each update belongs to a request of its session that is not answered yet. */
function* checkUpdates({ sent, received }: EditorResult): Broken {
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

function* answersCancelled(played: Played): Broken {
  if (!isQuick(played)) return;
  for (const seen of promptsOf(played.user)) {
    const { prompt, cancelledAt, endedAt, replies, end, message } = seen;
    const isAsked = cancelledAt !== undefined && cancelledAt <= endedAt;
    if (end === "cancelled" && message === "" && !isAsked) {
      yield `${prompt} is cancelled, and nobody asked for that`;
    }
    if (cancelledAt === undefined || endedAt < cancelledAt) continue;
    const time = runningTime(played, cancelledAt, endedAt);
    if (time > AT_ONCE) yield `${prompt} is answered after ${time} ms`;
    if (end === "reply") continue;
    if (replies.length > 0) yield `${prompt} has a reply, and no end_turn`;
    // The prompt may have failed just before: its response is sent some time after its
    // last update.
    const isDropped = requestsOf(played, prompt).some((request) =>
      request.ending === "dropped" && request.endedAt > cancelledAt
    );
    if (isDropped && message !== "") yield `${prompt} fails by it: ${message}`;
  }
}

function* runsInTurn(played: Played): Broken {
  const { user, service } = played;
  if (user.kind === "script" || !isQuick(played)) return;
  for (const { prompt, askedAt } of createRuns(service)) {
    const index = user.sent.findIndex((sent) => sent.prompt === prompt);
    const sessionId = user.sent[index]?.sessionId;
    for (const before of user.sent.slice(0, index)) {
      if (before.prompt === undefined || before.sessionId !== sessionId) {
        continue;
      }
      const answer = user.received.find(({ id }) => id === before.id);
      if (answer === undefined || answer.at > askedAt) {
        yield `${prompt} is sent before ${before.prompt} is answered`;
      }
    }
  }
}

function* loadsSessions(played: Played): Broken {
  const { user } = played;
  if (user.kind === "script" || !isQuick(played)) return;
  const isTaken = ({ id }: { readonly id: number }) =>
    !OWN_ERRORS.includes(user.received.find((m) => m.id === id)?.error?.code);
  for (const { id, at, sessionId, method } of user.sent) {
    const answer = user.received.find((message) => message.id === id);
    if (method !== "session/load" || answer?.result === undefined) continue;
    const ofSession = user.sent.filter((sent) => sent.sessionId === sessionId);
    const loads = ofSession.filter((sent) => sent.method === method);
    if (loads.length > 1) continue; // Which of them an update belongs to is not told.
    const due = ofSession.filter((sent) => sent.prompt !== undefined)
      .filter((sent) => sent.id < id && isTaken(sent));
    const shown = user.received.filter((message) =>
      message.at >= at && message.params?.sessionId === sessionId &&
      message.params.update?.sessionUpdate === "user_message_chunk"
    ).map(({ params }) => params.update.content.text);
    const prompts = due.map(({ prompt }) => prompt);
    if (shown.join() !== prompts.join()) {
      yield `${sessionId} is shown as ${shown}, not ${prompts}`;
    }
  }
}

/** What opens a session again, or closes it. */
const CHANGES = ["session/load", "session/resume", "session/close"];

function* closesSessions(played: Played): Broken {
  const { user } = played;
  if (user.kind === "script" || !isQuick(played)) return;
  const answers = user.received.map(({ id }) => id);
  const isBefore = (one: Sent, other: Sent) =>
    answers.indexOf(one.id) < answers.indexOf(other.id);
  const groups = Map.groupBy(user.sent, (sent) => sent.sessionId);
  for (const requests of groups.values()) {
    let close: Sent | undefined;
    for (const [index, request] of requests.entries()) {
      if (request.prompt !== undefined && close !== undefined) {
        const answer = user.received.find(({ id }) => id === request.id);
        const isTaken = answer !== undefined && answer.error?.code !== -32002;
        if (isTaken) yield `${request.prompt} is taken`;
      }
      if (!CHANGES.includes(request.method)) continue;
      const isOpen = close === undefined;
      close = request.method === "session/close" ? request : undefined;
      if (close === undefined || !isOpen) continue;
      for (const sent of requests.slice(0, index)) {
        const isLate = sent.prompt !== undefined && isBefore(request, sent);
        if (isLate) yield `it is answered before ${sent.prompt}`;
      }
    }
  }
}

function* keepsDistance(played: Played): Broken {
  const { user, service } = played;
  if (user.kind === "script" || !isQuick(played)) return;
  const loaded = user.sent.filter(({ method }) => method === "session/load")
    .map(({ sessionId }) => sessionId);
  for (const [index, answer] of user.received.entries()) {
    const { id, at, method, error } = answer;
    const request = user.sent.find((sent) => sent.id === id);
    const isPrompt = request?.method === "session/prompt";
    if (method !== undefined || !isPrompt) continue;
    if (OWN_ERRORS.includes(error?.code)) continue;
    if (loaded.includes(request.sessionId)) continue;
    // One that was cancelled while it waited has no updates.
    const hasBegun = createRuns(service).some(({ prompt }) =>
      prompt === request.prompt
    );
    if (!hasBegun) continue;
    const last = user.received.slice(0, index).findLast(({ params }) =>
      params?.sessionId === request.sessionId
    );
    const distance = at - (last?.at ?? -Infinity);
    if (distance < 30 && last !== undefined && last.at >= request.at) {
      yield `${request.prompt} is answered ${distance} ms after its update`;
    }
  }
}

/** The pauses before the repetitions of a `POST`, in milliseconds. */
const PAUSES = [500, 1_000, 2_000];
const PAUSES_NOT_TAKEN = [0, 500, 1_000];

function* repeatsPosts(played: Played): Broken {
  const { service, user } = played;
  const hasLimit = user.kind === "script" && user.plan.timeLimit !== undefined;
  const groups = Map.groupBy(
    service.exchanges.filter((exchange) =>
      exchange.operation === "create run" ||
      exchange.operation === "create thread" && user.kind === "script"
    ),
    ({ prompt }) => prompt ?? "the thread",
  );
  for (const [name, exchanges] of groups) {
    for (const [index, exchange] of exchanges.entries()) {
      if (exchange.failure === AMBIGUOUS) continue;
      const next = exchanges[index + 1];
      const pause = pauseAfter(exchange, index);
      const outcome = `${name} (${exchange.status ?? exchange.failure})`;
      if (next === undefined) {
        const mayEnd = hasLimit || !isQuick(played) ||
          isCancelled(played, name);
        if (pause !== undefined && !mayEnd) {
          yield `${outcome} is not sent again`;
        }
      } else if (pause === undefined) {
        yield `${outcome} is sent again`;
      } else {
        const time = next.askedAt - exchange.endedAt;
        const stopped = played.world.stoppedBetween(0, Infinity);
        const most = isQuick(played) ? pause.most + stopped + 3_000 : Infinity;
        if (time < pause.least - 1 || time > most) {
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

function* followsRuns(played: Played): Broken {
  const { service, user } = played;
  const limit = user.kind === "script" ? user.plan.timeLimit : undefined;
  if (!isQuick(played)) return;
  for (const seen of promptsOf(played.user)) {
    const run = service.runs.find(({ prompt }) => prompt === seen.prompt);
    const attempts = run === undefined ? [] : streamsOf(played, run);
    yield* checkPauses(played, attempts);
    const last = attempts.at(-1);
    if (run === undefined || last === undefined) continue;
    const isLate = limit !== undefined &&
      seen.endedAt - seen.begunAt >= limit - 1;
    if (seen.end !== "failed" || isLate || isFailureLast(run)) continue;
    // A script shows no progress after its first reply.
    const hasNews = attempts.some(({ news }) => news > 0);
    const mayLose = hasNews && !hasAllIds(played);
    if (!AGAIN.includes(last.status) || mayLose) continue;
    const reason = patienceOf(played, attempts, seen.endedAt);
    if (reason !== undefined) yield `${seen.prompt} is given up ${reason}`;
  }
}

/** Whether each event has an id, and has it first. */
function hasAllIds({ plan: { ids, isIdLast } }: Played): boolean {
  return ids !== "none" && ids !== "some" && !isIdLast;
}

/** Why a run was given up too soon; `undefined` if it was not. */
function patienceOf(
  played: Played,
  attempts: readonly Exchange[],
  endedAt: number,
): string | undefined {
  // A stop is noticed by the lateness of a tick that comes every 5 s.
  const tolerance = 1_000 + 6_000 * played.world.stops.length;
  const [first] = attempts;
  const last = attempts.at(-1);
  if (last?.ending === "dropped" && last.status === 200) {
    const silence = runningTime(played, lastSign(last), endedAt);
    const open = runningTime(played, last.openedAt ?? 0, endedAt);
    if (silence < LOSS && open < SILENCE - tolerance) {
      return `while its stream is alive, open for ${Math.round(open)} ms`;
    }
  }
  const openTime = ({ openedAt = Infinity, endedAt }: Exchange) =>
    runningTime(played, openedAt, endedAt);
  const steady = attempts.findLast((attempt) =>
    attempt.news > 0 && openTime(attempt) >= 5_000
  );
  const newest = attempts.findLast(({ news }) => news > 0);
  const failingSince = steady?.endedAt ?? first?.askedAt ?? 0;
  const newestAt = newest?.newestAt ?? first?.askedAt ?? 0;
  const failing = runningTime(played, failingSince, endedAt);
  const old = runningTime(played, newestAt, endedAt);
  const lastFive = attempts.slice(-5);
  const hasNoMore = lastFive.length === 5 &&
    lastFive.every((attempt) => isEmpty(attempt, openTime(attempt)));
  if (hasNoMore || failing >= 120_000 - tolerance) return undefined;
  if (old >= SILENCE - tolerance) return undefined;
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
  played: Played,
  attempts: readonly Exchange[],
): Broken {
  let empty = 0;
  let failed = 0;
  let hasNews = false;
  let hasRetry = false;
  for (const [index, attempt] of attempts.entries()) {
    const next = attempts[index + 1];
    if (next === undefined) return;
    hasNews ||= attempt.news > 0;
    if (hasNews && hasAllIds(played) && !next.headers.has("last-event-id")) {
      yield "a stream is asked for again without its last id";
    }
    // It may be noticed late that the process was stopped meanwhile.
    const openTime = attempt.endedAt - (attempt.openedAt ?? 0);
    empty = isEmpty(attempt, openTime) ? empty + 1 : 0;
    failed = attempt.news > 0 || openTime >= 5_000 ? 0 : failed + 1;
    if (empty >= 5) yield `${empty} empty streams, and another one`;
    if (!AGAIN.includes(attempt.status)) yield `${attempt.status}, and another`;
    hasRetry ||= attempt.hasRetry;
    const asked = Math.max(
      Math.min(30, attempt.retryAfter ?? 0) * 1_000,
      hasRetry ? RETRY_FIELD : 0,
      (GROWING[Math.min(failed, GROWING.length) - 1] ?? 0) / 2,
    );
    const time = next.askedAt - attempt.endedAt;
    const running = runningTime(played, attempt.endedAt, next.askedAt);
    if (time < asked - 1 || running > asked + 30_000) {
      yield `the next attempt comes ${time} ms after ${attempt.status}`;
    }
  }
}

/** How long a connection may be open ahead, in milliseconds. */
const AHEAD = 45_000;

function* opensAhead(played: Played): Broken {
  const { service, world } = played;
  const visits = service.machine?.visits ?? [];
  const unused = visits.flatMap(({ openedAt, socket }) => {
    const end = socket?.writtenAt ?? socket?.closedAt ?? world.now;
    // A fresh one is used at once.
    const isAhead = openedAt !== undefined && end > openedAt + 5;
    return isAhead ? [{ start: openedAt, end }] : [];
  });
  // A request on a line that vanishes, or in an outage, comes to nobody.
  const mayVanish = played.plan.troubles.some(({ kind }) =>
    kind === "sleep" || kind === "outage"
  );
  for (const { openedAt = 0, socket, isUsed } of visits) {
    const { writtenAt, closedAt = world.now } = socket ?? {};
    if (writtenAt === undefined) continue;
    const age = writtenAt - openedAt;
    if (age >= AHEAD) yield `one is used after ${age} ms`;
    const time = runningTime(played, writtenAt, closedAt);
    if (mayVanish || isUsed) continue;
    if (time > 20_000 + GRACE) yield `one is kept for ${time} ms`;
  }
  for (const [index, { start, end }] of unused.entries()) {
    const time = runningTime(played, start, end);
    if (time > AHEAD + 1_000) yield `one is open for ${time} ms`;
    const other = unused[index + 1];
    if (other !== undefined && other.start + 5 < end) yield "two are open";
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

function* givesUpSilence(played: Played): Broken {
  for (const exchange of played.service.asked) {
    const { isRelayed, wasHeard, askedAt, endedAt, operation } = exchange;
    if (!isRelayed || wasHeard) continue;
    const time = runningTime(played, askedAt, endedAt);
    if (time > 20_000 + GRACE) yield `${operation} ends after ${time} ms`;
  }
}

function* reachesItself(played: Played): Broken {
  const { asked } = played.service;
  for (const [index, exchange] of asked.entries()) {
    const { url, endedAt, isRelayed, hasPort, wasNeedless } = exchange;
    if (wasNeedless) yield `${url} leaves a connection that lives`;
    if (!isRelayed || hasPort || exchange.ending !== "broken") continue;
    const next = asked.slice(index + 1).find((later) => later.url === url);
    if (next === undefined || next.askedAt > endedAt + 1) {
      yield `${url} came to no relay, and is not asked for again at once`;
    }
  }
  const text = played.user.kind === "script"
    ? played.user.text
    : JSON.stringify(played.user.received);
  if (/connect to itself|Too many open files|time is over/i.test(text)) {
    yield "its failure is told to the user";
  }
}

function* hidesTheKey({ user }: Played): Broken {
  if (user.text.includes(API_KEY.slice(0, 12))) yield "it is in the output";
}

function* closesAll({ service, user }: Played): Broken {
  if (!user.hasEnded || user.error !== undefined) return;
  const open = service.asked.filter(({ ending }) => ending === undefined);
  if (open.length > 0) yield `${open.length} requests`;
  if (service.clients !== 0) yield `${service.clients} clients`;
  const sockets = service.machine?.open ?? 0;
  if (sockets > 0) yield `${sockets} sockets`;
}

function* handlesErrors({ world }: Played): Broken {
  for (const error of world.unhandled) yield String(error);
}

function isCancelled({ user }: Played, prompt: string): boolean {
  return user.kind === "editor" &&
    user.sent.some((sent) =>
      sent.prompt === prompt && user.cancelled.has(sent.id)
    );
}

function createRuns({ exchanges }: Service): readonly Exchange[] {
  return exchanges.filter(({ operation }) => operation === "create run");
}

/** The requests that create and follow the run of a prompt. */
function requestsOf({ service }: Played, prompt: string): readonly Exchange[] {
  return service.exchanges.filter((exchange) =>
    exchange.prompt === prompt || exchange.run?.prompt === prompt
  );
}

function streamsOf({ service }: Played, run: Run): readonly Exchange[] {
  return service.exchanges.filter(({ operation, url }) =>
    operation === "stream run" && url.split("/").at(-2) === run.id
  );
}

/** When something came last on a connection, or it was asked for. */
function lastSign({ askedAt, openedAt, lastByteAt }: Exchange): number {
  return lastByteAt ?? openedAt ?? askedAt;
}

/** The time in which the process ran, in milliseconds. */
function runningTime({ world }: Played, start: number, end: number): number {
  const until = Math.min(end, world.now);
  return until - start - world.stoppedBetween(start, until);
}
