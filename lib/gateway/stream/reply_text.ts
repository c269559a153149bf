/**
 * Chooses the reply text of a completed run.
 *
 * @module
 */

import { type Fields, fieldsOf, isJsonObject, textIn } from "../../text.ts";

/**
 * The reply for a run that completed without any text (interface 2, "Reply text
 * selection").
 */
export const COMPLETION_NOTICE = "Run completed.";

/** The note to users if there are messages, and none has a text that can be read. */
export const NOT_UNDERSTOOD =
  "the reply was not understood: the messages of the run hold no text that can be read";

/** A reply, and where it was found. */
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

/** Who wrote a message; `undefined` if the message does not say. */
type Author = "assistant" | "user" | "other" | undefined;

/**
 * Authors by the names that services use, in lower case, without a final
 * "message" or "chunk".
 */
const AUTHORS: ReadonlyMap<string, Author> = new Map([
  ["assistant", "assistant"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["response", "assistant"],
  ["user", "user"],
  ["human", "user"],
  ["request", "user"],
  ["system", "other"],
  ["developer", "other"],
  ["tool", "other"],
  ["function", "other"],
]);

/** The fields of a message that may hold its text, in their order. */
const CONTENTS = [
  ...["content", "text", "contentblocks", "blocks", "contents", "items"],
  "parts",
];

/** The fields that libraries put the type of a message's part into. */
const KINDS = ["type", "$type", "kind", "partkind", "blocktype"];

const TEXT_KINDS: ReadonlySet<string> = new Set([
  "text",
  "output_text",
  "textcontent",
]);

/** Where {@linkcode textIn} finds the text of a part, or of a list of parts. */
const PARTS = {
  names: ["text", "content", "parts"],
  separator: "",
  accepts: (fields: Fields) => {
    const kind = KINDS.map((name) => fields.get(name)).find(isString);
    return kind === undefined || TEXT_KINDS.has(kind.toLowerCase());
  },
};

/**
 * Selects the reply of a `complete` event (interface 2). In this order: the
 * explanation, the last text of an assistant, the last text of a message without an
 * author, {@linkcode COMPLETION_NOTICE}. Only messages after the user's last one
 * count, because real services put the whole thread into `messages`.
 *
 * @param payload The event's JSON object.
 */
export function selectReply(
  payload: Readonly<Record<string, unknown>>,
): Reply {
  const fields = fieldsOf(payload);
  const explanation = fieldsOf(fields.get("instructorstate"))
    .get("explanation");
  if (isString(explanation) && !isBlank(explanation)) {
    return { text: explanation, source: { kind: "explanation" } };
  }
  // One message alone is read as a list of one.
  const found = fields.get("messages");
  const messages = found ? [found].flat() : [];
  const count = messages.length;
  const authors = messages.map(authorOf);
  const question = authors.lastIndexOf("user");
  for (const author of ["assistant", undefined] as const) {
    for (let index = count - 1; index > question; index--) {
      if (authors[index] !== author) continue;
      const text = textOf(messages[index]);
      if (text === "") continue;
      const isAssistant = author === "assistant";
      return { text, source: { kind: "message", index, count, isAssistant } };
    }
  }
  const isUnread = count > 0 &&
    messages.every((message) => textOf(message) === "");
  return {
    text: COMPLETION_NOTICE,
    source: isUnread ? { kind: "unread", count } : { kind: "nothing" },
  };
}

function authorOf(message: unknown): Author {
  if (isPair(message)) return authorNamed(message[0]);
  for (const fields of holdersOf(message)) {
    const id = fields.get("id");
    const words = ["role", "type", "kind"].map((name) => fields.get(name))
      .concat(Array.isArray(id) ? id.at(-1) : undefined);
    const author = words.map(authorNamed).find((known) => known !== undefined);
    if (author !== undefined) return author;
  }
  return undefined;
}

/** @param word A role: a word, or an object that holds it (Semantic Kernel). */
function authorNamed(word: unknown): Author {
  const name = isJsonObject(word) ? fieldsOf(word).get("label") : word;
  if (!isString(name) || name.length > 100) return undefined;
  return AUTHORS.get(
    name.toLowerCase().replace(/chunk$/, "").replace(/message$/, ""),
  );
}

/** Whether a message is a pair of its author and its content, such as `["ai", "hi"]`. */
function isPair(message: unknown): message is readonly [string, unknown] {
  return Array.isArray(message) && message.length === 2 && isString(message[0]);
}

/**
 * The objects that may hold a message's fields: LangChain puts them into
 * `kwargs` or `data`.
 */
function holdersOf(message: unknown): readonly Fields[] {
  const fields = fieldsOf(message);
  const inner = [fields.get("kwargs"), fields.get("data")];
  return [fields, ...inner.map(fieldsOf)];
}

/** The text of a message, or its refusal; empty if it has none. */
function textOf(message: unknown): string {
  const holders = holdersOf(message);
  const contents = isString(message)
    ? [message]
    : isPair(message)
    ? [message[1]]
    : holders.flatMap((fields) => CONTENTS.map((name) => fields.get(name)));
  for (const content of contents) {
    const text = textIn(content, PARTS);
    if (!isBlank(text)) return text;
  }
  const refusal = [...holders, ...contents.flat().map(fieldsOf)]
    .map((fields) => fields.get("refusal")).filter(isString).join("");
  return isBlank(refusal) ? "" : refusal;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
