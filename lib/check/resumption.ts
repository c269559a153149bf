/**
 * Whether a stream that is lost can be resumed.
 *
 * @module
 */

import { isHeldBack } from "./held_back.ts";
import type { Finding } from "./report.ts";
import {
  hasFailed,
  outcomeOf,
  type ProbedRun,
  type Request,
} from "./run_requests.ts";
import type { StreamObservation } from "./stream_observation.ts";

const RESUMING = "a request with Last-Event-ID";

/** The finding about the requests that resumed the stream. */
export function resumption(run: ProbedRun): Finding {
  const { observation, error, resumed, resumedAtEnd } = run;
  if (resumed === undefined || resumedAtEnd === undefined) {
    return ["-", "no event before the reply has an id"];
  }
  if (hasFailed(error)) return ["-", "the run failed"];
  const isUnanswered = ({ observation, error }: Request) =>
    observation.count === 0 && error?.failure.status === undefined;
  if (isHeldBack(observation) && [resumed, resumedAtEnd].some(isUnanswered)) {
    return ["-", "unknown, because events are held back"];
  }
  if (observation.reply && !resumedAtEnd.observation.reply) {
    const outcome = outcomeOf(resumedAtEnd);
    const text = `${RESUMING} after the end ${outcome}, and not the reply`;
    return ["note", `${text}; keep the events of a run for some minutes`];
  }
  if (resumed.observation.count > 0) {
    return compare(observation, resumed.observation);
  }
  const text = `${RESUMING} ${outcomeOf(resumed)} while the run went on`;
  return ["note", `${text}; send what comes after that event`];
}

/** Compares what a connection that resumes the stream brought with the whole run. */
function compare(
  { remembered, cursorAt = 0 }: StreamObservation,
  { remembered: [first] }: StreamObservation,
): Finding {
  const known = remembered.findIndex(({ id, data }) =>
    id === first?.id && data === first?.data
  );
  const index = known >= 0
    ? known
    : remembered.findIndex(({ data }) => data === first?.data);
  // If the stream broke off or is too long, what comes after that event is unknown.
  if (index > cursorAt || index < 0 && cursorAt < remembered.length) {
    const text = `${RESUMING} misses events that come after that one`;
    return ["note", `${text}; send all events to each connection`];
  }
  if (index >= 0 && known < 0) {
    const text = `${RESUMING} gets other ids, so events may come twice`;
    return ["note", `${text}; number the events of a run, not a connection's`];
  }
  return ["ok", `${RESUMING} gets what comes after that event`];
}
