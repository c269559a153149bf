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
import type { StreamObservation } from "./stream_observation.ts";

/** Events that arrive within this time count as one lump, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

/** After a silence of this length, a proxy may close the connection, in milliseconds. */
const LONG_SILENCE = 15_000;

/** The longest text of the service in a line, in UTF-16 code units. */
const MAX_LENGTH = 100;

/** What is known of the service besides its stream. */
export interface Surroundings {
  readonly apiKey: string;
  /** Whether the service is on this machine. */
  readonly isLocal: boolean;
  /** The user's own proxy, if there is one. */
  readonly proxy: string | undefined;
}

/** A line without its name. */
type Told = Omit<Line, "name">;
type Details = Omit<Told, "state" | "text">;

const teller = (state: State) => (text: string, details?: Details): Told => ({
  ...{ state, text },
  ...details,
});
const ok = teller("ok");
const note = teller("note");
const failed = teller("failed");
const unclear = teller("-");

/** The lines about the stream of a run, in the order in which they are told. */
export function streamFindings(
  run: ProbedRun,
  surroundings: Surroundings,
): readonly Line[] {
  const { observation } = run;
  return [
    { name: "stream", ...contentType(observation, surroundings) },
    { name: "events", ...events(observation) },
    { name: "live", ...liveness(observation, surroundings) },
    { name: "ids", ...ids(observation) },
    { name: "resume", ...resumption(run) },
    { name: "silence", ...silence(observation) },
    { name: "lines", ...junk(observation, surroundings) },
    { name: "end", ...ending(run) },
    { name: "reply", ...reply(observation) },
    { name: "unknown run", ...unknownRun(run) },
    { name: "wrong key", ...wrongKey(run) },
  ];
}

function contentType(
  { headers, openedAt: milliseconds }: StreamObservation,
  { apiKey }: Surroundings,
): Told {
  const type = headers?.get("content-type") ?? "";
  if (/^\s*text\/event-stream\s*(;|$)/i.test(type)) {
    return ok("text/event-stream", { milliseconds });
  }
  const shown = shownText(type, { apiKey, maxLength: MAX_LENGTH });
  return note(
    `${shown === "" ? "without a type" : shown}; ` +
      "answer with Content-Type: text/event-stream, by which fronts know not to hold it back",
    { milliseconds },
  );
}

function events(observation: StreamObservation): Told {
  const { counts, count, firstAt, lastAt, splitEvents, fieldEvents } =
    observation;
  const { known, unknown, failure } = counts;
  const advice: string[] = [];
  if (splitEvents > 0) {
    const what = number(splitEvents, "event");
    advice.push(
      `the data of ${what} is on several lines: put each JSON object on one line`,
    );
  }
  if (fieldEvents > 0) {
    const what = number(fieldEvents, "event");
    advice.push(
      `${what} named by the field event: alone: put "event" into the JSON object`,
    );
  }
  if (known > 0) {
    const times = [firstAt, lastAt].map(seconds);
    const text = `${known} known, ${unknown} unknown, the first after ${
      times.join(", the last after ")
    }`;
    const tell = advice.length === 0 ? ok : note;
    return tell([text, ...advice].join("; "), { at: lastAt });
  }
  if (advice.length === 0 && unknown > 0) {
    advice.push(
      'send lines data: {"event":"progress",...} and one data: {"event":"complete",...}',
    );
  }
  const what = unknown > 0
    ? `${number(unknown, "event")} came, and none that is known`
    : failure > 0
    ? "no progress and no reply came"
    : "none came";
  const at = count + failure > 0 ? lastAt : undefined;
  return failed([what, ...advice].join("; "), { at });
}

/** Whether all events came at once, so late that something must have held them. */
function isHeldBack({ count, firstAt, lastAt }: StreamObservation): boolean {
  return count > 1 && lastAt - firstAt <= TOGETHER && firstAt > LONG_ENOUGH;
}

