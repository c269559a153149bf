import { assertEquals, assertThrows } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  parsePrompt,
  progressUpdate,
  replyUpdate,
} from "../../../lib/bridge/acp.ts";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { VERSION } from "../../../lib/version.ts";
import {
  notificationViolations,
  resultViolations,
} from "../../support/acp_schema.ts";

Deno.test("INITIALIZE_RESULT says what the bridge is and can (interface 3)", () => {
  assertEquals(INITIALIZE_RESULT, {
    protocolVersion: 1,
    serverInfo: { name: "agent-gateway", version: VERSION },
    capabilities: { agents: true },
    agentInfo: {
      name: "agent-gateway",
      title: "Agent Gateway",
      version: VERSION,
    },
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { close: {} },
    },
    authMethods: [],
  });
  assertEquals(resultViolations("initialize", INITIALIZE_RESULT), "");
});

Deno.test("AGENTS_LIST_RESULT holds the single agent (interface 4.2)", () => {
  assertEquals(AGENTS_LIST_RESULT.agents.map(({ id }) => id), ["the-brain"]);
});

/** A value as it can stand in a test's name. */
function short(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, 80);
}

const text = (text: unknown) => ({ type: "text", text });
const resource = (resource: unknown) => ({ type: "resource", resource });
const link = { type: "resource_link", name: "notes", uri: "file:///n.md" };

const PROMPTS: readonly (readonly [prompt: unknown, text: string])[] = [
  ["hello", "hello"],
  [" \n kept as it is \n", " \n kept as it is \n"],
  [[text("hello")], "hello"],
  [[text("one"), text("two"), text("")], "one\ntwo\n"],
  [[text(""), text("two")], "\ntwo"],
  [[text("😀\ud800\0")], "😀\ud800\0"],
  [[{ ...text("a"), annotations: { priority: 1 }, _meta: {} }], "a"],
  [
    [resource({ uri: "file:///a.ts", text: "let a;", mimeType: "text/plain" })],
    '<context uri="file:///a.ts">\nlet a;\n</context>',
  ],
  [
    [resource({ uri: "file:///empty", text: "" })],
    '<context uri="file:///empty">\n\n</context>',
  ],
  [[link], "[notes](file:///n.md)"],
  [
    [
      text("look at"),
      { ...link, mimeType: "text/markdown", size: 3 },
      resource({ uri: "b", text: "c" }),
      text("please"),
    ],
    'look at\n[notes](file:///n.md)\n<context uri="b">\nc\n</context>\nplease',
  ],
];
for (const [prompt, expected] of PROMPTS) {
  Deno.test(`parsePrompt() takes the text out of ${short(prompt)} (interface 4.2)`, () => {
    assertEquals(parsePrompt({ sessionId: "s", prompt }), {
      sessionId: "s",
      text: expected,
      traceHeaders: {},
    });
  });
}

const NOT_TEXT = "the text of a text block is not a string";
const NO_URI = "the resource of a resource block has no uri";
const NO_LINK = "a resource_link block has no name or no uri";
const NO_BLOCK = "a content block is not an object";
const NO_TYPE = "the type of a content block is not a string";
const NO_TEXT = "prompt holds no text";
const NO_PROMPT = "prompt is not a string or an array of content blocks";
const unsupported = (type: string) =>
  `content blocks of type ${type} are not supported`;

const BAD_PROMPTS: readonly (readonly [prompt: unknown, reason: string])[] = [
  ...[undefined, null, 1, true, {}, text("x")]
    .map((prompt) => [prompt, NO_PROMPT] as const),
  ...["", " ", "\n\t\u00a0", [], [text("")], [text(" "), text("\n")]]
    .map((prompt) => [prompt, NO_TEXT] as const),
  ...[undefined, null, 1, "x", [], [text("x")]]
    .map((block) => [[block], NO_BLOCK] as const),
  ...[{}, { type: null }, { type: 1 }, { type: ["text"] }, { text: "x" }]
    .map((block) => [[block], NO_TYPE] as const),
  [[text(undefined)], NOT_TEXT],
  [[text("fine"), text(1)], NOT_TEXT],
  [
    [{ type: "image", data: "", mimeType: "image/png" }],
    unsupported('"image"'),
  ],
  [
    [{ type: "audio", data: "", mimeType: "audio/wav" }],
    unsupported('"audio"'),
  ],
  [[text("x"), { type: "video" }], unsupported('"video"')],
  [[{ type: "Text", text: "x" }], unsupported('"Text"')],
  [[{ type: "v".repeat(101) }], unsupported(`"${"v".repeat(100)}..."`)],
  [
    [resource({ uri: "file:///a.png", blob: "AAAA" })],
    'content blocks of type "resource" without text (blobs) are not supported',
  ],
  [[resource(undefined)], NO_URI],
  [[resource({ text: "x" })], NO_URI],
  [[{ type: "resource_link", name: "notes" }], NO_LINK],
  [[{ type: "resource_link", uri: "file:///n.md" }], NO_LINK],
];
for (const [prompt, reason] of BAD_PROMPTS) {
  Deno.test(`parsePrompt() refuses ${short(prompt)}`, () => {
    const error = assertThrows(
      () => parsePrompt({ sessionId: "s", prompt }),
      RpcError,
    );

    assertEquals(error.code, -32602);
    assertEquals(error.message, `Invalid params: ${reason}`);
  });
}

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

