/**
 * Which requests are sent again, after which pause, and for how long. A prompt must
 * run once, so a run is only created again if the service certainly has not taken the
 * request.
 *
 * @module
 */

import { wholeDuration } from "../../text.ts";
import type { Failure, RetryReason } from "../failure/failure.ts";
import type { RemoteOperation } from "../failure/fate.ts";
import type { Timeouts } from "./timeouts.ts";

const BUSY = "service busy";
const UNREACHABLE = "service unreachable";

/**
 * The statuses after which a retry may help, and why it is made. A `POST`
 * is only retried if its stage also says that it was not taken: `Call` asks for both.
 * (After 503 to `create run`, the service may have taken the request, and then have
 * died.)
 */
const STATUSES: Readonly<
  Record<RemoteOperation, Readonly<Record<number, RetryReason>>>
> = {
  "create thread": { 429: BUSY, 503: BUSY },
  "create run": { 429: BUSY },
  "stream run": { 429: BUSY, 502: UNREACHABLE, 503: BUSY, 504: UNREACHABLE },
};

export function retryReason(
  operation: RemoteOperation,
  status: number,
): RetryReason | undefined {
  return STATUSES[operation][status];
}

/** The pauses before the retries of a `POST` that failed, in milliseconds. */
export function postPauses(
  { retry: reason, stage, status, isOutOfFiles }: Failure,
  { retry, reopen, outOfFiles }: Timeouts,
): readonly number[] {
  if (reason === undefined) return [];
  if (isOutOfFiles) return outOfFiles;
  const wasClosed = stage === "not taken" && status === undefined;
  return wasClosed ? reopen : retry;
}

/** Whether the service asks for a pause that is too long to wait for. */
export function asksTooLong(
  { retryAfter = 0 }: Failure,
  { retryAfter: limit }: Timeouts,
): boolean {
  return retryAfter > limit;
}

/** The advice to try again after the pause that the service asks for. */
export function laterAdvice({ retryAfter = 0 }: Failure): string {
  const minutes = Math.ceil(retryAfter / 60_000);
  const time = minutes > 1440
    ? "more than a day"
    : wholeDuration(minutes * 60_000);
  return `Try again in ${time}`;
}

/** A pause drawn by lot, so that many clients do not retry at once, in milliseconds. */
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
