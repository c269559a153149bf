/**
 * Whether a request that failed is repeated, why, and after which pause: the only module
 * that decides it. It has no state: callers pass what they know, and do what it says.
 *
 * | Request           | Repeated while                                                 |
 * | ----------------- | -------------------------------------------------------------- |
 * | `POST`            | its fate is `not run`: a prompt must not run twice,            |
 * |                   | its problem has another pause in {@linkcode PROBLEMS},         |
 * |                   | `Retry-After` asks for 30 s or less                            |
 * | `GET` of a stream | its problem is in {@linkcode PROBLEMS},                        |
 * |                   | it cannot deliver an event twice,                              |
 * |                   | there was an answer in the last 2 minutes, or the last attempt |
 * |                   | began less than 1 minute after the first,                      |
 * |                   | a stream of 5 s or more ended in the last 2 minutes,           |
 * |                   | there was a new event in the last 10 minutes,                  |
 * |                   | of the last five streams one brought a new event, broke, or    |
 * |                   | lasted for 5 s                                                 |
 *
 * A stream that brings a new event and lasts for 5 s starts the pauses and times over.
 *
 * @module
 */

import { type Redacted, safe, wholeDuration } from "../../text.ts";
import { TIMEOUTS } from "../timeouts.ts";
import type { Fate, RemoteOperation } from "./fate.ts";

interface TemporaryProblem {
  readonly sentence: Redacted;
  /** The pauses before a `POST` is repeated; by default it is not. */
  readonly pauses?: "retry" | "reopen" | "outOfFiles";
}

/** The problems that may pass, so that it helps to repeat a request. */
export const PROBLEMS = {
  "service busy": { sentence: safe`The service is busy`, pauses: "retry" },
  "service unreachable": { sentence: safe`The service is unreachable` },
  "connection refused": {
    sentence: safe`The connection was refused`,
    pauses: "retry",
  },
  "no connection": { sentence: safe`There is no connection`, pauses: "retry" },
  /** Before the service took the request. */
  "connection closed": {
    sentence: safe`The connection was closed`,
    pauses: "reopen",
  },
  "certificate not valid": {
    sentence: safe`The certificate of the service is not valid`,
  },
  "connection lost": { sentence: safe`The connection was lost` },
  "stream ended": { sentence: safe`The stream has ended` },
  "stream silent": { sentence: safe`The stream is silent` },
  /** Other sessions of this program give their descriptors back. */
  "too many open files": {
    sentence: safe`Too many files are open`,
    pauses: "outOfFiles",
  },
} satisfies Readonly<Record<string, TemporaryProblem>>;

/** Why a request is repeated, in a few words for a status line. */
export type Problem = keyof typeof PROBLEMS;

/** The statuses of problems that may pass. All others are final. */
const STATUSES: Readonly<
  Record<RemoteOperation, Readonly<Record<number, Problem>>>
> = {
  "create thread": { 429: "service busy", 503: "service busy" },
  // After 503, the service may have taken the request, and then have died.
  "create run": { 429: "service busy" },
  "stream run": {
    429: "service busy",
    502: "service unreachable",
    503: "service busy",
    504: "service unreachable",
  },
};

export function problemOfStatus(
  operation: RemoteOperation,
  status: number,
): Problem | undefined {
  return STATUSES[operation][status];
}

/** A pause before a retry, for a status line: "service busy, again in 6 s". */
export function pauseLabel(problem: Problem, milliseconds: number): Redacted {
  return safe`${problem}, again in ${wholeDuration(milliseconds)}`;
}

/** The same as a sentence: "The service is busy; again in 6 s". */
export function pauseSentence(
  problem: Problem,
  milliseconds: number,
): Redacted {
  const { sentence } = PROBLEMS[problem];
  return safe`${sentence}; again in ${wholeDuration(milliseconds)}`;
}

