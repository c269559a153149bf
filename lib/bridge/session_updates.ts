import {
  pauseSentence,
  type ProgressEvent,
  type WaitEvent,
} from "../gateway.ts";
import { plainLine } from "../text.ts";

/** The `update` of a `session/update`. */
export interface SessionUpdate {
  readonly sessionUpdate: string;
  readonly [member: string]: unknown;
}

export interface Said {
  readonly by: "user" | "agent";
  readonly messageId: string;
  readonly text: string;
}

/** The longest title of a session, in characters. */
const MAX_TITLE_LENGTH = 80;

export function thought(
  messageId: string,
  { node, status }: ProgressEvent,
): SessionUpdate {
  return {
    sessionUpdate: "agent_thought_chunk",
    messageId,
    content: { type: "text", text: `${node}: ${status}  \n` },
    _meta: { node, status },
  };
}

export function message({ by, messageId, text }: Said): SessionUpdate {
  const content = { type: "text", text };
  return { sessionUpdate: `${by}_message_chunk`, messageId, content };
}

/** A notice to the user, which is not part of the conversation. */
export function notice(
  severity: "info" | "warning",
  title: string,
): SessionUpdate {
  return { sessionUpdate: "notice", severity, title };
}

export function waitNotice({ reason, milliseconds }: WaitEvent): SessionUpdate {
  return notice("info", pauseSentence(reason, milliseconds));
}

/** The title of a session whose first prompt this is; `undefined` if it has no words. */
export function titleUpdate(prompt: string): SessionUpdate | undefined {
  for (const [line] of prompt.matchAll(/\S.*/g)) {
    const words = plainLine(line).trim();
    if (words === "") continue;
    // A character has at most two code units: the rest of a long line is not looked at.
    const characters = Array.from(words.slice(0, 2 * MAX_TITLE_LENGTH));
    const title = characters.slice(0, MAX_TITLE_LENGTH).join("");
    return { sessionUpdate: "session_info_update", title };
  }
  return undefined;
}