function liveness(
  observation: StreamObservation,
  { isLocal, proxy }: Surroundings,
): Told {
  const { count, firstAt, lastAt, headers } = observation;
  const at = count > 0 ? firstAt : undefined;
  if (count < 2) return unclear("fewer than two events tell nothing", { at });
  if (lastAt - firstAt > TOGETHER) {
    return ok("events came as they happened", { at });
  }
  if (!isHeldBack(observation)) {
    const text = `a run of ${seconds(lastAt)} is too short to tell whether ` +
      "events are held back; ask for one that takes longer than 2 s";
    return unclear(text, { at });
  }
  const server = serverOf(headers);
  const isUnbuffered =
    headers?.get("x-accel-buffering")?.toLowerCase() === "no";
  const causes = ["the service, if it does not flush after each event"];
  if (isKnownFront(server) || !isLocal && !isUnbuffered) {
    const accel = isUnbuffered ? "" : "answer with X-Accel-Buffering: no, or ";
    causes.push(`a front (${accel}set ${frontSetting("held back", server)})`);
  }
  if (proxy !== undefined) causes.push(`your own proxy ${proxy}`);
  const text =
    "all events came together, so something holds them back, the likeliest first: ";
  return note(text + causes.join("; "), { at });
}

const ADD_IDS =
  "give each event an id: line, and send what comes after Last-Event-ID to a request that has one";

function ids(
  { count, steps, stepsWithId, hasRepeatedIds }: StreamObservation,
): Told {
  if (count === 0) return unclear("no event came");
  if (steps === 0) return unclear("none came before the reply");
  if (stepsWithId === 0) {
    return note(
      `no event has one, so a lost stream is a lost reply; ${ADD_IDS}`,
    );
  }
  if (hasRepeatedIds) {
    return note(
      "some repeat, so a lost stream may go on at the wrong event; give each event an id of its own",
    );
  }
  if (stepsWithId < steps) {
    return note(
      `${number(steps - stepsWithId, "event")} without one; ${ADD_IDS}`,
    );
  }
  return ok("each event has its own");
}

function resumption(run: ProbedRun): Told {
  const { observation, error, resumed, resumedAtEnd } = run;
  if (resumed === undefined || resumedAtEnd === undefined) {
    return unclear("no event before the reply has an id");
  }
  if (error?.failure.fate === "failed") return unclear("the run failed");
  const isUnanswered = ({ observation, error }: Request) =>
    observation.count === 0 && error?.failure.status === undefined;
  if (isHeldBack(observation) && [resumed, resumedAtEnd].some(isUnanswered)) {
    return unclear("unknown, because events are held back");
  }
  const hasReply = resumedAtEnd.observation.reply !== undefined;
  if (observation.reply !== undefined && !hasReply) {
    return note(
      "a connection that is lost just before the reply loses it: a request with Last-Event-ID after the end " +
        `${outcomeOf(resumedAtEnd)}, and not "complete"; ` +
        "keep the events of a run for some minutes after its end, and send them again",
    );
  }
  const { state, text } = compare(observation, resumed);
  return { state, text: `a request with Last-Event-ID ${text}` };
}

/** Compares what a connection that resumes the stream brought with the whole run. */
function compare(
  { remembered, cursorAt = 0, count, reply }: StreamObservation,
  request: Request,
): Told {
  const [first] = request.observation.remembered;
  if (first === undefined) {
    return note(
      `${
        outcomeOf(request)
      } before the run was over; send what comes after that one`,
    );
  }
  const known = remembered.findIndex(({ id, data }) =>
    id === first.id && data === first.data
  );
  const index = known >= 0
    ? known
    : remembered.findIndex(({ data }) => data === first.data);
  // A stream that was cut, or is too long to be remembered, proves nothing.
  const isWhole = reply !== undefined && count === remembered.length;
  if (index < 0 && isWhole) {
    return note(
      "gets events that the first connection does not get; a second GET must neither start the run again nor take events from the first",
    );
  }
  if (index > cursorAt) {
    return note(
      `misses ${
        number(index - cursorAt, "event")
      } after that one; keep the events of a run, and send them again`,
    );
  }
  const isAgain = index >= 0 && index < cursorAt;
  if (isAgain && known < 0) {
    return note(
      "gets events again under new ids, so users see them twice; keep the ids of events, and send what comes after that one",
    );
  }
  if (index === cursorAt && known < 0) {
    return note(
      "goes on after that event, but with other ids than the first connection; keep the ids of events",
    );
  }
  return ok(
    isAgain
      ? "gets all events again, which are known by their ids"
      : "goes on after that event",
  );
}

