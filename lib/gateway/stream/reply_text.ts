import { isJsonObject, wholeCharacters } from "../../text.ts";
import type { ReplyEvent } from "../turn_event.ts";

export const COMPLETION_NOTICE = "Run completed.";

/** The note to users if the agent has sent messages, and none of them can be read. */
export const NOT_UNDERSTOOD =
  "The run completed, but its reply could not be read. Ask the operator to run agent-gateway --check -p TEXT";

type JsonObject = Readonly<Record<string, unknown>>;

/** A reply without the type of its event. */
export type Reply = Omit<ReplyEvent, "type">;

/** The roles and types of messages: those of OpenAI, the AI SDK and LangChain. */
const ASSISTANTS = ["assistant", "ai", "AIMessage", "AIMessageChunk", "model"];
const USERS = ["user", "human", "HumanMessage"];

/** Messages of these are neither the agent's nor the user's. */
const OTHERS = [
  ...["system", "developer", "tool", "function"],
  ...["SystemMessage", "ToolMessage", "FunctionMessage"],
];

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
  if (explanation !== "") {
    return { text: wholeCharacters(explanation), isNotice: false };
  }

  // One message alone is read as a list of one.
  const messages = found ? [found].flat().map(readMessage) : [];
  const question = messages.findLastIndex(({ author }) =>
    USERS.includes(author ?? "")
  );
  const answers = messages.slice(question + 1);
  const texts = answers.filter(({ text }) => text !== "");
  const reply =
    texts.findLast(({ author }) => ASSISTANTS.includes(author ?? "")) ??
      texts.findLast(({ author }) => author === undefined);
  if (reply !== undefined) {
    return { text: wholeCharacters(reply.text), isNotice: false };
  }

  const fields = fieldsOf(event, [found].flat().at(-1));
  const notice = { text: COMPLETION_NOTICE, isNotice: true, fields };
  const isUnread = answers.some(({ author }) => !OTHERS.includes(author ?? ""));
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

interface Message {
  /** Its role, else its type; `undefined` if it has neither. */
  readonly author: string | undefined;
  /** Its text, else its refusal; empty if it has none that is not blank. */
  readonly text: string;
}

function readMessage(entry: unknown): Message {
  if (!isJsonObject(entry)) {
    return { author: undefined, text: textOrEmpty(entry) };
  }
  const { role, type, content, parts, content_blocks, text, refusal, thought } =
    restored(entry);
  const author = [role, type].find((word) => typeof word === "string");
  if (thought === true || isThought(type)) return { author, text: "" };
  const texts = [content, parts, content_blocks, text, refusal]
    .map((found) => [found].flat().map(partText).join(""));
  return { author, text: texts.find((read) => read.trim() !== "") ?? "" };
}

/** A message that LangChain has stored, as it was before; any other one as it is. */
function restored(message: JsonObject): JsonObject {
  const { type, role, id, kwargs, data } = message;
  if (type === "constructor" && isJsonObject(kwargs)) { // toJSON(), dumpd()
    const name: unknown = [id].flat().at(-1);
    return { ...kwargs, type: name };
  }
  // toDict(), messages_to_dict()
  const isStored = role === undefined && isJsonObject(data);
  return isStored ? { ...data, type } : message;
}

/** Whether a type says that a message is what the model thought. */
function isThought(type: unknown): boolean {
  return typeof type === "string" && /reasoning|thinking|thought/i.test(type);
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return typeof part === "string" ? part : "";
  const isText = TEXT_PARTS.includes(part.type) && part.thought !== true;
  return isText && typeof part.text === "string" ? part.text : "";
}

/** A value, if it is a text that is not blank; else an empty one. */
function textOrEmpty(value: unknown): string {
  return typeof value === "string" && value.trim() !== "" ? value : "";
}
