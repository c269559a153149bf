import { isJsonObject } from "../../text.ts";

export const COMPLETION_NOTICE = "Run completed.";

/** The note to users if there are messages, and none has a text that can be read. */
export const NOT_UNDERSTOOD =
  "The run completed, but its reply could not be read. Ask the operator to run agent-gateway --check -p TEXT";

export interface Reply {
  readonly text: string;
  readonly source:
    | { readonly kind: "explanation" }
    /** There is no reply: the text is the notice. */
    | { readonly kind: "nothing" }
    /** There are messages, and none has a text that can be read: the text is the notice. */
    | { readonly kind: "unread"; readonly count: number }
    | {
      readonly kind: "message";
      /** The index of the entry of `messages`, and how many entries there are. */
      readonly index: number;
      readonly count: number;
      readonly isAssistant: boolean;
    };
}

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
export function selectReply(
  { instructorState, messages: found }: Readonly<Record<string, unknown>>,
): Reply {
  const explanation = isJsonObject(instructorState)
    ? textOf(instructorState.explanation)
    : "";
  if (explanation !== "") {
    return { text: explanation, source: { kind: "explanation" } };
  }
  // One message alone is read as a list of one.
  const messages = found ? [found].flat() : [];
  const count = messages.length;
  const authors = messages.map(authorOf);
  const question = authors.findLastIndex((author) =>
    USERS.includes(author ?? "")
  );
  for (const isAssistant of [true, false]) {
    for (let index = count - 1; index > question; index--) {
      const author = authors[index];
      const isWanted = isAssistant
        ? ASSISTANTS.includes(author ?? "")
        : author === undefined;
      const text = isWanted ? messageText(messages[index]) : "";
      if (text === "") continue;
      return { text, source: { kind: "message", index, count, isAssistant } };
    }
  }
  const isUnread = count > 0 &&
    messages.every((message) => messageText(message) === "");
  return {
    text: COMPLETION_NOTICE,
    source: isUnread ? { kind: "unread", count } : { kind: "nothing" },
  };
}

function authorOf(message: unknown): string | undefined {
  const { role, type } = isJsonObject(message) ? message : {};
  return [role, type].find((word) => typeof word === "string");
}

/** The text of a message, else its refusal; empty if it has none that is not blank. */
function messageText(message: unknown): string {
  if (!isJsonObject(message)) return textOf(message);
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

function textOf(value: unknown): string {
  return typeof value === "string" && value.trim() !== "" ? value : "";
}
