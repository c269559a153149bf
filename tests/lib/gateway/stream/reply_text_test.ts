import { assertEquals } from "@std/assert";
import { selectReply } from "../../../../lib/gateway/stream/reply_text.ts";
import { testRows } from "../../../support/tables.ts";

/** Messages, and the reply; `-` if there is none that can be read. */
testRows(
  "selectReply() selects {reply} from messages of this kind: {what}",
  "what | messages | reply",
  String.raw`
the last of an assistant                     | [{"role":"user"},{"role":"ai","content":"1"},{"role":"ai","content":"2"}] | 2
the last with text                           | [{"role":"user"},{"role":"ai","content":"1"},{"role":"ai","content":" \n"},{"role":"ai","content":[]}] | 1
what follows the user's last words           | [{"role":"user"},{"role":"ai","content":"old"},{"role":"user"},{"role":"ai","content":"new"}] | new
not the reply of the turn before             | [{"role":"user"},{"role":"ai","content":"old"},{"role":"user","content":"Q"}] | -
not what comes before a user without text    | [{"role":"ai","content":"old"},{"role":"user"}] | -
an assistant's before nobody's               | [{"role":"user"},{"role":"ai","content":"A"},"later"] | A
nobody's if no assistant's has text          | [{"role":"user"},{"role":"ai","content":""},"1","2"] | 2
nobody's of a thread without roles           | ["1",{"text":"2"},{}] | 2
an assistant's of a thread without a user    | [{"role":"ai","content":"A"}] | A
nothing of entries that are none             | [null,1,true,[],{},[[]]] | -
one string in place of a list                | "M" | M
one message in place of a list               | {"role":"ai","content":"A"} | A
nothing of an empty list                     | [] | -
nothing of an empty text                     | [""] | -
OpenAI's chat completions | [{"role":"user","content":"Q"},{"role":"assistant","content":"A","refusal":null}] | A
OpenAI's responses | [{"type":"reasoning","summary":[{"type":"summary_text","text":"no"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}] | A
Anthropic | [{"role":"assistant","content":[{"type":"thinking","thinking":"no","signature":"x"},{"type":"text","text":"A"}]}] | A
Gemini | [{"role":"model","parts":[{"text":"no","thought":true},{"text":"A","thoughtSignature":"x"}]}] | A
AI SDK: ui-messages.ts | [{"id":"1","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"no"},{"type":"text","text":"A","state":"done"}]}] | A
LangChain.js: toDict() in base.ts | [{"type":"human","data":{"content":"Q"}},{"type":"ai","data":{"content":"A","tool_calls":[],"type":"ai"}}] | A
LangChain.js: toJSON() | [{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"A","response_metadata":{}}}] | A
LangChain: dumpd() | [{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":[{"type":"reasoning","reasoning":"no"},{"type":"text","text":"A"}],"type":"ai"}}] | A
LangGraph's platform | [{"content":"Q","type":"human","id":"1"},{"content":"","type":"ai","tool_calls":[{}]},{"content":"no","type":"tool"},{"content":"A","type":"ai"}] | A
Haystack: to_dict() in chat_message.py | [{"role":"assistant","meta":{},"name":null,"content":[{"text":"A"}]}] | A
Pydantic AI: messages.py | [{"kind":"response","parts":[{"content":"no","part_kind":"thinking"},{"content":"A","part_kind":"text"}]}] | -
AutoGen: TextMessage | [{"source":"assistant","type":"TextMessage","content":"A"}] | -
`,
  (row) => {
    const { text = "-" } = selectReply({ messages: JSON.parse(row.messages) });
    assertEquals(text, row.reply);
  },
);

/** Roles and types, and what is selected of `["before", {...author, "content": "A"}]`. */
testRows(
  "selectReply() selects {reply} if {author} follows nobody's message",
  "author | reply",
  `
{"role":"assistant"}                                  | A
{"role":"ai"}                                         | A
{"role":"AIMessage"}                                  | A
{"role":"AIMessageChunk"}                             | A
{"role":"model"}                                      | A
{"type":"assistant"}                                  | A
{"type":"AIMessage"}                                  | A
{"role":"assistant","type":"human"}                   | A
{"type":"message","role":"assistant"}                 | A
{"role":1,"type":"ai"}                                | A
{}                                                    | A
{"role":"user"}                                       | -
{"role":"human"}                                      | -
{"role":"HumanMessage"}                               | -
{"type":"constructor","id":["x","HumanMessage"],"kwargs":{}} | -
{"role":"system"}                                     | before
{"role":"developer"}                                  | before
{"role":"tool"}                                       | before
{"role":"ToolMessage"}                                | before
{"role":"Assistant"}                                  | before
{"role":"message"}                                    | before
{"role":""}                                           | before
{"role":"tool","type":"ai"}                           | before
`,
  ({ author, reply }) => {
    const messages = ["before", { ...JSON.parse(author), content: "A" }];
    assertEquals(selectReply({ messages }).text ?? "-", reply);
  },
);

