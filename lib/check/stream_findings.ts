/**
 * Tells the people who run a service what the stream of a run is like for their
 * users.
 *
 * @module
 */

import { shownText } from "../text.ts";
import { frontSetting, isKnownFront } from "./fronts.ts";
import type { Line, State } from "./report.ts";
import type { ProbedRun, Request } from "./run_probe.ts";
import type {
  RememberedEvent,
  StreamObservation,
} from "./stream_observation.ts";

/** Events that arrive within this time count as one lump, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

/** After a silence of this length, a proxy may close the connection, in milliseconds. */
const LONG_SILENCE = 15_000;

/** The longest text of the service in a line, in UTF-16 code units. */
const MAX_LENGTH = 100;

const ADD_IDS =
  "give each event an id: line, and send what comes after Last-Event-ID to a request that has one";

/** What is known of the service besides its stream. */
export interface Surroundings {
  readonly apiKey: string;
  /** Whether the service is on this machine. */
  readonly isLocal: boolean;
  /** The user's own proxy, if there is one. */
  readonly proxy: string | undefined;
}

/** The lines about the stream of a run, in the order in which they are told. */
export function streamFindings(
  run: ProbedRun,
  surroundings: Surroundings,
): readonly Line[] {
  const { observation } = run;
  return [
    contentType(observation, surroundings),
    events(observation),
    liveness(observation, surroundings),
    ids(observation),
    resumption(run),
    silence(observation),
    junk(observation, surroundings),
    ending(run),
    reply(observation),
    unknownRun(run),
    wrongKey(run),
  ];
}

function contentType(
  { headers, openedAt }: StreamObservation,
  { apiKey }: Surroundings,
): Line {
  const name = "stream";
  const milliseconds = openedAt;
  const type = headers?.get("content-type") ?? "";
  if (/^\s*text\/event-stream\s*(;|$)/i.test(type)) {
    return { name, state: "ok", text: "text/event-stream", milliseconds };
  }
  const shown = shownText(type, { apiKey, maxLength: MAX_LENGTH });
  const text = `${
    shown === "" ? "without a type" : shown
  }; answer with Content-Type: text/event-stream, by which fronts know not to hold it back`;
  return { name, state: "note", text, milliseconds };
}

function events(
  { counts, count, firstAt, lastAt, splitEvents, fieldEvents }:
    StreamObservation,
): Line {
  const name = "events";
  const { known, unknown, failure } = counts;
  const advice = [
    ...splitEvents > 0
      ? [
        `the data of ${
          number(splitEvents, "event")
        } is on several lines: put each JSON object on one line`,
      ]
      : [],
    ...fieldEvents > 0
      ? [
        `${
          number(fieldEvents, "event")
        } named by the field event: alone: put "event" into the JSON object`,
      ]
      : [],
  ];
  if (known === 0) {
    const what = unknown > 0
      ? `${number(unknown, "event")} came, and none that is known`
      : failure > 0
      ? "no progress and no reply came"
      : "none came";
    const form =
      'send lines data: {"event":"progress",...} and one data: {"event":"complete",...}';
    const hints = advice.length > 0 ? advice : unknown > 0 ? [form] : [];
    const text = [what, ...hints].join("; ");
    const at = count + failure > 0 ? lastAt : undefined;
    return { name, state: "failed", text, at };
  }
  const what = `${known} known, ${unknown} unknown, the first after ${
    seconds(firstAt)
  }, the last after ${seconds(lastAt)}`;
  const state = advice.length === 0 ? "ok" : "note";
  return { name, state, text: [what, ...advice].join("; "), at: lastAt };
}

/** Whether all events came at once, so late that something must have held them. */
function isHeldBack({ count, firstAt, lastAt }: StreamObservation): boolean {
  return count > 1 && lastAt - firstAt <= TOGETHER && firstAt > LONG_ENOUGH;
}

