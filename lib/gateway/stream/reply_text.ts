/**
 * Chooses the reply text of a completed run.
 *
 * @module
 */

import { isJsonObject } from "../../text.ts";

/**
 * The reply for a run that completed without any text (interface 2, "Reply text
 * selection").
 */
export const COMPLETION_NOTICE = "Run completed.";

/** A reply, and where it was found. */
export interface Reply {
  readonly text: string;
  readonly source:
    | { readonly kind: "explanation" | "notice" }
    | {
      readonly kind: "message";
      /** The index of the entry of `messages`, and how many entries there are. */
      readonly index: number;
      readonly count: number;
      readonly isAssistant: boolean;
    };
}

/** Who wrote a message; `undefined` if it does not say. */
type Author = "assistant" | "user" | "other" | undefined;

/**
 * Authors by the names that services use, in lower case, without a final
 * "message" or "chunk".
 */
const AUTHORS: ReadonlyMap<string, Author> = new Map([
  ["assistant", "assistant"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["user", "user"],
  ["human", "user"],
  ["system", "other"],
  ["developer", "other"],
  ["tool", "other"],
  ["function", "other"],
]);

/** The fields of a message that may hold its text, in their order. */
const TEXT_FIELDS = ["content", "text", "content_blocks", "parts"] as const;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Selects the reply of a `complete` event (interface 2). In this order: the
 * explanation, the last text of an assistant, the last text of a message without an
 * author, {@linkcode COMPLETION_NOTICE}. Only messages after the user's last one
 * count, because real services put the whole thread into `messages`.
 *
 * @param payload The event's JSON object.
 */
export function selectReply(payload: JsonObject): Reply {
  const state = payload.instructorState;
  const explanation = isJsonObject(state) ? state.explanation : undefined;
  if (typeof explanation === "string" && !isBlank(explanation)) {
    return { text: explanation, source: { kind: "explanation" } };
  }
  const messages = Array.isArray(payload.messages) ? payload.messages : [];
  const authors = messages.map(authorOf);
  const start = authors.lastIndexOf("user") + 1;
  for (const author of ["assistant", undefined] as const) {
    for (let index = messages.length - 1; index >= start; index--) {
      if (authors[index] !== author) continue;
      const text = textOf(messages[index]);
      if (text === "") continue;
      const where = { index, count: messages.length };
      const isAssistant = author === "assistant";
      return { text, source: { kind: "message", ...where, isAssistant } };
    }
  }
  return { text: COMPLETION_NOTICE, source: { kind: "notice" } };
}

function authorOf(message: unknown): Author {
  if (isPair(message)) return authorNamed(message[0]);
  for (const { role, type, id } of partsOf(message)) {
    const words = [role, type, Array.isArray(id) ? id.at(-1) : undefined];
    const author = words.map(authorNamed).find((known) => known !== undefined);
    if (author !== undefined) return author;
  }
  return undefined;
}

function authorNamed(word: unknown): Author {
  if (typeof word !== "string" || word.length > 100) return undefined;
  const name = word.toLowerCase().replace(/chunk$/, "").replace(/message$/, "");
  return AUTHORS.get(name);
}

/** Whether a message is a pair of its author and its content, such as `["ai", "hi"]`. */
function isPair(message: unknown): message is readonly [string, unknown] {
  return Array.isArray(message) && message.length === 2 &&
    typeof message[0] === "string";
}

/**
 * The objects that may hold a message's fields: LangChain puts them into
 * `kwargs` or `data`.
 */
function partsOf(message: unknown): readonly JsonObject[] {
  return isJsonObject(message)
    ? [message, message.kwargs, message.data].filter(isJsonObject)
    : [];
}

/** The text of a message; empty if it has none. */
function textOf(message: unknown): string {
  if (typeof message === "string") return isBlank(message) ? "" : message;
  const fields = isPair(message)
    ? [message[1]]
    : partsOf(message).flatMap((part) => TEXT_FIELDS.map((name) => part[name]));
  for (const read of [partText, partRefusal]) {
    for (const field of fields) {
      const parts = Array.isArray(field) ? field : [field];
      const text = parts.map(read).join("");
      if (!isBlank(text)) return text;
    }
  }
  return "";
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isJsonObject(part)) return "";
  const isText = part.type === undefined || part.type === "text" ||
    part.type === "output_text";
  return isText && typeof part.text === "string" ? part.text : "";
}

function partRefusal(part: unknown): string {
  return isJsonObject(part) && typeof part.refusal === "string"
    ? part.refusal
    : "";
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
