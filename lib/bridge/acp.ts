/**
 * The messages between an editor and the bridge: Agent Client Protocol (ACP)
 * version 1 (https://agentclientprotocol.com), with the additions of
 * interface 4.2.
 *
 * @module
 */

import { isJsonObject } from "../json.ts";
import { formatMessage, invalidParams, type Outgoing } from "./json_rpc.ts";
import type { ProgressEvent } from "../gateway.ts";
import { VERSION } from "../version.ts";

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

/**
 * Returns the session id in a method's params.
 *
 * @throws {RpcError} Invalid params, if there is none.
 */
export function parseSessionId(params: unknown): string {
  if (!isJsonObject(params)) throw invalidParams("params is not an object");
  if (typeof params.sessionId !== "string") {
    throw invalidParams("sessionId is not a string");
  }
  return params.sessionId;
}

/** Whether the params of `initialize` offer to read files for the agent. */
export function offersToReadFiles(params: unknown): boolean {
  const capabilities = isJsonObject(params) && params.clientCapabilities;
  const fs = isJsonObject(capabilities) && capabilities.fs;
  return isJsonObject(fs) && fs.readTextFile === true;
}

/** The notification for a progress event of a run. */
export function progressUpdate(
  sessionId: string,
  event: ProgressEvent,
): Outgoing {
  const { node, status } = event;
  return {
    method: "session/update",
    params: {
      sessionId,
      update: {
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text: `${node}: ${status}\n` },
        _meta: { node, status },
      },
    },
  };
}

/** The notification for the reply of a run. */
export function replyUpdate(sessionId: string, text: string): Outgoing {
  return {
    method: "session/update",
    params: {
      sessionId,
      update: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
      },
    },
  };
}

/** A placeholder for a text in a template. It occurs nowhere else in the template. */
const HOLE = "%";

/**
 * Formats the progress events of a session as lines. The part that all of them
 * share is formatted once, because a run can send hundreds of thousands.
 */
export function progressFormatter(
  sessionId: string,
): (event: ProgressEvent) => string {
  const template = progressUpdate(sessionId, {
    event: "progress",
    node: HOLE,
    status: HOLE,
  });
  const [start, colon, newline, meta, end] = formatMessage(template).split(
    HOLE,
  );
  return (event) => {
    const node = inQuotes(event.node);
    const status = inQuotes(event.status);
    return start + node + colon + status + newline + node + meta + status + end;
  };
}

function inQuotes(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