/** What a failure says about its repetition. */
export interface RetryHints {
  readonly problem?: Problem | undefined;
  /** How long `Retry-After` asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** The pause before a retry is drawn evenly from a range, in milliseconds. */
export interface Retry {
  readonly problem: Problem;
  readonly least: number;
  readonly most: number;
}

/** A `POST` that failed. */
interface FailedPost {
  /** The fate of the prompt, or the thread, if nothing else is sent. */
  readonly fate: Fate;
  /** How often it was sent. */
  readonly count: number;
}

/** How a `POST` that failed is repeated; `undefined` if it is not. */
export function retryPost(
  { problem, retryAfter = 0 }: RetryHints,
  { fate, count }: FailedPost,
): Retry | undefined {
  if (problem === undefined || fate !== "not run") return undefined;
  // The error says when to try again.
  if (retryAfter > TIMEOUTS.retryAfter) return undefined;
  const { pauses }: TemporaryProblem = PROBLEMS[problem];
  const pause = pauses && TIMEOUTS[pauses][count - 1];
  if (pause === undefined) return undefined;
  return atLeast(retryAfter, { problem, ...around(pause) });
}

/** One request for the stream of a run. Times are in milliseconds of one clock. */
export interface Attempt {
  readonly askedAt: number;
  /** When its headers came, if they did. */
  openedAt?: number;
  /** When its last new event came, if one did. */
  newestAt?: number;
  endedAt: number;
  /** Whether its stream certainly ended by itself, as a whole answer. */
  isWhole: boolean;
}

/** What the attempts to follow a run have come to, up to the last one. */
export interface Attempts {
  readonly last: Attempt;
  /** How many have failed since a stream of 5 s brought a new event. */
  readonly failures: number;
  /** When the newest event came; before that, when the first attempt began. */
  readonly newestAt: number;
  /** Since when no stream has lasted for 5 s. */
  readonly failingSince: number;
  /** Whether the last stream that was opened ended within 5 s. */
  readonly isUnsteady: boolean;
  /** How many streams in a row ended by themselves within 5 s, with nothing new. */
  readonly emptyStreams: number;
}

/** Adds an attempt to those before it. */
export function withAttempt(
  before: Attempts | undefined,
  last: Attempt,
): Attempts {
  const { askedAt, openedAt, newestAt, endedAt, isWhole } = last;
  const isSteady = openedAt !== undefined &&
    endedAt - openedAt >= TIMEOUTS.steady;
  const hasNews = newestAt !== undefined;
  const isEmpty = isWhole && !hasNews && !isSteady;
  const isFirstUnsteady = openedAt !== undefined && !before?.isUnsteady;
  return {
    last,
    failures: isSteady && hasNews ? 1 : (before?.failures ?? 0) + 1,
    newestAt: newestAt ?? before?.newestAt ?? askedAt,
    failingSince: isSteady || isFirstUnsteady
      ? endedAt
      : before?.failingSince ?? askedAt,
    isUnsteady: openedAt === undefined
      ? before?.isUnsteady === true
      : !isSteady,
    emptyStreams: isEmpty ? (before?.emptyStreams ?? 0) + 1 : 0,
  };
}

/** After this many streams in a row that end at once, with nothing new, it gives up. */
export const MAX_EMPTY = 5;

/** A run whose stream was lost, or could not be reached. */
interface FollowedRunState {
  /** Whether events were delivered, of which the last one has no id to resume after. */
  readonly mayRepeat: boolean;
  /** The milliseconds that the stream asks for before it is resumed. */
  readonly retryField: number;
  readonly attempts: Attempts;
}

/** How the request for a stream is repeated; `undefined` if the run is given up. */
export function retryStream(
  { problem, retryAfter = 0 }: RetryHints,
  { mayRepeat, retryField, attempts }: FollowedRunState,
): Retry | undefined {
  if (problem === undefined || mayRepeat) return undefined;
  if (attempts.emptyStreams >= MAX_EMPTY) return undefined;
  if (isOver(attempts)) return undefined;

  const { lost, reconnect } = TIMEOUTS;
  const { last, failures } = attempts;
  // A server that restarts loses all of its clients in the same moment.
  const range = failures === 1 && last.openedAt !== undefined
    ? { least: 0, most: lost }
    : around(reconnect[failures - 1] ?? reconnect.at(-1) ?? 0);
  const asked = Math.max(retryAfter, retryField);
  return atLeast(asked, { problem, ...range });
}

function isOver({ last, newestAt, failingSince }: Attempts): boolean {
  const { outage, lastAttempt, resume } = TIMEOUTS;
  const { askedAt, openedAt, endedAt } = last;
  if (askedAt - newestAt >= resume) return true;
  // One attempt to connect may take the system longer than all of the time.
  const isLast = openedAt !== undefined ||
    askedAt - failingSince >= lastAttempt;
  return isLast && endedAt - failingSince >= outage;
}

/** Whether a service has repeated old events for too long, in milliseconds. */
export function isReplayOver(time: number): boolean {
  return time >= TIMEOUTS.resume;
}

/** This many comments show how often a service sends them. */
const MANY_COMMENTS = 3;

/** The shortest silence of a peer that has vanished, in milliseconds. */
export const VANISHED = 60_000;

/** The same, as a multiple of the longest silence so far. */
export const SILENCES = 4;

/** What is known of a stream that is open. */
interface OpenStreamState {
  readonly mayRepeat: boolean;
  /** How many comments the service has sent. */
  readonly comments: number;
  /** Its longest silence, in milliseconds. */
  readonly longest: number;
}

/**
 * How long a stream may be silent until it is lost, in milliseconds. A peer that has
 * vanished can only be noticed by its silence, where comments usually come.
 */
export function silenceLimit(
  { mayRepeat, comments, longest }: OpenStreamState,
): number {
  const { idle } = TIMEOUTS;
  if (mayRepeat || comments < MANY_COMMENTS) return idle;
  return Math.min(idle, Math.max(VANISHED, SILENCES * longest));
}

/** Many clients must not return at once. */
function around(milliseconds: number): Pick<Retry, "least" | "most"> {
  return { least: milliseconds / 2, most: milliseconds * 1.5 };
}

const MIN_ADDED = 2_000;
const MAX_ADDED = 5_000;

/**
 * The same retry, after a pause that is asked for, at most 30 s; up to a quarter of it
 * is added, between 2 and 5 s.
 */
function atLeast(
  milliseconds: number,
  retry: Retry,
): Retry {
  if (milliseconds === 0) return retry;
  const asked = Math.min(milliseconds, TIMEOUTS.retryAfter);
  const added = Math.min(Math.max(asked / 4, MIN_ADDED), MAX_ADDED);
  return {
    problem: retry.problem,
    least: Math.max(asked, retry.least),
    most: Math.max(asked + added, retry.most),
  };
}
