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
  const thoughtId = crypto.randomUUID();
  const messageId = crypto.randomUUID();
  return (event) => {
    switch (event.type) {
      case "progress":
        return progressLine(sessionId, thoughtId, event);
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

function progressLine(
  sessionId: string,
  messageId: string,
  event: ProgressEvent,
): string {
  const node = shortened(event.node);
  const status = shortened(event.status);
  const content = { type: "text", text: `${node}: ${status}  \n` };
  const update = {
    sessionUpdate: "agent_thought_chunk",
    messageId,
    content,
    _meta: { node, status },
  };
  return formatMessage({
    method: "session/update",
    params: { sessionId, update },
  });
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
