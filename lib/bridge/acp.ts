/**
 * The shapes that travel between an editor and the bridge: Agent Client Protocol
 * (ACP) version 1 (https://agentclientprotocol.com), with what interface 4.2
 * adds to it.
 *
 * @module
 */

import { isJsonObject } from "../json.ts";
import {
  ErrorCode,
  formatMessage,
  type Outgoing,
  quote,
  RpcError,
} from "./json_rpc.ts";
import type { ProgressEvent } from "../gateway.ts";
import { VERSION } from "../version.ts";

const NAME = "agent-gateway";
const TITLE = "Agent Gateway";

/**
 * The result of `initialize`. There is one version of the protocol to offer, so
 * it is the same for every version that a client asks for.
 */
export const INITIALIZE_RESULT = {
  protocolVersion: 1,
  serverInfo: { name: NAME, version: VERSION },
  capabilities: { agents: true },
  agentInfo: { name: NAME, title: TITLE, version: VERSION },
  agentCapabilities: {
    loadSession: false,
    promptCapabilities: { image: false, audio: false, embeddedContext: true },
    mcpCapabilities: { http: false, sse: false },
    sessionCapabilities: { close: {} },
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

/** The params of `session/prompt`, checked. */
export interface Prompt {
  readonly sessionId: string;
  /** The text of all blocks. Not blank. */
  readonly text: string;
  /** The headers of W3C trace context; empty if there is none that is well formed. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/**
 * Checks the params of `session/prompt` and takes the text out of them.
 *
 * @throws {RpcError} Invalid params, with what is wrong.
 */
export function parsePrompt(params: unknown): Prompt {
  const sessionId = parseSessionId(params);
  const { prompt, _meta } = params as Readonly<Record<string, unknown>>;
  let text;
  if (typeof prompt === "string") {
    text = prompt;
  } else if (Array.isArray(prompt)) {
    text = prompt.map(blockText).join("\n");
  } else {
    throw invalidParams("prompt is not a string or an array of content blocks");
  }
  if (text.trim() === "") throw invalidParams("prompt holds no text");
  return { sessionId, text, traceHeaders: traceHeaders(_meta) };
}

/**
 * Takes the session id out of a method's params.
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

function blockText(block: unknown): string {
  if (!isJsonObject(block)) {
    throw invalidParams("a content block is not an object");
  }
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") {
        throw invalidParams("the text of a text block is not a string");
      }
      return block.text;
    case "resource":
      return resourceText(block.resource);
    case "resource_link": {
      const { name, uri } = block;
      if (typeof name !== "string" || typeof uri !== "string") {
        throw invalidParams("a resource_link block has no name or no uri");
      }
      return `[${name}](${uri})`;
    }
    default:
      if (typeof block.type !== "string") {
        throw invalidParams("the type of a content block is not a string");
      }
      throw invalidParams(
        `content blocks of type ${quote(block.type)} are not supported`,
      );
  }
}

function resourceText(resource: unknown): string {
  if (!isJsonObject(resource) || typeof resource.uri !== "string") {
    throw invalidParams("the resource of a resource block has no uri");
  }
  if (typeof resource.text !== "string") {
    throw invalidParams(
      'content blocks of type "resource" without text (blobs) are not supported',
    );
  }
  return `<context uri="${resource.uri}">\n${resource.text}\n</context>`;
}

/**
 * The trace context in a request's `_meta` as HTTP headers (W3C Trace Context,
 * sections 3.2 and 3.3). What is not well formed is dropped, as the
 * recommendation asks; `tracestate` never travels without `traceparent`.
 */
function traceHeaders(meta: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(meta)) return {};
  const { traceparent, tracestate } = meta;
  if (typeof traceparent !== "string" || !isTraceparent(traceparent)) return {};
  if (typeof tracestate !== "string" || !isTracestate(tracestate)) {
    return { traceparent };
  }
  return { traceparent, tracestate };
}

function isTraceparent(value: string): boolean {
  const fields =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x21-\x7e]*)?$/
      .exec(value);
  if (fields === null || value.length > 512) return false;
  const [, version = "", traceId = "", parentId = "", more] = fields;
  return version !== "ff" && (version !== "00" || more === undefined) &&
    /[^0]/.test(traceId) && /[^0]/.test(parentId);
}

function isTracestate(value: string): boolean {
  // Not by trim(), which takes off what no header may hold.
  const members = value.split(",")
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ""))
    .filter((member) => member !== "");
  const keys = members.map((member) => member.split("=", 1)[0]);
  return value.length <= 512 && members.length > 0 && members.length <= 32 &&
    new Set(keys).size === keys.length &&
    members.every((member) =>
      /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
        .test(member)
    );
}

function invalidParams(reason: string): RpcError {
  return new RpcError(ErrorCode.invalidParams, `Invalid params: ${reason}`);
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

/** Stands for a text in a template, where nothing else holds it. */
const HOLE = "%";

/**
 * Writes the progress events of a session as lines. What all of them have in
 * common is written once, as they come by the hundred thousand.
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
