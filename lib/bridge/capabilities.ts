/**
 * What the bridge and a client tell each other of what they can: Agent Client
 * Protocol (ACP) version 1 (https://agentclientprotocol.com), with the additions of
 * interface 4.2.
 *
 * @module
 */

import { AGENT_NAME } from "../gateway.ts";
import { isJsonObject } from "../text.ts";
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

export const NO_FEATURES: ClientFeatures = {
  readsFiles: false,
  showsNotices: false,
  takesTitles: false,
  isZed: false,
};

/** The client that sends these params of `initialize`. */
export function clientIn(params: unknown): ClientFeatures {
  if (!isJsonObject(params)) return NO_FEATURES;
  const { protocolVersion, clientInfo, clientCapabilities } = params;
  const { fs, session } = isJsonObject(clientCapabilities)
    ? clientCapabilities
    : {};
  return {
    readsFiles: isJsonObject(fs) && fs.readTextFile === true,
    showsNotices: isJsonObject(session) && isJsonObject(session.notices),
    takesTitles: protocolVersion !== undefined,
    isZed: isJsonObject(clientInfo) && clientInfo.name === "zed",
  };
}
