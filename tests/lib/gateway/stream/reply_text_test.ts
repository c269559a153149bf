import { assertEquals } from "@std/assert";
import { selectReply } from "../../../../lib/gateway/stream/reply_text.ts";
import { unchanged } from "../../../../lib/text.ts";

const user = { role: "user", content: "question" };
const ai = (content: unknown) => ({ role: "assistant", content });
const OLD = [user, ai("old")];

/** The messages, and the reply (the notice if there is none). */
type Case = readonly [messages: unknown, reply?: string];

const MESSAGES: Readonly<Record<string, Case>> = {
  "the last of an assistant": [[user, ai("1"), ai("2")], "2"],
  "the last with text": [[user, ai("1"), ai(""), ai(" \n"), ai([])], "1"],
  "what follows the user's last words": [[...OLD, user, ai("new")], "new"],
  "not the reply of the turn before": [[...OLD, user]],
  "not what comes before a user without text": [[ai("old"), { role: "user" }]],
  "an assistant's before nobody's": [[user, ai("A"), "later"], "A"],
  "nobody's if no assistant's has text": [[user, ai(""), "1", "2"], "2"],
  "nobody's of a thread without roles": [["1", { text: "2" }, {}], "2"],
  "an assistant's of a thread without a user": [[ai("A")], "A"],
  "nothing of entries that are none": [[null, 1, true, [], {}, [[]]]],
  "one string in place of a list": ["M", "M"],
  "one message in place of a list": [ai("A"), "A"],
  "nothing of an empty list": [[]],
  "nothing of an empty text": [""],
  "nothing without messages": [undefined],
};

for (const [what, [messages, reply]] of Object.entries(MESSAGES)) {
  Deno.test(`selectReply() selects ${what}`, () => {
    assertEquals(selectReply({ messages }).text, reply);
  });
}

/** Roles and types, and what is selected of a list of one before it and one by it. */
const AUTHORS: readonly (readonly [author: object, reply?: string])[] = [
  ...["assistant", "ai", "AIMessage", "AIMessageChunk", "model"]
    .flatMap((name) => [{ role: name }, { type: name }])
    .map((author) => [author, "A"] as const),
  [{ role: "assistant", type: "human" }, "A"],
  [{ type: "message", role: "assistant" }, "A"],
  [{ role: 1, type: "ai" }, "A"],
  [{}, "A"],
  ...["user", "human", "HumanMessage"].map((role) => [{ role }] as const),
  [
    { type: "constructor", id: ["langchain", "HumanMessage"], kwargs: {} },
  ],
  ...["system", "developer", "tool", "ToolMessage", "Assistant", "message", ""]
    .map((role) => [{ role }, "before"] as const),
  [{ role: "tool", type: "ai" }, "before"],
];

for (const [author, reply] of AUTHORS) {
  Deno.test(`selectReply() selects ${JSON.stringify(reply)} before and by ${JSON.stringify(author)}`, () => {
    const messages = ["before", { ...author, content: "A" }];
    assertEquals(selectReply({ messages }).text, reply);
  });
}

const image = { type: "image", text: "no" };
const thoughts = [
  ...["reasoning", "thinking", "redacted_thinking", "reasoning_content"]
    .map((type) => ({ type, text: "no", [type]: "no" })),
  { thought: true, text: "no" },
];
const lc = { lc: 1, type: "constructor", id: ["langchain_core", "AIMessage"] };
const stored = (type: string, data: object) => ({
  role: undefined,
  type,
  data,
});

const TEXTS: readonly (readonly [entry: object, text: string | undefined])[] = [
  [{ content: " A\n" }, " A\n"],
  [{ text: "A" }, "A"],
  [{ content: "A", parts: ["no"], text: "no" }, "A"],
  [{ content: " ", parts: [{ type: "text", text: "A" }], text: "no" }, "A"],
  [{ content: [], text: "A" }, "A"],
  [{ content: [], content_blocks: [{ type: "text", text: "A" }] }, "A"],
  [stored("ai", { type: "human", content: ["A"] }), "A"],
  [stored("chat", { role: "assistant", content: "A" }), "A"],
  [stored("human", { content: "no" }), undefined],
  [{ ...lc, role: undefined, kwargs: { type: "human", content: "A" } }, "A"],
  [{ role: "ai", data: { content: "no" } }, undefined],
  [{ content: [{ type: "output_text", text: "A" }] }, "A"],
  [{ content: [{ text: "a" }, image, ...thoughts, "b", { text: "c" }] }, "abc"],
  [{ content: { type: "text", text: "A" } }, "A"],
  [{ content: [{ type: "text", text: 1 }, 2, null, ["no"]] }, undefined],
  [{ content: null, refusal: "No" }, "No"],
  [{ content: "A", refusal: "no" }, "A"],
  [{ content: null, refusal: " " }, undefined],
  [{ Content: "no", speech: "no" }, undefined],
];

for (const [entry, expected] of TEXTS) {
  Deno.test(`selectReply() reads ${JSON.stringify(entry)} as ${JSON.stringify(expected)}`, () => {
    const { text } = selectReply({ messages: [{ role: "ai", ...entry }] });
    assertEquals(text, expected);
  });
}

