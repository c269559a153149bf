import { assertEquals, assertObjectMatch } from "@std/assert";
import {
  COMPLETION_NOTICE,
  selectReply,
} from "../../../../lib/gateway/stream/reply_text.ts";

const user = { role: "user", content: "question" };
const ai = (content: unknown) => ({ role: "assistant", content });
const OLD = [user, ai("old")];

/** The messages, the reply (the notice if there is none), and the index of its entry. */
type Case = readonly [messages: unknown, reply?: string, index?: number];

const MESSAGES: Readonly<Record<string, Case>> = {
  "the last of an assistant": [[user, ai("1"), ai("2")], "2", 2],
  "the last with text": [[user, ai("1"), ai(""), ai(" \n"), ai([])], "1", 1],
  "what follows the user's last words": [[...OLD, user, ai("new")], "new", 3],
  "not the reply of the turn before": [[...OLD, user]],
  "not the reply of the turn before in place of one without text": [
    [...OLD, user, ai([{ type: "tool_use" }])],
  ],
  "not what comes before a user without text": [[ai("old"), { role: "user" }]],
  "an assistant's before nobody's": [[user, ai("A"), "later"], "A", 1],
  "nobody's if no assistant's has text": [[user, ai(""), "1", "2"], "2", 3],
  "nobody's of a thread without roles": [["1", { text: "2" }, {}], "2", 1],
  "never the user's own words": [[user]],
  "an assistant's of a thread without a user": [[ai("A")], "A", 0],
  "nothing of entries that are none": [[null, 1, true, [], {}, [[]]]],
  "one string in place of a list": ["M", "M", 0],
  "one message in place of a list": [ai("A"), "A", 0],
  "nothing of an empty list": [[]],
  "nothing of an empty text": [""],
  "nothing without messages": [undefined],
};

for (const [what, [messages, reply, index]] of Object.entries(MESSAGES)) {
  Deno.test(`selectReply() selects ${what}`, () => {
    const { text, source } = selectReply({ messages });
    assertEquals(text, reply ?? COMPLETION_NOTICE);
    assertEquals("index" in source ? source.index : undefined, index);
  });
}

const constructed = (name: string) => ({
  ...{ lc: 1, type: "constructor", id: ["langchain_core", "messages", name] },
  kwargs: { content: "A" },
});

const AUTHORS: Readonly<Record<string, readonly unknown[]>> = {
  "an assistant's": [
    { role: "assistant", content: "A" },
    { role: "ai", content: "A" },
    { role: "model", parts: [{ text: "A" }] },
    { type: "ai", content: "A" },
    { type: "AIMessage", content: "A" },
    { role: "AIMessageChunk", content: "A" },
    { role: "assistant", type: "human", content: "A" },
    { role: "bot", type: "assistant", content: "A" },
    { type: "message", role: "assistant", content: "A" },
    constructed("AIMessage"),
    constructed("AIMessageChunk"),
    { kwargs: { role: "assistant", content: "A" } },
    { type: "ai", data: { content: "A" } },
    { data: { type: "ai", content: "A" } },
    ["ai", "A"],
    ["assistant", [{ type: "text", text: "A" }]],
    { Role: "Assistant", Content: "A" },
    { Role: { Label: "Assistant" }, Items: [{ Text: "A" }] },
    { kind: "response", parts: [{ content: "A", part_kind: "text" }] },
  ],
  "nobody's": [
    "A",
    { text: "A" },
    { type: "message", content: "A" },
    { role: "critic", content: "A" },
    { role: `${"x".repeat(99)}ai`, content: "A" },
    constructed("CriticMessage"),
    ["critic", "A"],
  ],
  "neither": [
    { role: "system", content: "A" },
    { role: "developer", content: "A" },
    { role: "tool", content: "A" },
    { role: "function", content: "A" },
    { type: "ToolMessage", content: "A" },
    { type: "SystemMessageChunk", content: "A" },
    constructed("ToolMessage"),
    ["system", "A"],
  ],
  "the user's": [
    { role: "user", content: "A" },
    { type: "human", data: { content: "A" } },
    { type: "HumanMessageChunk", content: "A" },
    constructed("HumanMessage"),
    ["human", "A"],
    { kind: "request", parts: [{ content: "A" }] },
  ],
};

const SELECTED: Readonly<Record<string, object>> = {
  "an assistant's": { text: "A", index: 1, isAssistant: true },
  "nobody's": { text: "A", index: 1, isAssistant: false },
  "neither": { text: "before", index: 0, isAssistant: false },
  "the user's": { text: COMPLETION_NOTICE },
};

