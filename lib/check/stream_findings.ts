/**
 * Tells the people who run a service what the stream of a run is like for their
 * users.
 *
 * @module
 */

import type { Proxy, Settings } from "../settings.ts";
import { shownText } from "../text.ts";
import { liveness } from "./held_back.ts";
import type { Finding, Line, LineName } from "./report.ts";
import { resumption } from "./resumption.ts";
import {
  hasFailed,
  outcomeOf,
  type ProbedRun,
  type Request,
} from "./run_requests.ts";
import type { StreamObservation } from "./stream_observation.ts";

/** After a silence of this length, a proxy may close the connection, in milliseconds. */
const LONG_SILENCE = 15_000;

/** The longest text of the service in a line, in UTF-16 code units. */
const MAX_LENGTH = 100;

/** What is known of the service besides its stream. */
export interface Surroundings extends Pick<Settings, "apiKey" | "isLocal"> {
  readonly proxy: Pick<Proxy, "origin"> | undefined;
}

/** The lines about the stream of a run, in the order of the report. */
export function streamFindings(
  run: ProbedRun,
  surroundings: Surroundings,
): readonly Line[] {
  const { observation } = run;
  const findings: Readonly<Partial<Record<LineName, Finding>>> = {
    "stream": contentType(observation, surroundings),
    "events": events(run),
    "live": liveness(observation, surroundings),
    "ids": ids(observation),
    "resume": resumption(run),
    "silence": silence(observation),
    "lines": junk(observation, surroundings),
    "end": ending(run),
    "reply": reply(observation),
    "unknown run": refusal(run.unknownRun, [404, 410]) ??
      ["note", "a stream is opened; answer 404, so that nobody waits for it"],
    "wrong key": refusal(run.wrongKey, [401, 403]) ??
      ["failed", "the stream is opened to strangers; answer 401"],
  };
  return Object.entries(findings).map(([name, [state, text, details]]) => ({
    ...{ state, name: name as LineName, text },
    ...details,
  }));
}

function contentType(
  { headers, openedAt: milliseconds }: StreamObservation,
  { apiKey }: Surroundings,
): Finding {
  const type = headers?.get("content-type") ?? "without a type";
  if (/^\s*text\/event-stream\s*(;|$)/i.test(type)) {
    return ["ok", "text/event-stream", { milliseconds }];
  }
  const shown = shownText(type, { apiKey, maxLength: MAX_LENGTH });
  const text = `${shown}; answer with Content-Type: text/event-stream`;
  return ["note", text, { milliseconds }];
}

function events({ observation, error }: ProbedRun): Finding {
  const { unknown, count, firstAt, lastAt } = observation;
  const known = count - unknown;
  const at = count > 0 ? lastAt : undefined;
  if (known > 0) {
    const [first, last] = [firstAt, lastAt].map(seconds);
    const text =
      `${known} known, ${unknown} unknown, the first after ${first}, the last after ${last}`;
    return ["ok", text, { at }];
  }
  if (hasFailed(error)) return ["-", "none before the run failed", { at }];
  const came = unknown === 0
    ? "none came"
    : `${number(unknown, "event")} came, and none that is known`;
  const advice =
    'send each as one line data: {"event":"progress",...}, and the reply as data: {"event":"complete",...}; a line event: does not replace "event" in the JSON';
  return ["failed", `${came}; ${advice}`, { at }];
}

function ids({ reply, remembered }: StreamObservation): Finding {
  const steps = reply === undefined ? remembered : remembered.slice(0, -1);
  if (steps.length === 0) return ["-", "no event came before the reply"];
  const used = steps.flatMap(({ id }) => id ?? []);
  if (used.length < steps.length) {
    const without = steps.length - used.length;
    const count = number(steps.length, "event");
    const text = `${without} of ${count} before the reply without one`;
    const advice = "send id: lines, and heed Last-Event-ID";
    return ["note", `${text}, so a lost stream is a lost reply; ${advice}`];
  }
  if (new Set(used).size === used.length) return ["ok", "all are different"];
  const text = "some repeat, so a lost stream may go on at the wrong event";
  return ["note", `${text}; give each event its own`];
}

/** The finding about a request that should be refused; `undefined` if it was not. */
function refusal(
  request: Request,
  statuses: readonly number[],
): Finding | undefined {
  const { observation, error } = request;
  const { status = 0 } = error?.failure ?? {};
  if (statuses.includes(status)) return ["ok", "a stream is refused"];
  return observation.headers !== undefined && !hasFailed(error)
    ? undefined
    : ["-", `a request for a stream ${outcomeOf(request)}`];
}

function silence({ comments, silence }: StreamObservation): Finding {
  const came = number(comments, "comment");
  if (comments > 0 && silence < 2 * LONG_SILENCE) {
    return ["ok", `bridged by ${came}`];
  }
  if (silence < LONG_SILENCE) {
    return ["-", "a run with a silence of 15 s or more would tell"];
  }
  const text = `nothing came for ${seconds(silence)}, with ${came} in all`;
  const advice = "send a comment (a line that begins with a colon) every 15 s";
  return ["note", `${text}; ${advice}`, { milliseconds: silence }];
}

function junk(
  { junk, junkSample }: StreamObservation,
  { apiKey }: Surroundings,
): Finding {
  if (junk === 0) return ["ok", "all are events, fields or comments"];
  const sample = shownText(junkSample, { apiKey, maxLength: MAX_LENGTH });
  const lines = number(junk, "line");
  return ["note", `${lines} without an event, ignored; the first: ${sample}`];
}

function ending({ observation, error }: ProbedRun): Finding {
  const { endedAt: at, reply } = observation;
  if (reply !== undefined) return ["ok", "the run is complete", { at }];
  const failure = error?.failure;
  const { reason = "the run was not complete", detail } = failure ?? {};
  return ["failed", detail ? `${reason}: ${detail}` : reason, { at, failure }];
}

function reply({ reply }: StreamObservation): Finding {
  if (reply === undefined) return ["-", "the run was not complete"];
  const { text, source } = reply;
  const advice =
    `so users read "${text}"; put the reply into instructorState.explanation`;
  switch (source.kind) {
    case "explanation":
      return ["ok", "in instructorState.explanation"];
    case "message": {
      const { index, count, isAssistant } = source;
      const whose = isAssistant ? "an assistant's" : "nobody's";
      return ["ok", `in messages[${index}] of ${count}, which is ${whose}`];
    }
    case "nothing":
      return ["note", `none was found, ${advice}`];
    case "unread": {
      const messages = number(source.count, "message");
      return ["failed", `nothing of ${messages} can be read, ${advice}`];
    }
    default:
      return source satisfies never;
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
