/**
 * Chooses the reply text of a completed run.
 *
 * @module
 */

import { isJsonObject } from "../json.ts";

/** The reply for a run that completed without any text (interface 2, "Reply text selection"). */
export const COMPLETION_NOTICE = "Run completed.";

/** The values of `role` and `type` that mark an assistant's message. */
const ASSISTANT: ReadonlySet<unknown> = new Set([
  "assistant",
  "ai",
  "AIMessage",
  "AIMessageChunk",
]);

/**
 * Selects the reply text of a `complete` event (interface 2): the explanation,
 * else the last text among an assistant's messages (among all messages, if none
 * is marked as an assistant's), else {@linkcode COMPLETION_NOTICE}.
 *
 * @param payload The event's JSON object.
 */
export function selectReply(
  payload: Readonly<Record<string, unknown>>,
): string {
  const state = payload.instructorState;
  const explanation = isJsonObject(state) ? state.explanation : undefined;
  if (typeof explanation === "string" && !isBlank(explanation)) {
    return explanation;
  }
  const messages = payload.messages;
  if (!Array.isArray(messages)) return COMPLETION_NOTICE;
  const fromAssistant = messages.filter(isFromAssistant);
  return lastText(fromAssistant.length > 0 ? fromAssistant : messages) ??
    COMPLETION_NOTICE;
}

function isFromAssistant(message: unknown): boolean {
  return isJsonObject(message) &&
    (ASSISTANT.has(message.role) || ASSISTANT.has(message.type));
}

function lastText(messages: readonly unknown[]): string | undefined {
  for (const message of messages.toReversed()) {
    const text = messageText(message);
    if (text !== undefined && !isBlank(text)) return text;
  }
  return undefined;
}

function messageText(message: unknown): string | undefined {
  if (typeof message === "string") return message;
  if (!isJsonObject(message)) return undefined;
  const { content, text } = message;
  if (typeof content === "string") return content;
  if (typeof text === "string") return text;
  if (!Array.isArray(content)) return undefined;
  return content.map(partText).join("");
}

function partText(part: unknown): string {
  const isText = isJsonObject(part) && part.type === "text";
  return isText && typeof part.text === "string" ? part.text : "";
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