/** Fields of an assistant's message besides its role, and the text read from them. */
testRows(
  "selectReply() reads {entry} as {text}",
  "entry | text",
  String.raw`
{"content":" A\n"}                                                        | " A\n"
{"text":"A"}                                                              | "A"
{"content":"A","parts":["no"],"text":"no"}                                | "A"
{"content":" ","parts":[{"type":"text","text":"A"}],"text":"no"}          | "A"
{"content":[],"text":"A"}                                                 | "A"
{"content":[],"content_blocks":[{"type":"text","text":"A"}]}              | "A"
{"role":null,"type":"ai","data":{"type":"human","content":["A"]}}         | null
{"data":{"content":"no"}}                                                 | null
{"content":[{"type":"output_text","text":"A"}]}                           | "A"
{"content":[{"text":"a"},{"type":"image","text":"no"},"b",{"text":"c"}]}  | "abc"
{"content":[{"type":"reasoning","text":"no"},{"text":"A"}]}               | "A"
{"content":[{"type":"thinking","text":"no"},{"text":"A"}]}                | "A"
{"content":[{"thought":true,"text":"no"},{"text":"A"}]}                   | "A"
{"content":{"type":"text","text":"A"}}                                    | "A"
{"content":[{"type":"text","text":1},2,null,["no"]]}                      | null
{"content":null,"refusal":"No"}                                           | "No"
{"content":"A","refusal":"no"}                                            | "A"
{"content":null,"refusal":" "}                                            | null
{"Content":"no","speech":"no"}                                            | null
`,
  ({ entry, text }) => {
    const messages = [{ role: "ai", ...JSON.parse(entry) }];
    assertEquals<unknown>(
      selectReply({ messages }).text ?? null,
      JSON.parse(text),
    );
  },
);

/** What `complete` has, what is selected, and what may have been the reply. */
testRows(
  "selectReply() of {event} selects {reply}, and cannot read this: {unread} (interface 2)",
  "event | reply | unread",
  String.raw`
{"instructorState":{"explanation":"E"},"messages":["M"]}                         | E     |
{"instructorState":{"explanation":" \n"},"messages":["M"]}                       | M     |
{"instructorState":{"explanation":1},"messages":["M"]}                           | M     |
{"instructorState":{},"messages":["M"]}                                          | M     |
{"instructorState":null,"messages":["M"]}                                        | M     |
{"instructorState":["E"],"messages":["M"]}                                       | M     |
{"messages":[{"type":"ai","data":{"type":"human","content":["A"]}}]}             | A     |
{"messages":[{"type":"chat","data":{"role":"assistant","content":"A"}}]}         | A     |
{"messages":[{"type":"human","data":{"content":"no"}}]}                          | -     |
{"messages":[{"type":"constructor","id":["x","AIMessage"],"kwargs":{"type":"human","content":"A"}}]} | A |
{}                                                                               | -     |
{"messages":[{"role":"ai","speech":"A"}]}                                        | -     | {"role":"ai","speech":"A"}
{"messages":[{"role":"ai","content":""},{"role":"ai","content":[]},"",{"role":"ai","content":null,"tool_calls":[1]}]} | - |
{"messages":[{"type":"ai","data":{"content":""}},1]}                             | -     | 1
{"messages":{"speech":"A"}}                                                      | -     | {"speech":"A"}
{"messages":[{"role":"ai","content":[{"type":"tool_use"}]}]}                     | -     | {"role":"ai","content":[{"type":"tool_use"}]}
{"messages":[{"type":"bot","content":"A"}]}                                      | -     | {"type":"bot","content":"A"}
{"messages":[{"role":"ai","content":[1]},{"role":"user"}]}                       | -     |
{"messages":[{"role":"tool","content":"A"},{"type":"system"}]}                   | -     |
{"messages":[{"kind":"response","parts":[{"content":"A"}]}]}                     | -     | {"kind":"response","parts":[{"content":"A"}]}
{"messages":[],"output":"A","data":{"text":"A"},"run":["A"]}                     | -     | output, data, run
{"output":" ","data":{"text":""},"run":[],"tokens":1,"last":true,"x":null}       | -     |
{"instructorState":{"explanation":1}}                                            | -     | instructorState
{"instructorState":{"explanation":null}}                                         | -     |
`,
  (row) => {
    const event = { event: "complete", ...JSON.parse(row.event) };
    const { text = "-", unread } = selectReply(event);
    assertEquals(text, row.reply);
    assertEquals(unread.map(([, words]) => words).join("; "), row.unread);
  },
);