function liveness(
  observation: StreamObservation,
  { isLocal, proxy }: Surroundings,
): Line {
  const { count, firstAt, lastAt, headers } = observation;
  const name = "live";
  const unclear = (text: string): Line => ({ name, state: "-", text });
  if (count < 2) return unclear("fewer than two events tell nothing");
  if (lastAt - firstAt > TOGETHER) {
    return { name, state: "ok", text: "events came as they happened" };
  }
  if (!isHeldBack(observation)) {
    return unclear(
      `a run of ${
        seconds(lastAt)
      } is too short to tell whether events are held back; ask for one that takes longer than ${
        LONG_ENOUGH / 1000
      } s`,
    );
  }
  const server = serverOf(headers);
  const isUnbuffered =
    headers?.get("x-accel-buffering")?.trim().toLowerCase() === "no";
  const causes = ["the service, if it does not flush after each event"];
  if (isKnownFront(server) || !isLocal && !isUnbuffered) {
    const accel = isUnbuffered ? "" : "answer with X-Accel-Buffering: no, or ";
    causes.push(
      `a front (${accel}set ${frontSetting("held back", server)})`,
    );
  }
  if (proxy !== undefined) causes.push(`your own proxy ${proxy}`);
  const text =
    `all events came together, so something holds them back, the likeliest first: ${
      causes.join("; ")
    }`;
  return { name, state: "note", text, at: firstAt };
}

function ids({ count, withId, hasRepeatedIds }: StreamObservation): Line {
  const name = "ids";
  if (count === 0) return { name, state: "-", text: "no event came" };
  const text = withId === 0
    ? `no event has one, so a lost stream is a lost reply; ${ADD_IDS}`
    : hasRepeatedIds
    ? "some repeat, so a lost stream may go on at the wrong event; give each event an id of its own"
    : withId < count
    ? `${number(count - withId, "event")} without one; ${ADD_IDS}`
    : undefined;
  return text === undefined
    ? { name, state: "ok", text: "each event has its own" }
    : { name, state: "note", text };
}

function resumption(run: ProbedRun): Line {
  const { observation, error, resumed, resumedAtEnd } = run;
  const name = "resume";
  if (resumed === undefined || resumedAtEnd === undefined) {
    return { name, state: "-", text: "no event has an id" };
  }
  if (error?.failure.fate === "failed") {
    return { name, state: "-", text: "the run failed" };
  }
  if (observation.reply !== undefined && !hasReply(resumedAtEnd)) {
    const text =
      `a connection that is lost just before the reply loses it: a request with Last-Event-ID after the end ${
        outcomeOf(resumedAtEnd)
      }, and not "complete"; keep the events of a run for some minutes after its end, and send them again`;
    return { name, state: "note", text };
  }
  if (resumed.observation.count === 0 && isHeldBack(observation)) {
    return { name, state: "-", text: "unknown, because events are held back" };
  }
  const { state, text } = compare(observation, resumed);
  return { name, state, text: `a request with Last-Event-ID ${text}` };
}

/** Compares what a connection that resumes the stream brought with the whole run. */
function compare(
  { remembered, cursorAt }: StreamObservation,
  request: Request,
): { readonly state: State; readonly text: string } {
  const [first] = request.observation.remembered;
  if (first === undefined) {
    const text = `${
      outcomeOf(request)
    } before the run was over; send what comes after that one`;
    return { state: "note", text };
  }
  const isSame = ({ id, data }: RememberedEvent) =>
    id === first.id && data === first.data;
  const known = remembered.findIndex(isSame);
  const hasData = ({ data }: RememberedEvent) => data === first.data;
  const later = remembered.slice(cursorAt).findIndex(hasData);
  if (known >= 0 && known < cursorAt) {
    return {
      state: "ok",
      text: "gets all events again, which are known by their ids",
    };
  }
  if (known < 0 && remembered.slice(0, cursorAt).some(hasData)) {
    return {
      state: "note",
      text:
        "gets events again under new ids, so users see them twice; keep the ids of events, and send what comes after that one",
    };
  }
  const missed = known >= 0 ? known - cursorAt : Math.max(later, 0);
  if (missed > 0) {
    return {
      state: "note",
      text: `misses ${
        number(missed, "event")
      } after that one; keep the events of a run, and send them again`,
    };
  }
  return known >= 0 ? { state: "ok", text: "goes on after that event" } : {
    state: "note",
    text:
      "goes on after that event, but with other ids than the first connection; keep the ids of events",
  };
}

/** What a request got, if not the events that it should have got. */
function outcomeOf({ observation, error, isLate }: Request): string {
  if (error?.failure.status !== undefined) {
    return `was answered with ${error.failure.status}`;
  }
  if (isLate) return "got no answer in time";
  return observation.count > 0 ? "got other events" : "got no event";
}

function hasReply({ observation }: Request): boolean {
  return observation.reply !== undefined;
}

