/**
 * Tells the people who run a service what the stream of a run is like for their
 * users.
 *
 * @module
 */

import type { Resumption, StreamInspection } from "../gateway.ts";
import { frontSetting } from "./fronts.ts";
import type { Line } from "./report.ts";

/** Events that arrive within this time count as one lump, in milliseconds. */
const TOGETHER = 100;

/** A shorter run does not show whether its events were held back, in milliseconds. */
const LONG_ENOUGH = 2_000;

/** After a silence of this length, a proxy may close the connection, in milliseconds. */
const LONG_SILENCE = 15_000;

const ADD_IDS =
  "give each event an id: line, and send what comes after Last-Event-ID to a request that has one";

/** The lines about the stream of a run, in the order in which they are told. */
export function streamFindings(run: StreamInspection): readonly Line[] {
  return [
    contentType(run),
    events(run),
    liveness(run),
    ids(run),
    ...resumption(run),
    silence(run),
    ending(run),
    reply(run),
  ];
}

function contentType({ contentType, openedAt }: StreamInspection): Line {
  if (/^\s*text\/event-stream\s*(;|$)/i.test(contentType)) {
    return line("ok", "stream", "text/event-stream", openedAt);
  }
  const type = contentType === "" ? "without a type" : contentType;
  const text =
    `${type}; answer with Content-Type: text/event-stream, by which fronts know not to hold it back`;
  return line("note", "stream", text, openedAt);
}

function events({ events, splitEvents }: StreamInspection): Line {
  const name = "events";
  const counted = (...kinds: readonly string[]) =>
    events.filter(({ kind }) => kinds.includes(kind)).length;
  const [known, unknown] = [counted("step", "reply"), counted("unknown")];
  const replies = counted("reply");
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) {
    return line("failed", name, "none came");
  }
  if (known + unknown === 0) {
    return line("failed", name, "no progress and no reply came", last.at);
  }
  if (known === 0) {
    const text = `${
      count(unknown, "event")
    } came, and none that is known; send lines data: {"event":"progress",...} and one data: {"event":"complete",...}`;
    return line("failed", name, text, last.at);
  }
  const texts = [
    `${known} known, ${unknown} unknown, the first after ${
      seconds(first.at)
    }, the last after ${seconds(last.at)}`,
  ];
  if (replies > 1) {
    texts.push(`"complete" came ${replies} times: only the first one counts`);
  }
  if (splitEvents > 0) {
    texts.push(
      `the data of ${
        count(splitEvents, "event")
      } is on several lines: put each JSON object on one line`,
    );
  }
  const state = texts.length === 1 ? "ok" : "note";
  return line(state, name, texts.join("; "), last.at);
}

/** Whether all events came at once, so late that something must have held them. */
function isHeldBack({ events }: StreamInspection): boolean {
  const [first] = events;
  const last = events.at(-1);
  return events.length > 1 && first !== undefined && last !== undefined &&
    last.at - first.at <= TOGETHER && first.at > LONG_ENOUGH;
}

function liveness(run: StreamInspection): Line {
  const { events, server } = run;
  const name = "live";
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined || events.length < 2) {
    return line("-", name, "fewer than two events tell nothing");
  }
  if (last.at - first.at > TOGETHER) {
    return line("ok", name, "events came as they happened");
  }
  if (!isHeldBack(run)) {
    const text = `a run of ${
      seconds(last.at)
    } is too short to tell whether events are held back; ask for one that takes longer than ${
      LONG_ENOUGH / 1000
    } s`;
    return line("-", name, text);
  }
  const text =
    `all events came together: something holds them back; answer with X-Accel-Buffering: no, or set ${
      frontSetting("held back", server)
    }`;
  return line("note", name, text, first.at);
}