const lcId = ["langchain_core", "messages", "AIMessage"];

/** Messages as these libraries and APIs write them, and what is read of each. */
// deno-fmt-ignore: a table, one source a line
const SOURCES: readonly (readonly [source: string, text: string | undefined, ...messages: unknown[]])[] = [
  ["OpenAI's chat completions", "A", { role: "user", content: "Q" }, { role: "assistant", content: "A", refusal: null }],
  ["OpenAI's responses", "A", { type: "reasoning", summary: [{ type: "summary_text", text: "no" }] }, { type: "message", role: "assistant", content: [{ type: "output_text", text: "A" }] }],
  ["Anthropic", "A", { role: "assistant", content: [{ type: "thinking", thinking: "no", signature: "x" }, { type: "text", text: "A" }] }],
  ["Gemini", "A", { role: "model", parts: [{ text: "no", thought: true }, { text: "A", thoughtSignature: "x" }] }],
  ["AI SDK: ui-messages.ts", "A", { id: "1", role: "assistant", parts: [{ type: "step-start" }, { type: "reasoning", text: "no" }, { type: "text", text: "A", state: "done" }] }],
  ["LangChain.js: toDict() in base.ts", "A", { type: "human", data: { content: "Q" } }, { type: "ai", data: { content: "A", tool_calls: [], type: "ai" } }],
  ["LangChain.js: toJSON()", "A", { lc: 1, type: "constructor", id: lcId, kwargs: { content: "A", response_metadata: {} } }],
  ["LangChain: dumpd()", "A", { lc: 1, type: "constructor", id: lcId, kwargs: { content: [{ type: "reasoning", reasoning: "no" }, { type: "text", text: "A" }], type: "ai" } }],
  ["LangGraph's platform", "A", { content: "Q", type: "human", id: "1" }, { content: "", type: "ai", tool_calls: [{}] }, { content: "no", type: "tool" }, { content: "A", type: "ai" }],
  ["Haystack: to_dict() in chat_message.py", "A", { role: "assistant", meta: {}, name: null, content: [{ text: "A" }] }],
  ["Pydantic AI: messages.py", undefined, { kind: "response", parts: [{ content: "no", part_kind: "thinking" }, { content: "A", part_kind: "text" }] }],
  ["AutoGen: TextMessage", undefined, { source: "assistant", type: "TextMessage", content: "A" }],
];

for (const [source, text, ...messages] of SOURCES) {
  const expected = text === undefined ? "says that it cannot read" : "reads";
  Deno.test(`selectReply() ${expected} messages of ${source}`, () => {
    const reply = selectReply({ messages });
    const isTold = reply.unread.length > 0;
    assertEquals<unknown>([reply.text, isTold], [text, text === undefined]);
  });
}

/** Payloads without a reply, and what of them could not be read. */
const UNREAD: readonly (readonly [payload: object, ...unread: string[]])[] = [
  [{ messages: [{ role: "ai", speech: "A" }] }, '{"role":"ai","speech":"A"}'],
  [{ messages: [user, ai(""), ai([]), "", { ...ai(null), tool_calls: [1] }] }],
  [{ messages: [user, stored("ai", { content: "" }), 1] }, "1"],
  [{ messages: { speech: "A" } }, '{"speech":"A"}'],
  [
    { messages: [user, ai([{ type: "tool_use" }])] },
    '{"role":"assistant","content":[{"type":"tool_use"}]}',
  ],
  [
    { messages: [user, { type: "bot", content: "A" }] },
    '{"type":"bot","content":"A"}',
  ],
  [{ messages: [...OLD, user] }],
  [{ messages: [user, { role: "tool", content: "A" }, { type: "system" }] }],
  [{ messages: [] }],
  [
    { messages: [], output: "A", data: { text: "A" }, run: ["A"] },
    "output, data, run",
  ],
  [{
    output: " ",
    data: { text: "" },
    run: [],
    tokens: 1,
    last: true,
    x: null,
  }],
  [{ instructorState: { explanation: 1 } }, "instructorState"],
  [{ instructorState: { explanation: null } }],
];

for (const [payload, ...unread] of UNREAD) {
  Deno.test(`selectReply() of ${JSON.stringify(payload)} cannot read ${unread.join(" and ") || "nothing"}`, () => {
    const reply = selectReply({ event: "complete", ...payload });
    assertEquals(reply.text, undefined);
    assertEquals(reply.unread.map(([, words]) => words), unread);
  });
}

const STATES: readonly (readonly [payload: object, reply: string])[] = [
  [{ instructorState: { explanation: "E" } }, "E"],
  ...[{ explanation: " \n" }, { explanation: 1 }, {}, null, ["E"]]
    .map((instructorState) => [{ instructorState }, "M"] as const),
];

for (const [payload, text] of STATES) {
  Deno.test(`selectReply() selects ${text} with ${JSON.stringify(payload)} (interface 2)`, () => {
    const reply = selectReply({ ...payload, messages: ["M"] });
    assertEquals(reply, { text: unchanged(text), unread: [] });
  });
}