function silence(
  { comments, silence, headers }: StreamObservation,
): Line {
  const name = "silence";
  if (comments > 0) {
    const text = `bridged by ${number(comments, "comment")}`;
    return { name, state: "ok", text };
  }
  if (silence < LONG_SILENCE) {
    const text = `a run with a silence of ${
      LONG_SILENCE / 1000
    } s or more would tell`;
    return { name, state: "-", text };
  }
  const text = `nothing came for ${
    seconds(silence)
  }, and fronts end silent streams; send a comment (a line that begins with a colon) every 15 s, or set ${
    frontSetting("cut", serverOf(headers))
  }`;
  return { name, state: "note", text, milliseconds: silence };
}

function junk(
  { junk, junkSample }: StreamObservation,
  { apiKey }: Surroundings,
): Line {
  const name = "lines";
  if (junk === 0) {
    return { name, state: "ok", text: "all are events, fields or comments" };
  }
  const options = { apiKey, isCut: true, maxLength: MAX_LENGTH };
  const text = `${number(junk, "line")} ${
    junk === 1 ? "is" : "are"
  } no event, and ignored; the first: ${shownText(junkSample, options)}`;
  return { name, state: "note", text };
}

function ending({ observation, error }: ProbedRun): Line {
  const { endedAt: at, lastSilence, headers, reply } = observation;
  const name = "end";
  if (reply !== undefined) {
    return { name, state: "ok", text: "the run is complete", at };
  }
  const failure = error?.failure;
  if (failure?.fate === "failed") {
    const words = failure.detail ? `: ${failure.detail}` : "";
    const text = `the run failed${words}`;
    return { name, state: "failed", text, at, failure };
  }
  const cut = lastSilence < LONG_ENOUGH
    ? ""
    : `; after ${
      seconds(lastSilence)
    } without a byte, it may be the time-out of a front: send a comment every 15 s, or set ${
      frontSetting("cut", serverOf(headers))
    }`;
  const text = `${failure?.reason ?? "the run was not complete"}${cut}`;
  return { name, state: "failed", text, at, failure };
}

function reply({ reply }: StreamObservation): Line {
  const name = "reply";
  if (reply === undefined) {
    return { name, state: "-", text: "the run was not complete" };
  }
  const { source } = reply;
  switch (source.kind) {
    case "explanation":
      return { name, state: "ok", text: "in instructorState.explanation" };
    case "message": {
      const whose = source.isAssistant ? "an assistant's" : "nobody's";
      const text =
        `in messages[${source.index}] of ${source.count}, which is ${whose}`;
      return { name, state: "ok", text };
    }
    case "nothing":
    case "unread": {
      const isUnread = source.kind === "unread";
      const what = isUnread
        ? `nothing of ${number(source.count, "message")} can be read`
        : "none was found";
      const text =
        `${what}, so users read "${reply.text}"; put the reply into instructorState.explanation`;
      return { name, state: isUnread ? "failed" : "note", text };
    }
    default:
      return source satisfies never;
  }
}

function unknownRun({ unknownRun }: ProbedRun): Line {
  const name = "unknown run";
  switch (refusalOf(unknownRun)) {
    case 404:
    case 410:
      return { name, state: "ok", text: "its stream is refused" };
    case "accepted": {
      const text =
        "a stream of a run that does not exist is opened; answer 404, so that nobody waits for it";
      return { name, state: "note", text };
    }
    default:
      return { name, state: "-", text: `its stream ${outcomeOf(unknownRun)}` };
  }
}

function wrongKey({ wrongKey }: ProbedRun): Line {
  const name = "wrong key";
  switch (refusalOf(wrongKey)) {
    case 401:
    case 403:
      return { name, state: "ok", text: "it is rejected" };
    case "accepted": {
      const text =
        "the stream of the run is opened with a wrong key: strangers can read it; answer 401";
      return { name, state: "failed", text };
    }
    default:
      return { name, state: "-", text: `it ${outcomeOf(wrongKey)}` };
  }
}

/** The status by which a request was refused, if it was. */
function refusalOf(
  { observation, error }: Request,
): number | "accepted" | undefined {
  return observation.headers === undefined ? error?.failure.status : "accepted";
}

/** The server that answered, as its headers tell; empty if they do not. */
function serverOf(headers: Headers | undefined): string {
  return `${headers?.get("server") ?? ""} ${headers?.get("via") ?? ""}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
