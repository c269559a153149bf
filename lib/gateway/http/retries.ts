/**
 * Which requests are sent again, after which pause, and for how long. A prompt must
 * run once, so a run is only created again if the service certainly has not taken the
 * request.
 *
 * @module
 */

import { isNotTaken, isRefused } from "../failure/deno_errors.ts";
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

/**
 * Why a request is sent again, in a few words for the user; `undefined` if its
 * failure is final.
 */
export function retryReason(
  { failure: { operation, status = 0 }, cause }: ServiceError,
): string | undefined {
  if (isNotTaken(cause)) return "connection closed";
  if (isRefused(cause)) return "connection refused";
  return STATUSES[operation][status];
}

/** The pauses before the retries of a `POST` that failed, in milliseconds. */
export function postPauses(
  { cause }: ServiceError,
  { retry, reopen }: Timeouts,
): readonly number[] {
  return isNotTaken(cause) ? reopen : retry;
}

/**
 * Refuses to wait for a service that asks for a longer pause than the limit, in
 * milliseconds.
 *
 * @throws {ServiceError} The error, which then says when to ask again.
 */
export function refuseLongPause(error: ServiceError, limit: number): void {
  const { fate, retryAfter = 0 } = error.failure;
  if (fate !== "not run" || retryAfter <= limit) return;
  const minutes = Math.ceil(retryAfter / 60_000);
  const time = minutes > 1440 ? "more than a day" : `${minutes} min`;
  const advice = `ask again in ${time}`;
  throw new ServiceError({ ...error.failure, advice }, error);
}

/**
 * A pause, changed by up to a quarter, so that many clients do not retry at once;
 * longer if the service asks for it, up to the limit. In milliseconds.
 */
export function pauseBefore(
  milliseconds: number,
  { failure: { retryAfter = 0 } }: ServiceError,
  limit: number,
): number {
  return Math.max(
    milliseconds * (0.75 + Math.random() / 2),
    Math.min(retryAfter, limit),
  );
}

/**
 * The milliseconds that `Retry-After` asks for, in seconds or as a date (RFC 9110,
 * 10.2.3), which counts from the answer's own `Date`: the local clock may be wrong.
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = parseDate(text);
  const now = parseDate(headers.get("date") ?? "") ?? Date.now();
  return until === undefined ? undefined : Math.max(0, until - now);
}

function parseDate(text: string): number | undefined {
  // `Date.parse` alone would accept "-1" and "1.5" as dates.
  const time = text.endsWith(" GMT") ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The most requests that resume the stream of a run. */
const MAX_RETRIES = 1_000;

/** One connection of a stream. Times are on the clock of `performance.now()`. */
export interface Connection {
  /** When its headers arrived; `undefined` if none did. */
  openedAt: number | undefined;
  lastByteAt: number | undefined;
  /** Whether it brought a new event. */
  isFruitful: boolean;
}

/**
 * Decides how long a lost stream is requested again.
 *
 * It is given up when 2 minutes have passed without an answer, or 10 minutes
 * without a new event. A connection that ends within 5 s counts as a failure,
 * whatever it brought. Otherwise, a service that gives every event a new id and
 * fails after its first event would be asked for ever. It is given up 2 minutes
 * after the first such connection in a row has ended.
 */
export class StreamRetries {
  readonly #timeouts: Timeouts;
  /**
   * The retries since the last steady connection that brought a new event. They
   * select the pause.
   */
  #retries = 0;
  #allRetries = 0;
  #newestAt = performance.now();
  #failingSince = performance.now();
  /** Whether the last connection that was answered ended within 5 s. */
  #isUnsteady = false;

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts;
  }

  /** Whether the time limit without a new event has passed. */
  get isOver(): boolean {
    return performance.now() - this.#newestAt >= this.#timeouts.resume;
  }

  /** Records that a new event came. */
  renew(): void {
    this.#newestAt = performance.now();
  }

  /**
   * Records the end of a connection.
   *
   * @returns The milliseconds until the next request, or `undefined` to give up.
   */
  ended({ openedAt, isFruitful }: Connection): number | undefined {
    const { outage, reconnect, steady } = this.#timeouts;
    const now = performance.now();
    const isSteady = openedAt !== undefined && now - openedAt >= steady;
    if (isSteady || openedAt !== undefined && !this.#isUnsteady) {
      this.#failingSince = now;
      this.#isUnsteady = !isSteady;
    }
    if (isSteady && isFruitful) this.#retries = 0;
    if (now - this.#failingSince >= outage) return undefined;
    // However much time has passed, there is one retry: after a silence, or when a
    // process that was stopped for long finds its connection lost.
    if (this.isOver && this.#retries > 0) return undefined;
    if (this.#allRetries++ >= MAX_RETRIES) return undefined;
    return reconnect[Math.min(this.#retries++, reconnect.length - 1)];
  }
}
