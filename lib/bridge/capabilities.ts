/**
 * The capabilities that the bridge and a client exchange: Agent Client
 * Protocol (ACP) version 1 (https://agentclientprotocol.com), with the additions of
 * interface 4.2.
 *
 * @module
 */

import { AGENT_NAME } from "../gateway.ts";
import { isJsonObject, membersOf } from "../text.ts";
import { VERSION } from "../version.ts";

const NAME = "agent-gateway";

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
  agentInfo: { name: NAME, title: "Agent Gateway", version: VERSION },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { embeddedContext: true },
    sessionCapabilities: { close: {}, resume: {} },
  },
  authMethods: [],
} as const;

export const AGENTS_LIST_RESULT = {
  agents: [{
    id: AGENT_NAME,
    name: AGENT_NAME,
    title: "The Brain",
    description: "The remote agent that this client sends every prompt to",
  }],
} as const;

/** What the bridge knows of the client, from its `initialize`. */
export interface ClientFeatures {
  readonly readsFiles: boolean;
  readonly showsNotices: boolean;
  /** Whether it speaks ACP, and not only the methods of interface 4.2. */
  readonly takesTitles: boolean;
  readonly isZed: boolean;
}

/** The client that sends these params of `initialize`, whatever they are. */
export function clientIn(params: unknown): ClientFeatures {
  const { protocolVersion, clientInfo, clientCapabilities } = membersOf(params);
  const { fs, session } = membersOf(clientCapabilities);
  return {
    readsFiles: membersOf(fs).readTextFile === true,
    showsNotices: isJsonObject(membersOf(session).notices),
    takesTitles: protocolVersion !== undefined,
    isZed: membersOf(clientInfo).name === "zed",
  };
}
