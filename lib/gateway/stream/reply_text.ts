import {
  isJsonObject,
  type JsonObject,
  type Unchanged,
  unchanged,
} from "../../text.ts";

export const COMPLETION_NOTICE: Unchanged = unchanged("Run completed.");

/** What a `complete` event says to the user. */
export interface Reply {
  /** Not blank; `undefined` if there is none that can be read. */
  readonly text: Unchanged | undefined;
  /** Without a text, where one may be that cannot be read: messages, names of fields. */
  readonly unread: readonly Unread[];
}

type Unread = readonly [kind: "no text" | "other fields", words: string];

/** The roles and types of messages: those of OpenAI, the AI SDK and LangChain. */
const ASSISTANTS: readonly unknown[] = [
  ...["assistant", "ai", "AIMessage", "AIMessageChunk", "model"],
];
const USERS: readonly unknown[] = ["user", "human", "HumanMessage"];

/** Messages of these are neither the agent's nor the user's. */
const OTHERS: readonly unknown[] = [
  ...["system", "developer", "tool", "function"],
  ...["SystemMessage", "ToolMessage", "FunctionMessage"],
];

/** The types of a message's parts that are text; other parts are never shown. */
const TEXT_PARTS: readonly unknown[] = ["text", "output_text", undefined];

/**
 * Selects the reply of a `complete` event. In this order: the explanation, the last
 * text of an assistant, the last text of a message without role and type. Only messages
 * after the user's last one count, because real services put the whole thread into
 * `messages`.
 */
export function selectReply(event: JsonObject): Reply {
  const { instructorState, messages: found } = event;
  const explanation = isJsonObject(instructorState) &&
    instructorState.explanation;
  if (typeof explanation === "string" && explanation.trim() !== "") {
    return { text: unchanged(explanation), unread: [] };
  }

  // A single message is read as a list of one.
  const messages = found ? [found].flat().map(readMessage) : [];
  const question = messages.findLastIndex(({ author }) =>
    USERS.includes(author)
  );
  const answers = messages.slice(question + 1);
  const texts = answers.filter(({ text }) => text !== "");
  const reply = texts.findLast(({ author }) => ASSISTANTS.includes(author)) ??
    texts.findLast(({ author }) => author === undefined);
  if (reply !== undefined) {
    return { text: unchanged(reply.text), unread: [] };
  }
  const unread: Unread[] = answers
    .filter(({ author, isEmpty }) => !OTHERS.includes(author) && !isEmpty)
    .map(({ entry }) => ["no text", toJson(entry)]);
  const others = Object.keys(event).filter((name) =>
    name !== "event" && name !== "messages" && mayHoldText(event[name])
  );
  if (others.length > 0) unread.push(["other fields", others.join(", ")]);
  return { text: undefined, unread };
}

/** The JSON of a foreign value; empty if it is nested too deep. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "";
  }
}

/** Whether a service may have put the reply into a field. */
function mayHoldText(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  return typeof value === "object" && value !== null &&
    Object.values(value).some(Boolean);
}

interface Message {
  readonly entry: unknown;
  /** Its role, else its type; `undefined` if it has neither. */
  readonly author: unknown;
  /** Its text, else its refusal; empty if it has none that is not blank. */
  readonly text: string;
  /** Whether it says nothing, as one that calls tools does. */
  readonly isEmpty: boolean;
}

function readMessage(entry: unknown): Message {
  const message: JsonObject = isJsonObject(entry)
    ? restored(entry)
    : { content: entry };
  const { role, type, content, parts, content_blocks, text, refusal } = message;
  const author = [role, type].find((word) => typeof word === "string");
  const texts = [content, parts, content_blocks, text, refusal]
    .map((found) => [found].flat().map(partText).join(""));
  const read = texts.find((found) => found.trim() !== "") ?? "";
  const isEmpty = content === null ||
    [content].flat().every((part) =>
      typeof part === "string" && part.trim() === ""
    );
  return { entry, author, text: read, isEmpty };
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

function partText(part: unknown): string {
  if (!isJsonObject(part)) return typeof part === "string" ? part : "";
  const isText = TEXT_PARTS.includes(part.type) && part.thought !== true;
  return isText && typeof part.text === "string" ? part.text : "";
}