/** What a request got, if not the events that it should have got. */
function outcomeOf({ observation, error, isLate }: Request): string {
  if (error?.failure.status !== undefined) {
    return `was answered with ${error.failure.status}`;
  }
  if (error?.failure.fate === "failed") return "was told that the run failed";
  if (observation.count > 0) return "got other events";
  return isLate ? "got no answer in time" : "got no event";
}

function silence({ comments, silence, headers }: StreamObservation): Told {
  const came = number(comments, "comment");
  if (comments > 0 && silence < 2 * LONG_SILENCE) {
    return ok(`bridged by ${came}`);
  }
  if (silence < LONG_SILENCE) {
    return unclear("a run with a silence of 15 s or more would tell");
  }
  const beside = comments > 0 ? `, with ${came} in all` : "";
  return note(
    `nothing came for ${
      seconds(silence)
    }${beside}, and fronts end silent streams; ` +
      `send a comment (a line that begins with a colon) every 15 s, or set ${
        frontSetting("cut", serverOf(headers))
      }`,
    { milliseconds: silence },
  );
}

function junk(
  { junk, junkSample }: StreamObservation,
  { apiKey }: Surroundings,
): Told {
  if (junk === 0) return ok("all are events, fields or comments");
  const sample = shownText(junkSample, { apiKey, maxLength: MAX_LENGTH });
  const are = junk === 1 ? "is" : "are";
  return note(
    `${
      number(junk, "line")
    } ${are} no event, and ignored; the first: ${sample}`,
  );
}

function ending({ observation, error }: ProbedRun): Told {
  const { endedAt: at, lastSilence, headers, reply } = observation;
  if (reply !== undefined) return ok("the run is complete", { at });
  const failure = error?.failure;
  if (failure?.fate === "failed") {
    const words = failure.detail ? `: ${failure.detail}` : "";
    return failed(`the run failed${words}`, { at, failure });
  }
  const reason = failure?.reason ?? "the run was not complete";
  const cut = lastSilence < LONG_ENOUGH
    ? ""
    : `; after ${
      seconds(lastSilence)
    } without a byte, it may be the time-out of a front: ` +
      `send a comment every 15 s, or set ${
        frontSetting("cut", serverOf(headers))
      }`;
  return failed(reason + cut, { at, failure });
}

function reply({ reply }: StreamObservation): Told {
  if (reply === undefined) return unclear("the run was not complete");
  const { text, source } = reply;
  const advice =
    `so users read "${text}"; put the reply into instructorState.explanation`;
  switch (source.kind) {
    case "explanation":
      return ok("in instructorState.explanation");
    case "message": {
      const whose = source.isAssistant ? "an assistant's" : "nobody's";
      return ok(
        `in messages[${source.index}] of ${source.count}, which is ${whose}`,
      );
    }
    case "nothing":
      return note(`none was found, ${advice}`);
    case "unread": {
      const messages = number(source.count, "message");
      return failed(`nothing of ${messages} can be read, ${advice}`);
    }
    default:
      return source satisfies never;
  }
}

function unknownRun({ unknownRun }: ProbedRun): Told {
  switch (refusalOf(unknownRun)) {
    case 404:
    case 410:
      return ok("its stream is refused");
    case "accepted":
      return note(
        "a stream of a run that does not exist is opened; answer 404, so that nobody waits for it",
      );
    default:
      return unclear(`its stream ${outcomeOf(unknownRun)}`);
  }
}

function wrongKey({ wrongKey }: ProbedRun): Told {
  switch (refusalOf(wrongKey)) {
    case 401:
    case 403:
      return ok("it is rejected");
    case "accepted":
      return failed(
        "the stream of the run is opened with a wrong key: strangers can read it; answer 401",
      );
    default:
      return unclear(`it ${outcomeOf(wrongKey)}`);
  }
}

/** The status by which a request was refused, if it was. */
function refusalOf(
  { observation, error }: Request,
): number | "accepted" | undefined {
  const isOpen = observation.headers !== undefined &&
    error?.failure.fate !== "failed";
  return isOpen ? "accepted" : error?.failure.status;
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
