import type { StreamItem } from "./behaviours.ts";

/** Who wrote a message of a thread. */
export type Author = "user" | "assistant" | "tool";

/** A message of a thread. The text of an assistant that calls a tool is empty. */
export interface Message {
  readonly author: Author;
  readonly text: string;
}

/**
 * How a service built on a common library writes its streams: the messages of a
 * completed run are those of the whole thread, and a run that failed says so.
 */
export interface Dialect {
  readonly messages: keyof typeof MESSAGES;
  readonly failure: keyof typeof FAILURES;
}

/** The words that LangChain has for authors. */
const LANGCHAIN = { user: "human", assistant: "ai", tool: "tool" } as const;

const CLASSES = {
  user: "HumanMessage",
  assistant: "AIMessage",
  tool: "ToolMessage",
} as const;

const GEMINI = { user: "user", assistant: "model", tool: "function" } as const;

/** The forms of a message. */
export const MESSAGES = {
  "OpenAI": ({ author, text }: Message): unknown => ({
    role: author,
    content: text === "" ? null : text,
  }),
  "OpenAI, in parts": ({ author, text }: Message): unknown => ({
    role: author,
    content: [{ type: "output_text", text }],
  }),
  "LangChain": ({ author, text }: Message): unknown => ({
    type: LANGCHAIN[author],
    content: text,
  }),
  "LangChain, as chunks": ({ author, text }: Message): unknown => ({
    type: `${CLASSES[author]}Chunk`,
    content: [{ type: "text", text }],
  }),
  "LangChain, as constructors": ({ author, text }: Message): unknown => ({
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", CLASSES[author]],
    kwargs: { content: text },
  }),
  "LangChain, with data": ({ author, text }: Message): unknown => ({
    type: LANGCHAIN[author],
    data: { content: text },
  }),
  "LangChain, as pairs": ({ author, text }: Message): unknown => [
    LANGCHAIN[author],
    text,
  ],
  "Gemini": ({ author, text }: Message): unknown => ({
    role: GEMINI[author],
    parts: [{ text }],
  }),
} as const;

/** The forms of the last record of a run that failed. */
export const FAILURES = {
  "an event": (words: string): StreamItem => ({
    event: "error",
    detail: words,
  }),
  "an event with an object": (words: string): StreamItem => ({
    event: "run_failed",
    error: { message: words },
  }),
  "a field and an object": (words: string): StreamItem =>
    `event: error\ndata: ${JSON.stringify({ error: "E", message: words })}\n\n`,
  "a field and words": (words: string): StreamItem =>
    `event: run.failed\ndata: ${words}\n\n`,
} as const;

/** The prompts that a service with a dialect knows, apart from those of `think()`. */
export const SAY_NOTHING = "please say nothing";
export const FAIL_IN_A_NODE = "please fail in a node";

/** What a service says about the run of {@linkcode FAIL_IN_A_NODE}. */
export const FAILURE = "node write: no quota is left";

/**
 * The messages that a run adds to its thread, all but the user's.
 *
 * @param reply The agent's reply to the prompt.
 */
export function answersTo(prompt: string, reply: string): readonly Message[] {
  const looked: readonly Message[] = [
    { author: "assistant", text: "" },
    { author: "tool", text: "Nothing was found" },
  ];
  if (prompt === FAIL_IN_A_NODE) return [];
  if (prompt === SAY_NOTHING) return looked;
  return [...looked, { author: "assistant", text: reply }];
}

/** The last record of a run, whose thread consists of these messages. */
export function lastRecord(
  { messages, failure }: Dialect,
  prompt: string,
  thread: readonly Message[],
): StreamItem {
  if (prompt === FAIL_IN_A_NODE) return FAILURES[failure](FAILURE);
  return { event: "complete", messages: thread.map(MESSAGES[messages]) };
}
