import { isJsonObject } from "../../text.ts";
import type { ReplyEvent } from "../turn_event.ts";

export const COMPLETION_NOTICE = "Run completed.";

/** The note to users if there are messages, and none has a text that can be read. */
export const NOT_UNDERSTOOD =
  "The run completed, but its reply could not be read. Ask the operator to run agent-gateway --check -p TEXT";

type JsonObject = Readonly<Record<string, unknown>>;

/** A reply without the type of its event. */
export type Reply = Omit<ReplyEvent, "type">;

/** The roles and types of messages: those of OpenAI, the AI SDK and LangChain. */
const ASSISTANTS = ["assistant", "ai", "AIMessage", "AIMessageChunk", "model"];
const USERS = ["user", "human", "HumanMessage"];

/** The types of a message's parts that are text; other parts are never shown. */
const TEXT_PARTS: readonly unknown[] = ["text", "output_text", undefined];

/**
 * Selects the reply of a `complete` event. In this order: the explanation, the last
 * text of an assistant, the last text of a message without role and type,
 * {@linkcode COMPLETION_NOTICE}. Only messages after the user's last one count,
 * because real services put the whole thread into `messages`.
 */
export function selectReply(event: JsonObject): Reply {
  const { instructorState, messages: found } = event;
  const explanation = isJsonObject(instructorState)
    ? textOrEmpty(instructorState.explanation)
    : "";
  if (explanation !== "") return { text: explanation, isNotice: false };

  // One message alone is read as a list of one.
  const messages = found ? [found].flat() : [];
  const authors = messages.map(authorOf);
  const texts = messages.map(messageText);
  const question = authors.findLastIndex((author) =>
    USERS.includes(author ?? "")
  );
  const candidates = texts
    .map((text, index) => ({ text, author: authors[index] }))
    .slice(question + 1)
    .filter(({ text }) => text !== "");
  const reply =
    candidates.findLast(({ author }) => ASSISTANTS.includes(author ?? "")) ??
      candidates.findLast(({ author }) => author === undefined);
  if (reply !== undefined) return { text: reply.text, isNotice: false };

  const fields = fieldsOf(event, messages.at(-1));
  const notice = { text: COMPLETION_NOTICE, isNotice: true, fields };
  const isUnread = texts.length > 0 && texts.every((text) => text === "");
  return isUnread ? { ...notice, note: NOT_UNDERSTOOD } : notice;
}

/** The names of an event's fields, and of those of its last message. */
function fieldsOf(event: JsonObject, lastMessage: unknown): string {
  const names = Object.keys(event).filter((name) => name !== "event");
  if (isJsonObject(lastMessage)) {
    const ofMessage = Object.keys(lastMessage).join(", ");
    names.push(`in the last message: ${ofMessage}`);
  }
  return names.join(", ");
}

function authorOf(message: unknown): string | undefined {
  const { role, type } = isJsonObject(message) ? message : {};
  return [role, type].find((word) => typeof word === "string");
}

/** The text of a message, else its refusal; empty if it has none that is not blank. */
function messageText(message: unknown): string {
  if (!isJsonObject(message)) return textOrEmpty(message);
  const { content, parts, text, refusal } = message;
  for (const found of [content, parts, text, refusal]) {
    const read = [found].flat().map(partText).join("");
    if (read.trim() !== "") return read;
  }
  return "";
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return typeof part === "string" ? part : "";
  const isText = TEXT_PARTS.includes(part.type);
  return isText && typeof part.text === "string" ? part.text : "";
}

/** A value, if it is a text that is not blank; else an empty one. */
function textOrEmpty(value: unknown): string {
  return typeof value === "string" && value.trim() !== "" ? value : "";
}