for (const [author, entries] of Object.entries(AUTHORS)) {
  for (const entry of entries) {
    Deno.test(`selectReply() takes ${JSON.stringify(entry)} for ${author}`, () => {
      const { text, source } = selectReply({ messages: ["before", entry] });
      assertObjectMatch({ text, ...source }, { ...SELECTED[author] });
    });
  }
}

const image = { type: "image", text: "no" };
const thought = { type: "reasoning", text: "no" };

const TEXTS: readonly (readonly [entry: object, text: string | undefined])[] = [
  [{ content: " A\n" }, " A\n"],
  [{ text: "A" }, "A"],
  [{ content: "A", text: "no" }, "A"],
  [{ content: " ", text: "A" }, "A"],
  [{ content: [], content_blocks: [{ type: "text", text: "A" }] }, "A"],
  [{ parts: [{ type: "step-start" }, { type: "text", text: "A" }] }, "A"],
  [{ content: [{ type: "output_text", text: "A" }] }, "A"],
  [{ content: [{ text: "a" }, image, thought, { text: "b" }] }, "ab"],
  [{ content: ["a", "b", { text: "c" }] }, "abc"],
  [{ content: { type: "text", text: "A" } }, "A"],
  [{ content: [{ type: "refusal", refusal: "No" }] }, "No"],
  [{ content: [{ refusal: "no" }], text: "A" }, "A"],
  [{ content: [{ type: "text", text: 1 }, 2, null] }, undefined],
  [{ content: { text: " " } }, undefined],
  [{ Content: "A" }, "A"],
  [{ ContentBlocks: [{ Type: "TEXT", Text: "A" }] }, "A"],
  [{ content: [], blocks: [{ block_type: "text", text: "A" }] }, "A"],
  [{ blocks: [{ block_type: "thinking", content: "no" }] }, undefined],
  [{ contents: [{ $type: "reasoning", text: "no" }] }, undefined],
  [{ contents: [{ $type: "text", text: "A" }] }, "A"],
  [{ items: [{ $type: "TextContent", Text: "A" }, { Uri: "no" }] }, "A"],
  [
    { parts: [{ part_kind: "thinking", content: "no" }, { content: "A" }] },
    "A",
  ],
  [{ parts: [{ kind: "tool-call", content: "no" }] }, undefined],
  [{ content: { format: 2, parts: [{ type: "text", text: "A" }] } }, "A"],
  [{ content: null, refusal: "No" }, "No"],
  [{ content: "A", refusal: "no" }, "A"],
  [{ content: null, refusal: " " }, undefined],
];

for (const [entry, expected = COMPLETION_NOTICE] of TEXTS) {
  Deno.test(`selectReply() reads ${JSON.stringify(entry)} as ${JSON.stringify(expected)}`, () => {
    const { text } = selectReply({ messages: [{ role: "ai", ...entry }] });
    assertEquals(text, expected);
  });
}

/** Payloads without a reply: whether that is because nothing could be read. */
const UNREAD: readonly (readonly [messages: unknown, isUnread: boolean])[] = [
  [[{ role: "ai", speech: "A" }], true],
  [[{ role: "ai", content: [{ type: "audio" }] }, null], true],
  [{ speech: "A" }, true],
  [[user, { role: "ai", content: [{ type: "tool_use" }] }], false],
  [[user], false],
  [[], false],
];

for (const [messages, isUnread] of UNREAD) {
  Deno.test(`selectReply() says that ${JSON.stringify(messages)} ${isUnread ? "was not understood" : "holds no reply"}`, () => {
    const { source, text } = selectReply({ messages });
    assertEquals(text, COMPLETION_NOTICE);
    assertEquals(source.kind, isUnread ? "unread" : "nothing");
  });
}

const STATES: readonly (readonly [payload: object, kind: string])[] = [
  [{ instructorState: { explanation: "E" } }, "explanation"],
  [{ instructor_state: { explanation: "E" } }, "explanation"],
  [{ InstructorState: { Explanation: "E" } }, "explanation"],
  ...[{ explanation: " \n" }, { explanation: 1 }, {}, null, ["E"]]
    .map((instructorState) => [{ instructorState }, "message"] as const),
];

for (const [payload, kind] of STATES) {
  Deno.test(`selectReply() selects the ${kind} with ${JSON.stringify(payload)} (interface 2)`, () => {
    const reply = selectReply({ ...payload, Messages: ["M"] });
    const text = kind === "explanation" ? "E" : "M";
    assertEquals([reply.source.kind, reply.text], [kind, text]);
  });
}
