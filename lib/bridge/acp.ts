/**
 * The messages between an editor and the bridge: Agent Client Protocol (ACP)
 * version 1 (https://agentclientprotocol.com), with the additions of
 * interface 4.2.
 *
 * @module
 */

import type { ProgressEvent } from "../gateway.ts";
import { isJsonObject } from "../text.ts";
import { VERSION } from "../version.ts";
import { formatMessage, invalidParams } from "./json_rpc.ts";
import type { Said } from "./transcripts.ts";

const NAME = "agent-gateway";
const TITLE = "Agent Gateway";

/**
 * The result of `initialize`. The bridge supports one protocol version, so the
 * result is the same for every version that a client asks for. Capabilities that
 * the bridge lacks are left out: some clients take a member that is `false` for
 * an offer.
 */
export const INITIALIZE_RESULT = {
  protocolVersion: 1,
  serverInfo: { name: NAME, version: VERSION },
  capabilities: { agents: true },
  agentInfo: { name: NAME, title: TITLE, version: VERSION },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { embeddedContext: true },
    sessionCapabilities: { close: {}, resume: {} },
  },
  authMethods: [],
} as const;

/** The result of `agents/list`: the single agent of the service. */
export const AGENTS_LIST_RESULT = {
  agents: [{
    id: "the-brain",
    name: "the-brain",
    title: "The Brain",
    description: "The remote agent that this client sends every prompt to",
  }],
} as const;

/** Why a prompt's turn ended. */
export type StopReason = "end_turn" | "cancelled";

/** The session id in a method's params, if there is one. */
export function sessionIdOf(params: unknown): string | undefined {
  return isJsonObject(params) && typeof params.sessionId === "string"
    ? params.sessionId
    : undefined;
}

/**
 * Returns the session id in a method's params.
 *
 * @throws {RpcError} Invalid params, if there is none.
 */
export function parseSessionId(params: unknown): string {
  const id = sessionIdOf(params);
  if (id === undefined) throw invalidParams("sessionId is not a string");
  return id;
}

/** Whether the params of `initialize` offer to read files for the agent. */
export function offersToReadFiles(params: unknown): boolean {
  const capabilities = isJsonObject(params) && params.clientCapabilities;
  const fs = isJsonObject(capabilities) && capabilities.fs;
  return isJsonObject(fs) && fs.readTextFile === true;
}

/**
 * The longest node or status that is sent, in UTF-16 code units: each is sent
 * twice, and the official client library takes no line of more than 32 MiB.
 */
const MAX_LABEL_LENGTH = 1_000_000;

/**
 * A function that formats the notifications for the progress events of a prompt.
 *
 * @param messageId The id of the message that they continue.
 */
export function progressLines(
  sessionId: string,
  messageId: string,
): (event: ProgressEvent) => string {
  const json = JSON.stringify;
  const start =
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${
      json(sessionId)
    },"update":{"sessionUpdate":"agent_thought_chunk","messageId":${
      json(messageId)
    },"content":{"type":"text","text":`;
  return (event) => start + progressJson(event);
}

/** How many events are kept. */
const MAX_KEPT = 16;

/** The longest JSON that is kept, in UTF-16 code units. */
const MAX_KEPT_LENGTH = 1000;

/**
 * The last events with their JSON: nodes and statuses repeat, in a run and from one
 * run to the next.
 */
const keptJson: { node: string; status: string; json: string }[] = [];
let nextKept = 0;

/** The part of an event's line that is the same in all sessions. */
function progressJson({ node, status }: ProgressEvent): string {
  for (const kept of keptJson) {
    if (kept.status === status && kept.node === node) return kept.json;
  }
  // JSON.stringify() of the whole line takes four times as long.
  const nodeJson = JSON.stringify(shortened(node));
  const statusJson = JSON.stringify(shortened(status));
  const text = `${nodeJson.slice(0, -1)}: ${statusJson.slice(1, -1)}  \\n"`;
  const json =
    `${text}},"_meta":{"node":${nodeJson},"status":${statusJson}}}}}\n`;
  if (json.length <= MAX_KEPT_LENGTH) {
    keptJson[nextKept] = { node, status, json };
    nextKept = (nextKept + 1) % MAX_KEPT;
  }
  return json;
}

/** Formats the notification for a whole message of the user or the agent. */
export function messageLine(
  sessionId: string,
  { by, messageId, text }: Said,
): string {
  const content = { type: "text", text };
  const update = { sessionUpdate: `${by}_message_chunk`, messageId, content };
  return formatMessage({
    method: "session/update",
    params: { sessionId, update },
  });
}

function shortened(label: string): string {
  return label.length <= MAX_LABEL_LENGTH
    ? label
    : label.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}