function traceHeaders(_meta: unknown): Readonly<Record<string, string>> {
  return parsePrompt({ sessionId: "s", prompt: "x", _meta }).traceHeaders;
}

const TRACEPARENTS: readonly (readonly [traceparent: unknown, ok: boolean])[] =
  [
    [TRACEPARENT, true],
    [`00-${TRACE_ID}-00f067aa0ba902b7-00`, true],
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01-what-the-future-brings`, true],
    [`00-${TRACE_ID}-00f067aa0ba902b7-01-more`, false],
    [`ff-${TRACE_ID}-00f067aa0ba902b7-01`, false],
    [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE_ID}-${"0".repeat(16)}-01`, false],
    [`00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`, false],
    [`00-${TRACE_ID}-00f067aa0ba902b7`, false],
    [`${TRACEPARENT}\n`, false],
    [`${TRACEPARENT}\r\nx-api-key: y`, false],
    [` ${TRACEPARENT}`, false],
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01-${"x".repeat(500)}`, false],
    ["", false],
    [null, false],
    [[TRACEPARENT], false],
  ];
for (const [traceparent, ok] of TRACEPARENTS) {
  Deno.test(`parsePrompt() ${ok ? "forwards" : "drops"} traceparent ${short(traceparent)}`, () => {
    assertEquals<unknown>(
      traceHeaders({ traceparent }),
      ok ? { traceparent } : {},
    );
  });
}

const TRACESTATES: readonly (readonly [tracestate: unknown, ok: boolean])[] = [
  ["a=1", true],
  ["tenant@system=x y,rojo=00f067aa0ba902b7", true],
  ["a=1 ,\t b=2", true],
  ["a=1,,b=2,", true],
  ["a=1,a=2", false],
  ["a", false],
  ["A=1", false],
  ["a=", false],
  ["a=1=2", false],
  ["a=ü", false],
  ["a=1,\nb=2", false],
  ["a=1\r\nx-api-key: y", false],
  ["a=1,\u00a0b=2", false],
  ["\ufeffa=1", false],
  [",", false],
  ["", false],
  [`a=${"x".repeat(257)}`, false],
  [Array.from({ length: 32 }, (_, i) => `k${i}=1`).join(), true],
  [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(), false],
  [`a=${"x".repeat(250)},b=${"x".repeat(250)},c=${"x".repeat(10)}`, false],
  [1, false],
];
for (const [tracestate, ok] of TRACESTATES) {
  Deno.test(`parsePrompt() ${ok ? "forwards" : "drops"} tracestate ${short(tracestate)}`, () => {
    const headers = traceHeaders({ traceparent: TRACEPARENT, tracestate });

    assertEquals<unknown>(
      headers,
      ok
        ? { traceparent: TRACEPARENT, tracestate }
        : { traceparent: TRACEPARENT },
    );
    new Headers(headers); // a request can hold them
  });
}

for (const meta of [undefined, null, 1, "x", [], { tracestate: "a=1" }]) {
  Deno.test(`parsePrompt() finds no trace context in _meta ${JSON.stringify(meta)}`, () => {
    assertEquals(traceHeaders(meta), {});
  });
}

Deno.test("progressUpdate() and replyUpdate() are updates of the protocol (interface 6)", () => {
  const event = { event: "progress", node: "plan", status: "done" } as const;
  for (
    const update of [progressUpdate("s", event), replyUpdate("s", "Done.")]
  ) {
    if (!("method" in update)) throw new Error("It is no notification");
    assertEquals(notificationViolations(update.method, update.params), "");
  }
});
