import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  AGENTS_LIST_RESULT,
  INITIALIZE_RESULT,
  offersToReadFiles,
  parseSessionId,
  progressLines,
  replyUpdate,
} from "../../../lib/bridge/acp.ts";
import { RpcError } from "../../../lib/bridge/json_rpc.ts";
import { VERSION } from "../../../lib/version.ts";
import {
  notificationViolations,
  resultViolations,
} from "../../support/editor.ts";

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
      promptCapabilities: { embeddedContext: true },
      sessionCapabilities: { close: {}, resume: {} },
    },
    authMethods: [],
  });
  assertEquals(resultViolations("initialize", INITIALIZE_RESULT), "");
});

Deno.test("AGENTS_LIST_RESULT holds the single agent (interface 4.2)", () => {
  assertEquals(AGENTS_LIST_RESULT, {
    agents: [{
      id: "the-brain",
      name: "the-brain",
      title: "The Brain",
      description: "The remote agent that this client sends every prompt to",
    }],
  });
});

Deno.test("parseSessionId() takes any string, and says what else it got", () => {
  assertEquals(parseSessionId({ sessionId: "" }), "");
  const refused = (params: unknown) => {
    const error = assertThrows(() => parseSessionId(params), RpcError);
    assertEquals(error.code, -32602);
    return error.message;
  };
  for (const params of [undefined, null, [], "s"]) {
    assertEquals(refused(params), "Invalid params: params is not an object");
  }
  for (const params of [{}, { sessionId: 1 }]) {
    assertEquals(refused(params), "Invalid params: sessionId is not a string");
  }
});

const NO_OFFERS: readonly unknown[] = [
  ...[false, "true", undefined].map((readTextFile) => ({
    clientCapabilities: { fs: { readTextFile } },
  })),
  { clientCapabilities: { fs: { writeTextFile: true } } },
  ...[true, null].map((fs) => ({ clientCapabilities: { fs } })),
  { clientCapabilities: null },
  { fs: { readTextFile: true } },
  ...[{}, null, undefined],
];
Deno.test("offersToReadFiles() is true only for clientCapabilities.fs.readTextFile: true", () => {
  const offer = { clientCapabilities: { fs: { readTextFile: true } } };
  assertEquals(offersToReadFiles(offer), true);
  for (const params of NO_OFFERS) {
    assertEquals(offersToReadFiles(params), false, JSON.stringify(params));
  }
});

Deno.test("progressLines() and replyUpdate() are updates of the protocol (interface 6)", () => {
  const target = { sessionId: "s", messageId: "m" };
  const event = { type: "progress", node: "plan", status: "done" } as const;
  const line = progressLines(target)(event);
  const updates = [JSON.parse(line), replyUpdate(target, "Done.")];
  const method = "session/update";
  const update = (sessionUpdate: string, text: string, more = {}) => ({
    sessionId: "s",
    update: {
      sessionUpdate,
      messageId: "m",
      content: { type: "text", text },
      ...more,
    },
  });
  const _meta = { node: "plan", status: "done" };
  const params = [
    update("agent_thought_chunk", "plan: done\n", { _meta }),
    update("agent_message_chunk", "Done."),
  ];
  assertEquals(updates, [
    { jsonrpc: "2.0", method, params: params[0] },
    { method, params: params[1] },
  ]);
  assert(line.endsWith("}\n"));
  for (const each of params) {
    assertEquals(notificationViolations(method, each), "");
  }
});

Deno.test("progressLines() cuts a node or status to a million characters, and none of them in two", () => {
  const target = { sessionId: "s", messageId: "m" };
  const rest = "x".repeat(999_999);
  const [node, status] = [`${rest}🙂`, `${rest}yz`];
  const event = { type: "progress", node, status } as const;
  const text = progressLines(target)(event);
  const _meta = { node: `${rest}\ufffd`, status: `${rest}y` };
  assert(text.endsWith(`"_meta":${JSON.stringify(_meta)}}}}\n`));
});
