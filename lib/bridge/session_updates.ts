import type { ProgressEvent, TurnEvent } from "../gateway.ts";
import { wholeDuration } from "../text.ts";
import { NO_OFFERS, type Offers } from "./capabilities.ts";
import { formatMessage } from "./json_rpc.ts";

export interface Said {
  readonly by: "user" | "agent";
  readonly messageId: string;
  readonly text: string;
}

/**
 * The longest node or status that is sent, in UTF-16 code units: each is sent
 * twice, and the official client library takes no line of more than 32 MiB.
 */
const MAX_LABEL_LENGTH = 1_000_000;

/**
 * Returns a function that formats the updates about an event of a prompt: a line for
 * each progress event and for the reply. Editors that show notices get one for each
 * pause, and for a reply that could not be read.
 *
 * @param onReply Called with the reply, and a note about it, before its update is sent.
 */
export function updatesOf(
  sessionId: string,
  onReply: (reply: Said, note: string | undefined) => void,
  { showsNotices }: Pick<Offers, "showsNotices"> = NO_OFFERS,
): (event: TurnEvent) => string {
  const thought = progressLines(sessionId, crypto.randomUUID());
  const messageId = crypto.randomUUID();
  return (event) => {
    switch (event.type) {
      case "progress":
        return thought(event);
      case "reply": {
        const reply: Said = { by: "agent", messageId, text: event.text };
        onReply(reply, event.note);
        const notice = event.note !== undefined && showsNotices
          ? noticeLine(sessionId, "warning", event.note)
          : "";
        return notice + messageLine(sessionId, reply);
      }
      case "wait": {
        if (!showsNotices) return "";
        const state = event.reason.replace(" ", " is ");
        const time = wholeDuration(event.milliseconds);
        const title = `the ${state}; retry in ${time}`;
        return noticeLine(sessionId, "info", title);
      }
      case "run":
        return "";
      default:
        return event satisfies never;
    }
  };
}

/** The size of the texts that short lines are joined to, in UTF-16 code units. */
const JOINED_LENGTH = 16 * 1024;

/**
 * Formats the updates about events, each when it is requested. Short ones are joined
 * to one text of whole lines, because writing a line costs more than formatting it.
 */
export function* textsAbout(
  events: readonly TurnEvent[],
  update: (event: TurnEvent) => string,
): Generator<string> {
  let text = "";
  for (const event of events) {
    const line = update(event);
    if (text !== "" && text.length + line.length > JOINED_LENGTH) {
      yield text;
      text = "";
    }
    text += line;
  }
  if (text !== "") yield text;
}

function progressLines(sessionId: string, messageId: string) {
  const json = JSON.stringify;
  const start =
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${
      json(sessionId)
    },"update":{"sessionUpdate":"agent_thought_chunk","messageId":${
      json(messageId)
    },"content":{"type":"text","text":`;
  return (event: ProgressEvent) => start + progressJson(event);
}

const MAX_KEPT = 16;

/** The longest JSON that is kept, in UTF-16 code units. */
const MAX_KEPT_LENGTH = 1000;

/** The last events with their JSON: nodes and statuses repeat, from run to run, too. */
const keptJson: { node: string; status: string; json: string }[] = [];
let nextKept = 0; // the index of the one that is replaced next

/** The part of an event's line that is the same in all sessions. */
function progressJson({ node, status }: ProgressEvent): string {
  for (const kept of keptJson) {
    if (kept.status === status && kept.node === node) return kept.json;
  }
  // JSON.stringify() of the whole line takes four times as long.
  const nodeJson = JSON.stringify(shortened(node));
  const statusJson = JSON.stringify(shortened(status));
  const text = `${nodeJson.slice(0, -1)}: ${statusJson.slice(1, -1)}  \\n"`;
  const json =
    `${text}},"_meta":{"node":${nodeJson},"status":${statusJson}}}}}\n`;
  if (json.length <= MAX_KEPT_LENGTH) {
    keptJson[nextKept] = { node, status, json };
    nextKept = (nextKept + 1) % MAX_KEPT;
  }
  return json;
}

export function messageLine(
  sessionId: string,
  { by, messageId, text }: Said,
): string {
  const content = { type: "text", text };
  const update = { sessionUpdate: `${by}_message_chunk`, messageId, content };
  return formatMessage({
    method: "session/update",
    params: { sessionId, update },
  });
}

/** A notice to the user, which is not part of the conversation. */
export function noticeLine(
  sessionId: string,
  severity: "info" | "warning",
  words: string,
): string {
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const update = { sessionUpdate: "notice", severity, title };
  return formatMessage({
    method: "session/update",
    params: { sessionId, update },
  });
}

function shortened(label: string): string {
  return label.length <= MAX_LABEL_LENGTH
    ? label
    : label.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}