function ids(run: StreamInspection): Line {
  const name = "ids";
  const events = run.events.filter(({ kind }) => kind !== "failure");
  const found = events.flatMap(({ id }) => id === undefined ? [] : [id]);
  if (events.length === 0) return line("-", name, "no event came");
  if (found.length === 0) {
    const text =
      `no event has one, so a lost stream is a lost reply; ${ADD_IDS}`;
    return line("note", name, text);
  }
  if (new Set(found).size < found.length) {
    const text =
      "some repeat, so events that follow one of them can be skipped after a loss; give each event an id of its own";
    return line("note", name, text);
  }
  const without = events.length - found.length;
  return without > 0
    ? line("note", name, `${count(without, "event")} without one; ${ADD_IDS}`)
    : line("ok", name, "each event has its own");
}

function resumption(run: StreamInspection): readonly Line[] {
  const { resumption } = run;
  if (resumption === undefined) return [];
  if (resumption.kind === "silent" && isHeldBack(run)) {
    return [line("-", "resume", "unknown, because events are held back")];
  }
  const isGood = (resumption.kind === "resumed" ||
    resumption.kind === "repeated") && !resumption.hasNewIds;
  return [
    line(
      isGood ? "ok" : "note",
      "resume",
      `a request with Last-Event-ID ${resumed(resumption)}`,
    ),
  ];
}

function resumed(resumption: Resumption): string {
  switch (resumption.kind) {
    case "resumed":
      return resumption.hasNewIds
        ? "goes on after that event, but with other ids than the first connection; keep the ids of events"
        : "goes on after that event";
    case "repeated":
      return resumption.hasNewIds
        ? "gets all events again under new ids, so users see them twice; keep the ids of events, and send what comes after that one"
        : "gets all events again, which are known by their ids";
    case "gap":
      return `misses ${
        count(resumption.missed, "event")
      } after that one; keep the events of a run, and send them again`;
    case "silent":
      return "got no event before the run was over; send what comes after that one";
    case "failed":
      return `failed: ${resumption.reason}`;
  }
}

function silence(
  { comments, silence, endedAt, server }: StreamInspection,
): Line {
  const name = "silence";
  if (comments > 0) {
    return line("ok", name, `bridged by ${count(comments, "comment")}`);
  }
  if (silence < LONG_SILENCE) {
    const what = endedAt < LONG_SILENCE ? "a run" : "a run without a silence";
    const text = `${what} of ${LONG_SILENCE / 1000} s or more would tell`;
    return line("-", name, text);
  }
  const text = `nothing came for ${
    seconds(silence)
  }, and fronts end silent streams; send a comment (a line that begins with a colon) every 15 s, or set ${
    frontSetting("cut", server)
  }`;
  return line("note", name, text, silence);
}

function ending(
  { failure, loss, reply, lastSilence, endedAt, server }: StreamInspection,
): Line {
  const name = "end";
  if (reply !== undefined) {
    return line("ok", name, "the run is complete", endedAt);
  }
  if (failure !== undefined) {
    const words = failure === "" ? "" : `: ${failure}`;
    return line("failed", name, `the run failed${words}`, endedAt);
  }
  const how = loss ?? "the stream ended";
  const cut = lastSilence < LONG_ENOUGH
    ? ""
    : `, after ${
      seconds(lastSilence)
    } without a byte: it may be the time-out of a front; send a comment every 15 s, or set ${
      frontSetting("cut", server)
    }`;
  const text = `${how} before the run was complete${cut}`;
  return line("failed", name, text, endedAt);
}

function reply({ reply, messages }: StreamInspection): Line {
  const name = "reply";
  if (reply === undefined) return line("-", name, "the run was not complete");
  const { source } = reply;
  switch (source.kind) {
    case "explanation":
      return line("ok", name, "in instructorState.explanation");
    case "message": {
      const whose = source.isAssistant ? "an assistant's" : "nobody's";
      const text =
        `in messages[${source.index}] of ${messages}, which is ${whose}`;
      return line("ok", name, text);
    }
    case "notice": {
      const text =
        `none was found, so users read "${reply.text}"; put it into instructorState.explanation`;
      return line("note", name, text);
    }
  }
}

function line(
  state: Line["state"],
  name: string,
  text: string,
  milliseconds?: number,
): Line {
  return { state, name, text, milliseconds };
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
