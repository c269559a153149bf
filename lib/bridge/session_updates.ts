import { pauseSentence, type TurnEvent } from "../gateway.ts";
import type { ClientFeatures } from "./capabilities.ts";
import type { Redacted } from "../text.ts";

/** The `update` of a `session/update`. */
export interface SessionUpdate {
  readonly sessionUpdate: string;
  readonly content?: { readonly type: string; readonly text: string };
  readonly [member: string]: unknown;
}

export interface Said {
  readonly by: "user" | "agent";
  readonly messageId: string;
  readonly text: string;
}

/**
 * The updates that show an event of a prompt: one for each that users see.
 *
 * @param ids The ids of the messages that the prompt is answered with.
 */
export function updatesFor(
  event: TurnEvent,
  ids: Readonly<Record<"thoughts" | "reply", string>>,
  { showsNotices }: ClientFeatures,
): readonly SessionUpdate[] {
  switch (event.type) {
    case "run":
      return [];
    case "wait": {
      const { reason, milliseconds } = event;
      const pause = notice("info", pauseSentence(reason, milliseconds));
      return showsNotices ? [pause] : [];
    }
    case "progress": {
      const { node, status } = event;
      // V8 keeps what a template joins in pieces, and `JSON.stringify()` takes twice as
      // long for an object with one such text: 0.6 us more.
      const text = [node, ": ", status, "  \n"].join("");
      return [{
        sessionUpdate: "agent_thought_chunk",
        messageId: ids.thoughts,
        content: { type: "text", text },
        _meta: { node, status },
      }];
    }
    case "reply": {
      const { text, note } = event;
      const reply = message({ by: "agent", messageId: ids.reply, text });
      const isNoted = note !== undefined && showsNotices;
      return isNoted ? [notice("warning", note), reply] : [reply];
    }
    default:
      return event satisfies never;
  }
}

export function message({ by, messageId, text }: Said): SessionUpdate {
  const content = { type: "text", text };
  return { sessionUpdate: `${by}_message_chunk`, messageId, content };
}

/** A notice to the user, which is not part of the conversation. */
export function notice(
  severity: "info" | "warning",
  title: Redacted,
): SessionUpdate {
  return { sessionUpdate: "notice", severity, title };
}
