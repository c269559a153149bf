/**
 * Which requests are sent again, after which pause, and for how long. A prompt must
 * run once, so a run is only created again if the service certainly has not taken the
 * request.
 *
 * @module
 */

import type { Operation } from "../failure/fate.ts";
import { ServiceError } from "../failure/service_error.ts";
import type { Timeouts } from "./timeouts.ts";

const BUSY = "service busy";
const UNREACHABLE = "service unreachable";

/**
 * The statuses after which a request is sent again, and why, in a few words. (After
 * 503 to `create run`, the service may have taken the request, and then have died.)
 */
const STATUSES: Readonly<
  Record<Operation, Readonly<Record<number, string>>>
> = {
  "create thread": { 429: BUSY, 503: BUSY },
  "create run": { 429: BUSY },
  "stream run": { 429: BUSY, 502: UNREACHABLE, 503: BUSY, 504: UNREACHABLE },
};

export function retryReason(
  operation: Operation,
  status: number,
): string | undefined {
  return STATUSES[operation][status];
}

/** The pauses before the retries of a `POST` that failed, in milliseconds. */
export function postPauses(
  { failure: { stage, status } }: ServiceError,
  { retry, reopen }: Timeouts,
): readonly number[] {
  const wasClosed = stage === "not taken" && status === undefined;
  return wasClosed ? reopen : retry;
}

/** Throws the error, with the time to wait, if that is longer than the limit, in milliseconds. */
export function refuseLongPause(error: ServiceError, limit: number): void {
  const { fate, retryAfter = 0 } = error.failure;
  if (fate !== "not run" || retryAfter <= limit) return;
  const minutes = Math.ceil(retryAfter / 60_000);
  const time = minutes > 1440 ? "more than a day" : `${minutes} min`;
  const advice = `Try again in ${time}`;
  throw new ServiceError({ ...error.failure, advice }, error);
}

/** A pause that is drawn by lot, so that many clients do not retry at once, in milliseconds. */
export interface Pause {
  readonly least: number;
  readonly most: number;
}

export function around(milliseconds: number): Pause {
  return { least: milliseconds / 2, most: milliseconds * 1.5 };
}

/**
 * Draws a pause. What the service asks for is the least; up to a quarter is added by
 * lot, between 2 and 5 s. In milliseconds.
 */
export function draw(pause: Pause, asked: number): number {
  const between = ({ least, most }: Pause) =>
    least + Math.random() * (most - least);
  const own = between(pause);
  if (asked === 0) return own;
  const added = Math.min(Math.max(asked / 4, MIN_ADDED), MAX_ADDED);
  return Math.max(own, between({ least: asked, most: asked + added }));
}

const MIN_ADDED = 2_000;
const MAX_ADDED = 5_000;

/**
 * The milliseconds that `Retry-After` asks for, in seconds or as a date (RFC 9110,
 * 10.2.3), which counts from the answer's own `Date`: the local clock may be wrong.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const until = parseDate(text);
  const now = parseDate(headers.get("date") ?? "") ?? Date.now();
  return until === undefined ? undefined : Math.max(0, until - now);
}

function parseDate(text: string): number | undefined {
  // `Date.parse` alone would accept "-1" and "1.5" as dates.
  const time = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
