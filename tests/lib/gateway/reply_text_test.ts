import { assertEquals } from "@std/assert";
import {
  COMPLETION_NOTICE,
  selectReply,
} from "../../../lib/gateway/reply_text.ts";

const user = { role: "user", content: "question" };

const REPLIES: readonly (readonly [string, Record<string, unknown>, string])[] =
  [
    [
      "the explanation first (interface 2, priority 1)",
      {
        instructorState: { explanation: "E" },
        messages: [{ role: "assistant", content: "M" }],
      },
      "E",
    ],
    [
      "the messages if the explanation is blank (priority 2)",
      { instructorState: { explanation: " \n" }, messages: ["M"] },
      "M",
    ],
    [
      "the messages if the explanation is not a string",
      { instructorState: { explanation: 1 }, messages: ["M"] },
      "M",
    ],
    [
      "the last message of role assistant",
      {
        messages: [
          { role: "assistant", content: "1" },
          { role: "assistant", content: "2" },
          user,
        ],
      },
      "2",
    ],
    [
      "a message of role ai",
      { messages: [{ role: "ai", text: "A" }, user] },
      "A",
    ],
    [
      "a message of type ai",
      { messages: [{ type: "ai", text: "A" }, user] },
      "A",
    ],
    [
      "a message of type AIMessage",
      { messages: [{ type: "AIMessage", content: "A" }, user] },
      "A",
    ],
    [
      "a message of role AIMessageChunk",
      { messages: [{ role: "AIMessageChunk", content: "A" }, user] },
      "A",
    ],
    [
      "the text parts of a message, joined",
      {
        messages: [{
          type: "assistant",
          content: [
            { type: "text", text: "a" },
            { type: "image", text: "no" },
            { type: "text", text: "b" },
          ],
        }],
      },
      "ab",
    ],
    [
      "the last message if none is an assistant's",
      { messages: ["first", { text: "last" }, { tool: true }] },
      "last",
    ],
    [
      "the notice rather than the user's own words",
      { messages: [user, { role: "assistant", content: "" }] },
      COMPLETION_NOTICE,
    ],
    ["the notice if there is nothing (priority 3)", {}, COMPLETION_NOTICE],
    [
      "the notice if messages is not an array",
      { messages: "M", instructorState: null },
      COMPLETION_NOTICE,
    ],
  ];

for (const [what, payload, expected] of REPLIES) {
  Deno.test(`selectReply() selects ${what}`, () => {
    assertEquals(selectReply(payload), expected);
  });
}
